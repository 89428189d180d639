"""``compat-bpe check``: files and their budgets of tokens."""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module
from typing import Any, NoReturn

import click

from ...check.configuration import Counting, configuration_of
from ...check.files import chosen_files
from ...check.first import first_configuration, other_rules, usual_rules
from ...check.for_people import annotation
from ...check.raise_limits import raise_limits
from ...check.results import Report, highest_over
from ...check.rules import Part
from ...check.source import (
    NAME,
    PYPROJECT,
    ConfigurationError,
    Source,
    find_configuration,
    read_source,
)
from ...encodings.published import all_encoding_names
from ...files.write import write_files
from ..check_run import CheckRun, shown_path
from ..input import paths_argument
from ..options.encoding import (
    ESTIMATE,
    TokenNumber,
    chosen_answer,
    encoding_options,
)
from ..options.groups import GroupedCommand
from ..options.walk import no_ignore_option, notebooks_option
from ..output import CommandError, failure, plural, write_line, write_message

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


def _part(context: click.Context, parameter: click.Parameter, value: str | None) -> Part | None:
    if value is None:
        return None
    share = _SHARE.fullmatch(value)
    if share is not None:
        return Part(None, float(share[1]) / 100)
    try:
        return Part(TokenNumber(min=0).convert(value, parameter, context), None)
    except click.BadParameter:
        raise click.BadParameter(
            f"{value!r} is not a number of tokens, such as 8000 or 128k, or a share such as 10%."
        ) from None


@click.command(cls=GroupedCommand, groups=_GROUPS)
@paths_argument("paths", "[PATH]...", type=click.Path(readable=False))
@encoding_options
@ESTIMATE
@click.option(
    "--config",
    metavar="FILE",
    type=click.Path(readable=False),
    help="Read this configuration instead of the nearest one.",
)
@click.option(
    "--init",
    is_flag=True,
    help=f"Write a first {NAME} from the files that are there. No file is overwritten.",
)
@click.option(
    "--fix-limits",
    is_flag=True,
    help="Raise the limits in the configuration that something is over. None is lowered.",
)
@no_ignore_option
@click.option(
    "--allow-empty",
    is_flag=True,
    help="Allow a rule that matches nothing, and a PATH that no rule is about.",
)
@click.option(
    "--base",
    metavar="REV",
    help="Compare with this git revision: what was added, removed, renamed, and has grown.",
)
@click.option(
    "--growth",
    metavar="N|P%",
    callback=_part,
    help="With --base, let no file grow by more than N tokens, or by more than P percent.",
)
@notebooks_option
@click.option(
    "--format",
    "format_name",
    metavar="NAME",
    type=click.Choice(list(_FORMATS)),
    help="Print a table (the default), json, github (annotations of Actions), sarif, markdown (a "
    "comment) or junit.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--all", "all_results", is_flag=True, help="List in the table what is within its limit, too."
)
@click.option("-q", "--quiet", is_flag=True, help="Write no notes on standard error.")
@click.option(
    "-j",
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    help="Use at most N processes; by default as many as there are processors.",
)
def check(**values: Any) -> None:
    """Check the files of a project against its budgets of tokens.

    \b
    Examples:
      $ compat-bpe check --init
      $ compat-bpe check
      $ compat-bpe check docs --all
      $ compat-bpe check --format sarif > budgets.sarif

    The budgets are in [tool.compat-bpe.check] of pyproject.toml, or in [check] of
    .compat-bpe.toml, in the current directory or above it. With PATHs, only these files, and
    those in these directories, are reported; a group with a total is still counted whole.

    The exit status is 1 if something is over its limit, and 2 if anything is wrong: there is no
    configuration, it has a mistake, a rule matches nothing, no rule is about a PATH, or a file
    cannot be read or is not UTF-8. Binary files are skipped. Ignored files and symbolic links are
    treated as in count: a PATH is checked even if it is ignored.
    """
    command = _Command(**values)
    try:
        sys.exit(command.status())
    except (CommandError, ConfigurationError) as error:
        command.fail(shown_path(str(error)))  # those of a configuration begin with its path


