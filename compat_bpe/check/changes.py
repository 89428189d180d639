"""The changes of files since a git revision, in tokens."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Callable

from ..encodings.resolve import Answer
from ..files.documents import is_notebook
from ..files.walk import Found
from .git_base import Base, content_id, has_content, read_blobs
from .measure import FileTokens
from .results import Change
from .rules import ChosenFiles, Configuration, Selection


@dataclass
class Comparison:
    """The tokens that files had in a revision.

    Args:
        configuration: the configuration.
        base: the files of the revision.
        count: returns the tokens of a content, or None if it is not text; called with the encoding
            or estimate, the content, and True if it is a notebook.
        chosen: the present files.
        name_of: returns the name of the encoding or estimate, in reports.
    """

    configuration: Configuration
    base: Base
    count: Callable[[Answer | None, bytes, bool], int | None]
    chosen: ChosenFiles
    name_of: Callable[[Answer | None], str]

    def __post_init__(self) -> None:
        base, found = self.base, self.chosen.found
        self._gone = [
            path
            for path in base.blobs
            if path not in found
            # The path may exist, but be ignored or a link now.
            and not os.path.lexists(os.path.join(self.configuration.folder, path))
        ]
        #: The path in the base of each file, by its path now, if these differ.
        self._renamed = {
            **_moved(base, found, {*self._gone} - {*base.renamed.values()}),
            **base.renamed,
        }

    def before(self, counted: FileTokens) -> dict[Answer | None, dict[str, int]]:
        """Return the tokens that each file had, by encoding or estimate and by its path now.

        Args:
            counted: the tokens that each file has.
        """
        before: dict[Answer | None, dict[str, int]] = {}
        for answer, tokens in counted.items():
            known = before.setdefault(answer, {})
            changed: dict[str, str] = {}
            for path in tokens:
                blob = self.base.blobs.get(self._path_before(path))
                if blob is None:
                    continue
                if has_content(self.chosen.found[path].path, blob):
                    known[path] = tokens[path]
                else:
                    changed[path] = blob
            known.update(self._tokens(answer, changed))
        return before

    def changes(
        self, counted: FileTokens, before: FileTokens, selection: Selection
    ) -> list[Change]:
        """Return the files that were added, removed, renamed or changed in tokens, by path."""
        found: dict[str, Change] = {}
        for answer, tokens in counted.items():
            for path, after in tokens.items():
                if path in found or path not in selection or not self.base.has_history(path):
                    continue
                if os.path.islink(self.chosen.found[path].path):
                    continue  # a named link: the revision has its target's path, not its content
                old = before[answer].get(path)
                path_before = "" if old is None else self._path_before(path)
                if path_before != path or old != after:
                    name = self.name_of(answer)
                    found[path] = Change(path, path_before, old or 0, after, name)
        for change in self._removed(selection):
            found.setdefault(change.before_path, change)
        return [found[path] for path in sorted(found)]

    def _removed(self, selection: Selection) -> Iterable[Change]:
        # A file that was renamed to a path without a rule is gone like any other.
        found = self.chosen.found
        renamed = {before for path, before in self._renamed.items() if path in found}
        gone = [path for path in self._gone if path not in renamed and path in selection]
        for rule in self.configuration.rules:
            blobs = {path: self.base.blobs[path] for path in rule.chosen(gone)}
            for path, tokens in self._tokens(rule.counted_by, blobs).items():
                yield Change("", path, tokens, 0, self.name_of(rule.counted_by))

    def _tokens(self, answer: Answer | None, blobs: Mapping[str, str]) -> dict[str, int]:
        named: dict[str, set[bool]] = {}
        for path, blob in blobs.items():
            named.setdefault(blob, set()).add(is_notebook(path))
        counted = {
            (blob, notebook): self.count(answer, content, notebook)
            for blob, content in read_blobs(self.configuration.folder, blobs)
            for notebook in named[blob]
        }
        tokens = {path: counted[blob, is_notebook(path)] for path, blob in blobs.items()}
        return {path: number for path, number in tokens.items() if number is not None}

    def _path_before(self, path: str) -> str:
        return self._renamed.get(path, path)


def _moved(base: Base, found: Mapping[str, Found], gone: Iterable[str]) -> dict[str, str]:
    """Return the path in the base of each new file that has the content of a removed file.

    Git does not know these renames yet. If several removed files have the content, one of the same
    name is taken, or else the first.
    """
    by_content: dict[str, list[str]] = {}
    for path in sorted(gone):
        by_content.setdefault(base.blobs[path], []).append(path)
    moved = {}
    if by_content:
        length = len(next(iter(by_content)))
        for path in sorted(found):
            is_new = path not in base.blobs and path not in base.renamed
            if not (is_new and found[path].size and base.has_history(path)):
                continue
            paths = by_content.get(content_id(found[path].path, length) or "")
            if paths:
                name = posixpath.basename(path)
                moved[path] = min(paths, key=lambda one: (posixpath.basename(one) != name, one))
                paths.remove(moved[path])
    return moved
