"""Counts as a tree of directories, each with the sum of its files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ..files.text import STDIN, parts_of_path
from .sorting import Counted, more_files

#: The lines drawn before an entry and before the last one, and before the entries within these.
LINES = ("├── ", "└── ", "│   ", "    ")
_ASCII = ("|-- ", "`-- ", "|   ", "    ")


class _Node:
    """A directory or a file, shown as ``name``."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tokens = 0
        # The number of files in it, and of those that are shown; a file counts itself.
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
        """Return the shown entries: empty directories, too, and one for all that are not shown."""
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
    depth: int | None = None,
) -> Iterator[tuple[int, str]]:
    """Yield the tokens and the text of each line of the trees of some paths.

    Args:
        paths: the paths on the command line.
        counted: the files in them.
        shown: the files that get a line; the others are summed up in their directories.
        by_tokens: put the largest first; else entries come in the order of ``counted``.
        ascii_only: draw the tree with ASCII.
        depth: the number of levels below each path that are shown; None for all.
    """
    entry, last_entry, within, within_last = _ASCII if ascii_only else LINES
    # The nodes still to be written, the next one last, each with the text before it, the text
    # before its entries, and its level. Directories may be nested deeper than calls can be.
    waiting = [(node, "", "", 0) for node in _top(paths, counted, shown).entries(by_tokens)[::-1]]
    while waiting:
        node, before, before_entries, level = waiting.pop()
        yield node.tokens, before + node.name
        if level == depth:
            continue
        entries = [
            (child, before_entries + entry, before_entries + within, level + 1)
            for child in node.entries(by_tokens)
        ]
        if entries:
            last = entries[-1][0]
            entries[-1] = (
                *(last, before_entries + last_entry, before_entries + within_last),
                level + 1,
            )
        waiting += entries[::-1]


def _top(paths: Sequence[str], counted: Sequence[Counted], shown: Sequence[Counted]) -> _Node:
    """Return a node with the paths on the command line in it."""
    top = _Node("")
    for argument, path in enumerate(paths):
        if path != STDIN and os.path.isdir(path):
            top.child(str(argument), os.path.join(path, ""))
    shown_ids = set(map(id, shown))
    for one in counted:
        file, is_shown = one.found, id(one) in shown_ids
        node = top.child(str(file.argument), file.root)
        node.count(one.counts.tokens, is_shown)
        below = file.path[len(os.path.join(file.root, "")) :]
        parts = parts_of_path(below) if below else []
        for depth, part in enumerate(parts, 1):
            name = part if depth == len(parts) else os.path.join(part, "")
            node = node.child(part, name)
            node.count(one.counts.tokens, is_shown)
    return top
