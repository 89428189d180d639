"""The changes of files since a git revision, in tokens."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Callable

from .files import ChosenFiles, Selection
from .git_base import Base, has_content, read_blobs
from .measure import Counted
from .results import Change
from .rules import Configuration


class Comparison:
    """The tokens that files had in a revision.

    Args:
        configuration: the configuration.
        base: the files of the revision.
        count: returns the tokens of a content by an encoding; None if it is no text.
    """

    def __init__(
        self,
        configuration: Configuration,
        base: Base,
        count: Callable[[str | None, bytes], int | None],
    ) -> None:
        self._configuration = configuration
        self._base = base
        self._count = count

    def before(self, counted: Counted, chosen: ChosenFiles) -> dict[str | None, dict[str, int]]:
        """Return the tokens that each file had, by encoding and by its path now.

        Args:
            counted: the tokens that each file has.
            chosen: the files.
        """
        before: dict[str | None, dict[str, int]] = {}
        for encoding, tokens in counted.items():
            known = before.setdefault(encoding, {})
            changed: dict[str, str] = {}
            for path in tokens:
                blob = self._base.blobs.get(self._path_before(path))
                if blob is None:
                    continue
                if has_content(chosen.found[path].path, blob):
                    known[path] = tokens[path]
                else:
                    changed[path] = blob
            known.update(self._tokens(encoding, changed))
        return before

    def changes(
        self, counted: Counted, before: Counted, chosen: ChosenFiles, selection: Selection
    ) -> list[Change]:
        """Return the files that were added, removed, renamed or changed in tokens, by path."""
        found: dict[str, Change] = {}
        for encoding, tokens in counted.items():
            for path, after in tokens.items():
                if path in found or path not in selection:
                    continue
                old = before[encoding].get(path)
                path_before = "" if old is None else self._path_before(path)
                if path_before != path or old != after:
                    found[path] = Change(path, path_before, old or 0, after, encoding or "")
        for change in self._removed(chosen, selection):
            found.setdefault(change.before_path, change)
        return [found[path] for path in sorted(found)]

    def _removed(self, chosen: ChosenFiles, selection: Selection) -> Iterable[Change]:
        # A file that was renamed to what no rule is about is gone like any other.
        renamed = {before for path, before in self._base.renamed.items() if path in chosen.found}
        gone = [
            path
            for path in self._base.blobs
            if path not in chosen.found and path not in renamed and path in selection
            # It may be there, and be ignored or a link now.
            if not os.path.lexists(os.path.join(self._configuration.folder, path))
        ]
        for rule in self._configuration.rules:
            blobs = {path: self._base.blobs[path] for path in rule.chosen(gone)}
            for path, tokens in self._tokens(rule.encoding, blobs).items():
                yield Change("", path, tokens, 0, rule.encoding or "")

    def _tokens(self, encoding: str | None, blobs: Mapping[str, str]) -> dict[str, int]:
        contents = read_blobs(self._configuration.folder, blobs.values())
        counted = {path: self._count(encoding, contents[blob]) for path, blob in blobs.items()}
        return {path: tokens for path, tokens in counted.items() if tokens is not None}

    def _path_before(self, path: str) -> str:
        return self._base.renamed.get(path, path)
