"""Counts as a tree of directories, each with the sum of what is in it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ..files.text import STDIN
from .sorting import Counted, more_files

#: What stands before an entry and before the last one, and what before the entries in these.
LINES = ("├── ", "└── ", "│   ", "    ")
_ASCII = ("|-- ", "`-- ", "|   ", "    ")


class _Node:
    """A directory or a file, shown as ``name``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tokens = 0
        # Files in it, and how many of them are shown; a file is one itself.
        self.files = 0
        self.shown = 0
        self.children: dict[str, _Node] = {}

    def count(self, tokens: int, is_shown: bool) -> None:
        self.tokens += tokens
        self.files += 1
        self.shown += is_shown

    def child(self, key: str, name: str) -> _Node:
        return self.children.setdefault(key, _Node(name))

    def entries(self, by_tokens: bool) -> list[_Node]:
        """What is shown in it: a directory without files, too, and a line for all that is not."""
        shown = [child for child in self.children.values() if child.shown or not child.files]
        if by_tokens:
            shown.sort(key=lambda child: -child.tokens)
        hidden = [child for child in self.children.values() if child.files and not child.shown]
        if hidden:
            rest = _Node(more_files(sum(child.files for child in hidden)))
            rest.tokens = sum(child.tokens for child in hidden)
            shown.append(rest)
        return shown


def tree_lines(
    paths: Sequence[str],
    counted: Sequence[Counted],
    shown: Sequence[Counted],
    *,
    by_tokens: bool,
    ascii_only: bool,
) -> Iterator[tuple[int, str]]:
    """The tokens and the text of each line of the trees of some paths.

    Args:
        paths: what was named on the command line.
        counted: the files in them.
        shown: those of the files that get a line; the others are summed up in their directories.
        by_tokens: whether the largest come first; else they come in the order of ``counted``.
        ascii_only: whether the lines between them are drawn with ASCII.
    """
    entry, last_entry, within, within_last = _ASCII if ascii_only else LINES
    # What is still to be written, the next one last: a node and what stands before it, and before
    # what is in it. Directories may be nested deeper than calls can be.
    waiting = [(node, "", "") for node in _top(paths, counted, shown).entries(by_tokens)[::-1]]
    while waiting:
        node, before, before_entries = waiting.pop()
        yield node.tokens, before + node.name
        entries = [
            (child, before_entries + entry, before_entries + within)
            for child in node.entries(by_tokens)
        ]
        if entries:
            last = entries[-1][0]
            entries[-1] = (last, before_entries + last_entry, before_entries + within_last)
        waiting += entries[::-1]


def _top(paths: Sequence[str], counted: Sequence[Counted], shown: Sequence[Counted]) -> _Node:
    """A node with the path named on the command line in it."""
    top = _Node("")
    for argument, path in enumerate(paths):
        if path != STDIN and os.path.isdir(path):
            top.child(str(argument), os.path.join(path, ""))
    shown_ids = set(map(id, shown))
    for one in counted:
        found, is_shown = one.found, id(one) in shown_ids
        node = top.child(str(found.argument), found.root)
        node.count(one.counts.tokens, is_shown)
        below = found.path[len(os.path.join(found.root, "")) :]
        parts = below.split(os.sep) if below else []
        for depth, part in enumerate(parts, 1):
            name = part if depth == len(parts) else os.path.join(part, "")
            node = node.child(part, name)
            node.count(one.counts.tokens, is_shown)
    return top