class _Command:
    def __init__(
        self,
        *,
        paths: tuple[str, ...],
        model: str | None,
        encoding: str | None,
        pattern: str | None,
        estimate: bool,
        config: str | None,
        init: bool,
        fix_limits: bool,
        no_ignore: bool,
        allow_empty: bool,
        base: str | None,
        growth: Part | None,
        notebooks: bool,
        format_name: str | None,
        as_json: bool,
        all_results: bool,
        quiet: bool,
        jobs: int | None,
    ) -> None:
        _check_together(
            {
                "PATH": bool(paths),
                "--config": config is not None,
                "--init": init,
                "--fix-limits": fix_limits,
                "--allow-empty": allow_empty,
                "--base": base is not None,
                "--growth": growth is not None,
                "--format": format_name is not None,
                "--json": as_json,
                "--all": all_results,
            }
        )
        if all_results and format_name not in (None, "table"):
            raise click.UsageError("--all is for the table; the other formats decide themselves.")
        self._paths = paths
        self._config = config
        self._init = init
        self._fix_limits = fix_limits
        self._base = base
        self._growth = growth
        self._format = "json" if as_json else format_name or "table"
        self._all = all_results
        self._quiet = quiet
        answer = chosen_answer(model, encoding, estimate=estimate)
        self._counting: Counting | None = None
        if model is not None or encoding is not None:
            self._counting = Counting(None, model, estimate)
        self._ignore = not no_ignore
        self._run = CheckRun(
            answer,
            pattern,
            jobs,
            self._note,
            is_quiet=quiet,
            ignore=self._ignore,
            allow_empty=allow_empty,
            notebooks=notebooks,
        )
        if self._counting is not None or pattern is not None:
            self._run.encoding()  # what is wrong with it is said at once

    def status(self) -> int:
        """Do what the options say, and return the exit status."""
        if self._init:
            return self._write_first()
        source = self._source()
        configuration = configuration_of(source, self._counting)
        report = self._run.report(configuration, self._paths, self._base, self._growth)
        if self._format != "github":  # which has them as annotations
            for path, reason in report.errors:
                write_message(f"{path}: {reason}; mend it, or exclude it in the configuration")
            for one in report.unmatched:
                write_message(
                    f"{shown_path(one.name)}: {one.reason} (--allow-empty lets that pass)"
                )
        self._note_skipped(report)
        for note in report.notes * (not self._quiet):
            self._note(f"an estimate: {note}")
        if self._fix_limits:
            return self._raise(source, report)
        self._print(report)
        return 2 if report.status == "error" else int(report.status == "over")

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
        if report.skipped and not self._quiet:
            names = ", ".join(path for path, _ in report.skipped[:3])
            more = f" and {len(report.skipped) - 3:,} more" if len(report.skipped) > 3 else ""
            self._note(f"skipped as binary: {names}{more}")

    def _source(self) -> Source:
        try:
            if self._config is not None:
                source: Source | None = read_source(self._config)
                if source is not None and source.table is None:
                    raise CommandError(
                        f"{self._config}: there is no table [{source.header}]; add one, with rules"
                    )
            else:
                source = find_configuration(os.getcwd())
        except OSError as error:
            raise failure(error, self._config or "the configuration") from None
        if source is None:
            raise CommandError(
                f"there is no configuration here or above: no {NAME} with [check], and no "
                f"{PYPROJECT} with [tool.compat-bpe.check]; --init writes one"
            )
        source.path = shown_path(source.path)
        return source

    def _print(self, report: Report) -> None:
        module = import_module(f"...check.{_FORMATS[self._format]}", __package__)
        options = {"all_results": True} if self._all else {}
        for line in getattr(module, f"{self._format}_lines")(report, **options):
            write_line(line)

    def _raise(self, source: Source, report: Report) -> int:
        highest = highest_over(report.results)
        text, raised = raise_limits(source, highest)
        if report.errors:
            write_message("no limit is raised while a file cannot be counted")
            return 2
        if text != source.text:
            try:
                write_files([(source.path, text.encode())])
            except OSError as error:
                raise failure(error, source.path) from None
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
            write_message(f"{result.name}: {result.message}; limits of growth are not raised")
        if not raised and not grown:
            write_line(f"nothing to raise; {report.summary}")
        if report.unmatched:
            return 2
        return int(bool(grown) or any(one.problem for one in raised))

    def _write_first(self) -> int:
        encoding = self._run.encoding()
        if encoding.name not in all_encoding_names():
            raise CommandError("--init: a configuration names encodings that ship; -e names one")
        folder = os.getcwd()
        for name in (NAME, PYPROJECT):
            if name == NAME and os.path.lexists(name):
                raise CommandError(f"{name}: it exists; no configuration is overwritten")
            if os.path.isfile(name) and read_source(name).table is not None:
                raise CommandError(f"{name}: it has budgets already; nothing is overwritten")
        rules = usual_rules(folder)
        chosen = chosen_files(rules, ignore=self._ignore)
        if not chosen.found:
            rules = other_rules(folder)
            chosen = chosen_files(rules, ignore=self._ignore)
        report = Report(NAME)
        tokens = self._run.tokens(chosen, list(chosen.found), None, report)
        for path, reason in report.errors:
            write_message(f"{path}: {reason}; it is not counted, and no limit is about it")
        self._note_skipped(report)
        if not tokens:
            raise CommandError("--init: there are no prompts and no Markdown files here to limit")
        text = first_configuration(rules, tokens, encoding.name)
        try:
            write_files([(NAME, text.encode())], is_new=True)
        except OSError as error:
            raise failure(error, NAME) from None
        write_line(f"{NAME}: written, with limits for {plural(len(tokens), 'file')}")
        return 0


#: Options that exclude each other.
_EXCLUDING = (
    *(("--init", name) for name in ("PATH", "--config", "--fix-limits", "--base", "--growth")),
    *(("--init", name) for name in ("--format", "--json", "--all", "--allow-empty")),
    *(("--fix-limits", name) for name in ("--format", "--json", "--all")),
    *(("--json", name) for name in ("--format", "--all")),
)


def _check_together(given: dict[str, bool]) -> None:
    for one, other in _EXCLUDING:
        if given[one] and given[other]:
            raise click.UsageError(f"{one} and {other} exclude each other: give one of them.")
    if given["--growth"] and not given["--base"]:
        raise click.UsageError("--growth needs --base.")
