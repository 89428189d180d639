"""``compat-bpe check``: files and their budgets of tokens."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ... import Encoding
from ...check.changes import Comparison
from ...check.configuration import Counting, configuration_of
from ...check.for_people import annotation
from ...check.git_base import GitError, read_base
from ...check.measure import Measurement, SectionCounts
from ...check.results import Report, highest_over
from ...check.rules import (
    ChosenFiles,
    Configuration,
    Part,
    Selection,
    chosen_files,
    groups_to_count,
)
from ...check.source import (
    NAME,
    PYPROJECT,
    ConfigurationError,
    Source,
    find_configuration,
    read_source,
    top_of_repository,
)
from ...check.written import first_configuration, other_rules, raise_limits, usual_rules
from ...encodings.published import all_encoding_names
from ...encodings.resolve import Answer
from ...files.documents import NotebookError, is_notebook, notebook_source
from ...files.text import check_beginning, read_text
from ...files.write import write_files
from ..app import JOBS, NO_CACHE, GroupedCommand, check_together, given_options, option
from ..counting import FileCounter, count_files
from ..input import no_ignore_option, notebooks_option, paths_argument, reason_of
from ..options.encoding import NamedEncoding, TokenNumber, estimate_option, loaded
from ..output import CommandError, command_errors, failure, plural, write_line, write_message
from ..progress import FileProgress

if TYPE_CHECKING:
    from ...corpus.count_cache import CountCache

#: The formats, each with the module that writes it.
_FORMATS = {
    **dict.fromkeys(("table", "github", "markdown"), "for_people"),
    **dict.fromkeys(("json", "sarif", "junit"), "for_programs"),
}

_GROUPS = {
    "Encoding": ["--model", "--encoding", "--pattern", "--estimate"],
    "Configuration": ["--config", "--init", "--fix-limits"],
    "Files": ["--no-ignore", "--allow-empty", "--notebooks"],
    "Comparison": ["--base", "--growth"],
    "Output": ["--format", "--json", "--all", "--quiet"],
}

_SHARE = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,6})?)%")


def _part(value: str) -> Part:
    share = _SHARE.fullmatch(value)
    if share is not None:
        return Part(None, float(share[1]) / 100)
    try:
        return Part(TokenNumber(min=0).convert(value, None, None), None)
    except click.BadParameter:
        raise click.BadParameter(
            f"{value!r} is not a number of tokens, such as 8000 or 128k, or a share such as 10%."
        ) from None


@click.command(cls=GroupedCommand, groups=_GROUPS)
@paths_argument("paths", "[PATH]...", type=click.Path(readable=False))
@estimate_option
@option(
    "--config FILE",
    "Use this configuration instead of the nearest one.",
    type=click.Path(readable=False),
)
@option("--init", f"Write a first {NAME} with limits for the files found. Nothing is overwritten.")
@option(
    "--fix-limits", "In the configuration, raise the limits that are exceeded. None is lowered."
)
@no_ignore_option
@option("--allow-empty", "Allow rules that match nothing, and PATHs to which no rule applies.")
@option(
    "--base REV", "Compare with this git revision: files added, removed, renamed, and their growth."
)
@option(
    "--growth N|P%",
    "With --base, let no file grow by more than N tokens, or by more than P percent.",
    type=_part,
)
@notebooks_option
@option(
    "--format NAME",
    "Print a table (the default), json, github (annotations in Actions), sarif, markdown (for a "
    "comment) or junit.",
    to="format_name",
    type=click.Choice(list(_FORMATS)),
)
@option("--json", "The same as --format json.", to="as_json")
@option("--all", "In the table, also list files and groups within their limits.", to="all_results")
@option("-q --quiet", "Write no notes on standard error.")
@NO_CACHE
@JOBS
def check(**values: Any) -> None:
    """Check the files of a project against its token budgets.

    \b
    Examples:
      $ compat-bpe check --init
      $ compat-bpe check
      $ compat-bpe check docs --all
      $ compat-bpe check --format sarif > budgets.sarif

    The budgets are in [tool.compat-bpe.check] of pyproject.toml, or in [check] of
    .compat-bpe.toml, in the current directory or above it. With PATHs, only these files and
    directories are reported; a group with a total is still counted as a whole.

    The exit status is 1 if a limit is exceeded, and 2 for an error: the configuration is missing
    or invalid, a rule matches nothing, no rule applies to a PATH, or a file cannot be read or is
    not UTF-8. Binary files are skipped. Ignored files and symbolic links are treated as by count:
    a PATH is checked even if it is ignored.
    """
    run = _Check(values)
    try:
        sys.exit(run.status())
    except (CommandError, ConfigurationError) as error:
        run.fail(shown_path(str(error)))  # those of a configuration begin with its path
    finally:
        run.close()


class _Check:
    """A run of the command; its options are attributes."""

    paths: tuple[str, ...]
    named: NamedEncoding
    config: str | None
    init: bool
    fix_limits: bool
    no_ignore: bool
    allow_empty: bool
    base: str | None
    growth: Part | None
    notebooks: bool
    format_name: str | None
    as_json: bool
    all_results: bool
    quiet: bool
    no_cache: bool
    jobs: int | None

    def __init__(self, options: dict[str, Any]) -> None:
        vars(self).update(options)
        check_together(given_options(), _EXCLUDING, [("--growth", "--base")])
        if self.all_results and self.format_name not in (None, "table"):
            raise click.UsageError("--all is for the table, not for other formats.")
        self._format = "json" if self.as_json else self.format_name or "table"
        # The tokenizer for rules that name none.
        self._given = self.named.answer()
        self._encodings: dict[Answer | None, Encoding] = {}
        #: The caches of counts that are in use.
        self._caches: dict[Answer | None, CountCache] = {}
        self._counting: Counting | None = None
        named = self.named
        if named.model is not None or named.encoding is not None:
            self._counting = Counting(None, named.model, bool(named.estimate))
        if self._counting is not None or named.pattern is not None:
            self._encoding()  # its errors are reported at once

    def status(self) -> int:
        """Run the command, and return the exit status."""
        if self.init:
            return self._write_first()
        source = self._configured()
        configuration = configuration_of(source, self._counting)
        report = self._report(configuration)
        if self._format != "github":  # which has them as annotations
            for path, reason in report.errors:
                write_message(f"{path}: {reason}; fix it, or exclude it in the configuration")
            for one in report.unmatched:
                write_message(f"{shown_path(one.name)}: {one.reason} (--allow-empty allows it)")
        self._note_skipped(report)
        for note in report.notes * (not self.quiet):
            self._note(f"an estimate: {note}")
        if self.fix_limits:
            return self._raise(source, report)
        self._print(report)
        return 2 if report.status == "error" else int(report.status == "over")

    def close(self) -> None:
        """Write new counts to the caches."""
        for cache in self._caches.values():
            cache.close()

    def fail(self, message: str) -> NoReturn:
        """End the command with an error."""
        if self._format != "github":
            raise CommandError(message) from None
        write_line(annotation("error", message))
        sys.exit(CommandError.exit_code)

    def _note(self, message: str) -> None:
        if self._format == "github":
            write_line(annotation("notice", message))
        else:
            write_message(message)

    def _note_skipped(self, report: Report) -> None:
        if report.skipped and not self.quiet:
            names = ", ".join(path for path, _ in report.skipped[:3])
            more = f" and {len(report.skipped) - 3:,} more" if len(report.skipped) > 3 else ""
            self._note(f"skipped as binary: {names}{more}")

    def _configured(self) -> Source:
        with command_errors(self.config or "the configuration"):
            if self.config is not None:
                source: Source | None = read_source(self.config)
                if source is not None and source.table is None:
                    raise CommandError(
                        f"{self.config}: there is no table [{source.header}]; add one, with rules"
                    )
            else:
                source = find_configuration(os.getcwd())
        if source is None:
            raise CommandError(
                f"there is no configuration here or above: no {NAME} with [check], and no "
                f"{PYPROJECT} with [tool.compat-bpe.check]; --init writes one"
            )
        source.path = shown_path(source.path)
        return source

    def _print(self, report: Report) -> None:
        module = import_module(f"...check.{_FORMATS[self._format]}", __package__)
        options = {"all_results": True} if self.all_results else {}
        for line in getattr(module, f"{self._format}_lines")(report, **options):
            write_line(line)

    def _raise(self, source: Source, report: Report) -> int:
        highest = highest_over(report.results)
        text, raised = raise_limits(source, highest)
        if report.errors:
            write_message("no limit is raised while a file cannot be counted")
            return 2
        if text != source.text:
            with command_errors(source.path):
                write_files([(source.path, text.encode())])
        for one in raised:
            place = f"{shown_path(one.limit.place.file)}:{one.limit.place.line}"
            if one.problem:
                write_message(
                    f"{place}: the limit of {one.limit.tokens:,} is not raised: {one.problem}; "
                    f"{highest[one.limit]:,} tokens are needed"
                )
            else:
                write_line(f"{place}: {one.limit.tokens:,} raised to {one.tokens:,}")
        grown = [one for one in report.of("over") if one.kind == "growth"]
        for result in grown:
            write_message(f"{result.name}: {result.message}; growth limits are not raised")
        if not raised and not grown:
            write_line(f"nothing to raise; {report.summary}")
        if report.unmatched:
            return 2
        return int(bool(grown) or any(one.problem for one in raised))

    def _write_first(self) -> int:
        encoding = self._encoding()
        if encoding.name not in all_encoding_names():
            raise CommandError("--init needs a built-in encoding: give its name with -e")
        folder = os.getcwd()
        for name in (NAME, PYPROJECT):
            if name == NAME and os.path.lexists(name):
                raise CommandError(f"{name}: the file exists; --init does not overwrite it")
            if os.path.isfile(name) and read_source(name).table is not None:
                raise CommandError(
                    f"{name}: the file has budgets already; --init does not change them"
                )
        rules = usual_rules(folder)
        chosen = chosen_files(rules, ignore=not self.no_ignore)
        if not chosen.found:
            rules = other_rules(folder)
            chosen = chosen_files(rules, ignore=not self.no_ignore)
        report = Report(NAME)
        tokens = self._tokens(chosen, list(chosen.found), None, report)
        for path, reason in report.errors:
            write_message(f"{path}: {reason}; it is not counted and has no limit")
        self._note_skipped(report)
        if not tokens:
            raise CommandError("--init: there are no prompts and no Markdown files here to limit")
        text = first_configuration(rules, tokens, encoding.name)
        with command_errors(NAME):
            write_files([(NAME, text.encode())], is_new=True)
        write_line(f"{NAME}: written, with limits for {plural(len(tokens), 'file')}")
        return 0

    def _report(self, configuration: Configuration) -> Report:
        """Return the report of a configuration.

        Raises:
            CommandError: a path or the revision does not exist.
            ConfigurationError: there are too many files.
        """
        if self.growth is not None:
            rules = tuple(replace(rule, growth=self.growth) for rule in configuration.rules)
            configuration = replace(configuration, rules=rules)
        try:
            selection = Selection(configuration.folder, self.paths)
        except (OSError, ValueError) as error:
            name = getattr(error, "filename", None) or ", ".join(self.paths)
            reason = reason_of(error, name) if isinstance(error, OSError) else str(error)
            raise CommandError(f"{name}: {reason}") from None
        chosen = chosen_files(configuration, selection.named, ignore=not self.no_ignore)
        report = Report(shown_path(configuration.path), _prefix(configuration.folder))
        wanted = groups_to_count(configuration.rules, chosen, selection)
        counted = {
            answer: self._tokens(chosen, group, answer, report) for answer, group in wanted.items()
        }
        notes = (self._answer(one).note for one in wanted)
        report.notes = list(dict.fromkeys(filter(None, notes)))
        report.files = len(set().union(*counted.values()))
        before = None
        if self.base is not None:
            try:
                found = read_base(configuration.folder, self.base)
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
            SectionCounts(self._count, lambda path: self._text(chosen.found[path].path)),
            name_of=self._name_of,
            note_of=lambda by: self._answer(by).note,
            before=before,
        )
        measurement.add_all(configuration)
        self._note_unused(configuration, chosen, report)
        return report

    def _tokens(
        self, chosen: ChosenFiles, paths: Sequence[str], by: Answer | None, report: Report
    ) -> Mapping[str, int]:
        """Return the tokens of some files, and note in the report those that are not counted."""
        counter = FileCounter(self._encoding(by), notebooks=self.notebooks)
        files = [chosen.found[path] for path in paths]
        size = sum(file.size or 0 for file in files)
        tokens: dict[str, int] = {}
        cache = None if self.no_cache else counter.cache(files)
        if cache is not None:
            self._caches[by] = cache
        with (
            FileProgress(len(files), size, is_quiet=self.quiet) as progress,
            closing(count_files(counter, files, self.jobs, progress, cache=cache)) as outcomes,
        ):
            for path, outcome in zip(paths, outcomes):
                if outcome.counts is not None:
                    (number,) = outcome.counts.tokens
                    tokens[path] = self._answer(by).tokens(number)
                    if outcome.note and not self.quiet:
                        progress.clear()
                        self._note(f"{path}: {outcome.note}")
                    continue
                # Without the advice, which may name an option of other commands.
                noted = (path, outcome.reason)
                noted_in = report.skipped if outcome.is_binary else report.errors
                if noted not in noted_in:
                    noted_in.append(noted)
        return tokens

    def _encoding(self, by: Answer | None = None) -> Encoding:
        """Return the encoding that counts, loaded at its first use.

        Raises:
            CommandError: it cannot be loaded.
        """
        if by not in self._encodings:
            pattern = self.named.pattern if by is None else None
            self._encodings[by] = loaded(self._answer(by), pattern)
        return self._encodings[by]

    def _answer(self, by: Answer | None) -> Answer:
        return self._given if by is None else by

    def _name_of(self, by: Answer | None) -> str:
        answer = self._answer(by)
        return answer.model if answer.note and answer.model else self._encoding(by).name

    def _count(self, by: Answer | None, text: str) -> int:
        count, cache = self._encoding(by).count, self._caches.get(by)
        return self._answer(by).tokens(count(text) if cache is None else cache.count(text, count))

    def _count_bytes(self, by: Answer | None, data: bytes, notebook: bool) -> int | None:
        try:
            check_beginning(data)
            text = data.decode()
            return self._count(by, self._source(text) if notebook else text)
        except ValueError:
            return None

    def _source(self, text: str) -> str:
        """Return the sources of a notebook if these are counted; else the text as it is."""
        if self.notebooks:
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
        """Note exemptions that no file needs, and unmatched rules and paths if they are allowed."""
        notes = []
        if self.allow_empty:
            notes += [f"{shown_path(one.name)}: {one.reason}" for one in report.unmatched]
            report.unmatched = []
        places = [configuration.exemptions[one].place for one in chosen.unused]
        notes += [
            f"{shown_path(place.file)}:{place.line}: the exemption matches no file"
            for place in places
        ]
        for note in notes * (not self.quiet):
            self._note(note)


#: Options that exclude each other.
_EXCLUDING = (
    *(("--init", name) for name in ("PATH", "--config", "--fix-limits", "--base", "--growth")),
    *(("--init", name) for name in ("--format", "--json", "--all", "--allow-empty")),
    *(("--fix-limits", name) for name in ("--format", "--json", "--all")),
    *(("--json", name) for name in ("--format", "--all")),
)


def shown_path(path: str) -> str:
    """Return a path relative to the current directory, if it is in it."""
    here = os.path.join(os.getcwd(), "")
    return path[len(here) :] if path.startswith(here) else path


def _prefix(folder: str) -> str:
    """Return the prefix that makes paths in a folder paths of its repository."""
    folder = os.path.realpath(folder)
    top = top_of_repository(folder)
    if top is None or top == folder:
        return ""
    return os.path.relpath(folder, top).replace(os.sep, "/") + "/"
