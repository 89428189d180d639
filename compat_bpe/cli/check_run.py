"""One run of ``compat-bpe check``: from a configuration to a report."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace

from .. import Encoding
from ..check.changes import Comparison
from ..check.files import ChosenFiles, Selection, chosen_files, groups_to_count
from ..check.git_base import GitError, read_base
from ..check.measure import Measurement, SectionCounts, unmatched
from ..check.results import Report
from ..check.rules import Configuration, Part
from ..check.source import top_of_repository
from ..encodings.resolve import Answer
from ..files.documents import NotebookError, is_notebook, notebook_source
from ..files.text import check_beginning, read_text
from .counting import FileCounter, count_files
from .input import reason_of
from .options.encoding import loaded
from .output import CommandError, failure
from .progress import FileProgress


class CheckRun:
    """A run of the command.

    Args:
        given: what counts for rules that do not say it: what the command line names, or the
            default.
        pattern: the pattern of its file.
        jobs: the largest number of processes; None for as many as can run at the same time.
        note: writes a note.
        is_quiet: write no notes, and draw no progress bar.
        ignore: leave out what is ignored.
        allow_empty: only note the rules and paths of which nothing is checked.
        notebooks: count only the sources of notebooks.
    """

    def __init__(
        self,
        given: Answer,
        pattern: str | None,
        jobs: int | None,
        note: Callable[[str], None],
        *,
        is_quiet: bool,
        ignore: bool,
        allow_empty: bool,
        notebooks: bool,
    ) -> None:
        self._notebooks = notebooks
        self._given = given
        self._pattern = pattern
        self._encodings: dict[Answer | None, Encoding] = {}
        self._jobs = jobs
        self._note = note
        self._is_quiet = is_quiet
        self._ignore = ignore
        self._allow_empty = allow_empty

    def report(
        self,
        configuration: Configuration,
        paths: Sequence[str] = (),
        base: str | None = None,
        growth: Part | None = None,
    ) -> Report:
        """Return the report of a configuration.

        Args:
            configuration: the configuration.
            paths: the paths that are asked for; none of them means all.
            base: the git revision to compare with.
            growth: the most by which files may grow, whatever the configuration says.

        Raises:
            CommandError: a path or the revision does not exist.
            ConfigurationError: there are too many files.
        """
        if growth is not None:
            rules = tuple(replace(rule, growth=growth) for rule in configuration.rules)
            configuration = replace(configuration, rules=rules)
        try:
            selection = Selection(configuration.folder, paths)
        except (OSError, ValueError) as error:
            name = getattr(error, "filename", None) or ", ".join(paths)
            reason = reason_of(error, name) if isinstance(error, OSError) else str(error)
            raise CommandError(f"{name}: {reason}") from None
        chosen = chosen_files(configuration, selection.named, ignore=self._ignore)
        report = Report(shown_path(configuration.path), _prefix(configuration.folder))
        wanted = groups_to_count(configuration.rules, chosen, selection)
        counted = {
            answer: self.tokens(chosen, group, answer, report) for answer, group in wanted.items()
        }
        answers = [self._given if one is None else one for one in wanted]
        report.notes = list(dict.fromkeys(one.note for one in answers if one.note))
        report.files = len(set().union(*counted.values()))
        before = None
        if base is not None:
            try:
                found = read_base(configuration.folder, base)
                comparison = Comparison(
                    configuration, found, self._count_bytes, chosen, self._name_of
                )
                before = comparison.before(counted)
                report.changes = comparison.changes(counted, before, selection)
            except GitError as error:
                raise CommandError(f"--base: {error}") from None
            report.base = found.revision
        measurement = Measurement(
            report,
            chosen,
            selection,
            counted,
            SectionCounts(
                self._count,
                lambda path: self._text(chosen.found[path].path),
            ),
            name_of=self._name_of,
            note_of=lambda by: self._answer(by).note,
            before=before,
        )
        for rule, group in zip(configuration.rules, chosen.by_rule):
            measurement.add(rule, group)
        report.unmatched = [*unmatched(configuration, chosen, selection, counted, report)]
        self._note_unused(configuration, chosen, report)
        return report

    def tokens(
        self, chosen: ChosenFiles, paths: Sequence[str], by: Answer | None, report: Report
    ) -> Mapping[str, int]:
        """Return the tokens of some files, and note in the report those that are not counted."""
        counter = FileCounter(self.encoding(by), notebooks=self._notebooks)
        files = [chosen.found[path] for path in paths]
        size = sum(file.size or 0 for file in files)
        tokens: dict[str, int] = {}
        with (
            FileProgress(len(files), size, is_quiet=self._is_quiet) as progress,
            closing(count_files(counter, files, self._jobs, progress)) as outcomes,
        ):
            for path, outcome in zip(paths, outcomes):
                if outcome.counts is not None:
                    (number,) = outcome.counts.tokens
                    tokens[path] = self._answer(by).tokens(number)
                    if outcome.note and not self._is_quiet:
                        progress.clear()
                        self._note(f"{path}: {outcome.note}")
                    continue
                # The name of an option of other commands would mislead.
                noted = (path, outcome.reason.partition("; ")[0])
                noted_in = report.skipped if outcome.is_binary else report.errors
                if noted not in noted_in:
                    noted_in.append(noted)
        return tokens

    def encoding(self, by: Answer | None = None) -> Encoding:
        """Return the encoding that counts, loaded at its first use.

        Raises:
            CommandError: it cannot be loaded.
        """
        if by not in self._encodings:
            pattern = self._pattern if by is None else None
            self._encodings[by] = loaded(self._answer(by), pattern)
        return self._encodings[by]

    def _answer(self, by: Answer | None) -> Answer:
        return self._given if by is None else by

    def _name_of(self, by: Answer | None) -> str:
        answer = self._answer(by)
        return answer.model if answer.note and answer.model else self.encoding(by).name

    def _count(self, by: Answer | None, text: str) -> int:
        return self._answer(by).tokens(self.encoding(by).count(text))

    def _count_bytes(self, by: Answer | None, data: bytes, notebook: bool) -> int | None:
        try:
            check_beginning(data)
            text = data.decode()
            return self._count(by, self._source(text) if notebook else text)
        except ValueError:
            return None

    def _source(self, text: str) -> str:
        """Return the sources of a notebook if these are counted; else the text as it is."""
        if self._notebooks:
            with suppress(NotebookError):
                return notebook_source(text)
        return text

    def _text(self, path: str) -> str:
        try:
            text, _ = read_text(path)
        except (OSError, ValueError) as error:  # it changed after it was counted
            raise failure(error, path) from None
        return self._source(text) if is_notebook(path) else text

    def _note_unused(
        self, configuration: Configuration, chosen: ChosenFiles, report: Report
    ) -> None:
        """Note the exemptions that no file needs, and what is unmatched if that is allowed."""
        notes = []
        if self._allow_empty:
            notes += [f"{shown_path(one.name)}: {one.reason}" for one in report.unmatched]
            report.unmatched = []
        places = [configuration.exemptions[one].place for one in chosen.unused]
        notes += [
            f"{shown_path(place.file)}:{place.line}: the exemption matches no file"
            for place in places
        ]
        for note in notes * (not self._is_quiet):
            self._note(note)


def shown_path(path: str) -> str:
    """Return a path relative to the current directory, if it is in it."""
    here = os.path.join(os.getcwd(), "")
    return path[len(here) :] if path.startswith(here) else path


def _prefix(folder: str) -> str:
    """Return what is before the paths in a folder to make them paths of its repository."""
    folder = os.path.realpath(folder)
    top = top_of_repository(folder)
    if top is None or top == folder:
        return ""
    return os.path.relpath(folder, top).replace(os.sep, "/") + "/"
