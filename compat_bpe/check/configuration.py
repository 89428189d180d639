"""Reading a configuration, and those it extends, into rules; mistakes in it are errors."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from ..encodings.resolve import DEFAULT_ENCODING, Answer, Terms, UnresolvedError, resolve
from ..files.ignore import InvalidPatternError, alternatives, as_bytes, matcher
from ..unicode.text import short_number
from .rules import NEAR, Configuration, Exemption, FileGlobs, Limit, Part, Rule, SectionRule
from .source import Source, Table, find_configuration, read_source, shown, top_of_repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..encodings.resolve import Field

#: The most rules and exemptions together, globs in all of them, and sections in one rule.
MOST_RULES = 1000
MOST_GLOBS = 1000
MOST_SECTIONS = 100
#: The most characters of a glob, and the most files that a file extends.
LONGEST_GLOB = 1000
MOST_FILES = 20

#: The highest limit.
MOST_TOKENS = 10**12

#: The advice in errors about a configuration, for its author; files are for the command line.
TERMS = Terms(
    'write model = "{}"',
    'write encoding = "{}"',
    "use -e {} on the command line",
    "estimate = true",
)

_TOP_KEYS = ("encoding", "model", "estimate", "warn", "growth", "extends", "rules", "exempt")
_RULE_KEYS = tuple(
    """
        name files exclude encoding model estimate max warn total growth sections front_matter body
    """.split()
)
_PERCENT = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,6})?) ?%( of context)?")


class Counting(NamedTuple):
    """The encoding or the estimate by which tokens are counted.

    Args:
        answer: the encoding or the estimate; None for that of the caller.
        model: the model, if one is named.
        estimate: True if tokens may be estimated.
    """

    answer: Answer | None
    model: str | None = None
    estimate: bool = False


def configuration_of(source: Source, counting: Counting | None = None) -> Configuration:
    """Return the configuration in a file, with those that it extends.

    Args:
        source: the file; it has a table about budgets.
        counting: the encoding or estimate, in place of the configuration's.

    Raises:
        OSError: a file that is extended cannot be read.
        ConfigurationError: something is wrong in one of the files.
    """
    folder = os.path.dirname(os.path.abspath(source.path))
    tables = _with_extended(source, os.path.realpath(folder))
    is_given = counting is not None
    defaults = _Defaults(counting or Counting(resolve(DEFAULT_ENCODING)), NEAR, None)
    rules: list[Rule] = []
    exemptions: list[Exemption] = []
    for table in tables:
        table.check_keys(_TOP_KEYS)
        defaults = _Defaults(
            _counting(table, defaults.counting, is_given=is_given),
            _warn(table) or defaults.warn,
            _part(table, "growth") or defaults.growth,
        )
    for table in tables:
        for one in table.tables("rules"):
            rules.append(_rule(one, defaults, is_given=is_given))
        exemptions += map(_exemption, table.tables("exempt"))
        if len(rules) + len(exemptions) > MOST_RULES:
            raise table.error("rules", f"more than {MOST_RULES:,} rules and exemptions")
        globs = [glob for rule in rules for glob in (*rule.files, *rule.exclude)]
        globs += [glob for one in exemptions for glob in one.files]
        if sum(len(alternatives(glob)) for glob in globs) > MOST_GLOBS:
            raise table.error(None, f"more than {MOST_GLOBS:,} globs; write fewer, with * in them")
    if not rules:
        raise tables[-1].error(
            None, f'there are no rules: write [[{source.header}.rules]] with files = ["*.md"]'
        )
    return Configuration(source.path, folder, tuple(rules), tuple(exemptions))


class FileBudget(NamedTuple):
    """The limit of a file, and the encoding or estimate that counts its tokens."""

    limit: int
    counted_by: Answer


def budget_of_file(path: str) -> FileBudget | None:
    """Return the lowest limit of a file by the nearest configuration; None if it has none.

    Args:
        path: the file, which need not exist.

    Raises:
        OSError: a configuration cannot be read.
        ConfigurationError: something is wrong in it.
    """
    source = find_configuration(os.path.dirname(path))
    if source is None:
        return None
    configuration = configuration_of(source)
    relative = os.path.relpath(os.path.abspath(path), configuration.folder).replace(os.sep, "/")
    if any(
        FileGlobs(one.files, all_names=True).match(relative) for one in configuration.exemptions
    ):
        return None
    budgets = [
        FileBudget(rule.largest.tokens, rule.counted_by)
        for rule in configuration.rules
        if rule.largest is not None and rule.counted_by is not None and rule.chosen([relative])
    ]
    return min(budgets, key=lambda one: one.limit, default=None)


# Files that are extended


def _with_extended(source: Source, folder: str) -> list[Table]:
    """Return the tables of the files that a file extends, then its own.

    Args:
        source: the file.
        folder: its folder, without symbolic links.
    """
    top = top_of_repository(folder) or folder
    tables: list[Table] = []
    done: set[str] = set()

    def add(source: Source, path: str, waiting: tuple[str, ...]) -> None:
        table = source.table
        assert table is not None
        value = table.get("extends")
        names = (value,) if isinstance(value, str) else table.texts("extends", '"shared.toml"')
        for name in names:
            # Links are followed first: the target must be within the repository.
            joined = os.path.join(os.path.dirname(path), name.replace("\0", ""))
            target = os.path.realpath(joined)
            if not target.startswith(os.path.join(top, "")):
                raise table.error(
                    "extends", f"{shown(name)} is outside {top}; write a path within it"
                )
            if target in waiting:
                raise table.error("extends", f"{shown(name)} extends this file again; leave it out")
            if target in done:
                continue
            # These include the first file, which extends the others.
            if len(done) + len(waiting) > MOST_FILES:
                raise table.error("extends", f"more than {MOST_FILES} files are extended")
            try:
                extended = read_source(target)
            except OSError as error:
                raise table.error(
                    "extends", f"{shown(name)}: {error.strerror or error}; write the path of a file"
                ) from None
            if extended.table is None:
                raise table.error(
                    "extends", f"{shown(name)} has no table [{extended.header}]; add one to it"
                )
            add(extended, target, (*waiting, target))
        done.add(path)
        tables.append(table)

    start = os.path.realpath(source.path)
    add(source, start, (start,))
    return tables


# Values


class _Defaults(NamedTuple):
    counting: Counting
    warn: Part
    growth: Part | None


def _counting(table: Table, default: Counting, *, is_given: bool) -> Counting:
    """Return the encoding or estimate that a table names.

    Args:
        table: the table.
        default: the counting if the table names none.
        is_given: True if the default replaces the table's encoding, which then need not be known.
    """
    encoding = table.text("encoding", '"o200k_base"')
    model = table.text("model", '"gpt-4o"')
    if encoding is not None and model is not None:
        raise table.error("model", "encoding and model exclude each other; leave one of them out")
    wanted = table.flag("estimate")
    estimate = default.estimate if wanted is None else wanted
    if is_given:
        return default
    if encoding is None and model is None:
        return default._replace(estimate=estimate)
    key: Field = "encoding" if model is None else "model"
    try:
        answer = resolve(encoding or model or "", key, files=False, estimate=estimate)
    except UnresolvedError as error:
        raise table.error(key, error.message(TERMS)) from None
    return Counting(answer, model, estimate)


def _rule(table: Table, defaults: _Defaults, *, is_given: bool) -> Rule:
    table.check_keys(_RULE_KEYS)
    counting = _counting(table, defaults.counting, is_given=is_given)
    files = _globs(table, "files")
    if not files:
        raise table.error(None, 'a rule needs files: write files = ["*.md"]')
    largest = _limit(table, "max", counting.model)
    total = _limit(table, "total", counting.model)
    growth = _part(table, "growth") or defaults.growth
    sections = tuple(_section(one, counting.model) for one in table.tables("sections"))
    if len(sections) > MOST_SECTIONS:
        raise table.error("sections", f"more than {MOST_SECTIONS} sections; write fewer, with *")
    front_matter = _limit(table, "front_matter", counting.model)
    body = _limit(table, "body", counting.model)
    if not (largest or total or growth or sections or front_matter or body):
        raise table.error(
            None,
            "a rule needs a limit: write max = 5000, total, growth, sections, front_matter or body",
        )
    warn = _warn(table)
    if warn and warn.tokens is not None and largest and warn.tokens > largest.tokens:
        raise table.error(
            "warn", f"warn is above max, {largest.tokens:,}: write a smaller number or raise max"
        )
    return Rule(
        table.text("name", '"skills"') or ", ".join(files),
        files,
        _globs(table, "exclude"),
        counting.answer,
        largest,
        warn or defaults.warn,
        total,
        growth,
        sections,
        front_matter,
        body,
        table.place,
    )


def _warn(table: Table) -> Part | None:
    warn = _part(table, "warn")
    if warn is not None and warn.share is not None and warn.share > 1:
        raise table.error("warn", 'warn must be at most "100%" of a limit')
    return warn


def _section(table: Table, model: str | None) -> SectionRule:
    table.check_keys(("heading", "level", "max"))
    heading = table.text("heading", '"Examples"')
    limit = _limit(table, "max", model)
    if heading is None or limit is None:
        raise table.error(None, 'a section needs both: heading = "Examples" and max = 500')
    _check_glob(table, "heading", heading)
    level = table.integer("level", 1, 6, "a number from 1 to 6")
    return SectionRule(heading, level, limit)


def _exemption(table: Table) -> Exemption:
    table.check_keys(("files", "reason"))
    files, reason = _globs(table, "files"), table.text("reason", '"generated"')
    if not files or reason is None:
        raise table.error(
            None, 'an exemption needs both: files = ["a.md"] and reason = "why no limit applies"'
        )
    return Exemption(files, reason, table.place)


def _globs(table: Table, key: str) -> tuple[str, ...]:
    globs = table.texts(key, '["*.md"]')
    for glob in globs:
        _check_glob(table, key, glob)
        if ".." in glob.split("/"):
            raise table.error(
                key,
                f"{shown(glob)} leaves the folder of the configuration; "
                "put the configuration in a folder above",
            )
    return globs


def _check_glob(table: Table, key: str, glob: str) -> None:
    if len(glob) > LONGEST_GLOB:
        raise table.error(key, f"a pattern is longer than {LONGEST_GLOB:,} characters; shorten it")
    if "\0" in glob or "\n" in glob:
        raise table.error(key, f"{shown(glob)} has a character that no path has; leave it out")
    try:
        for pattern in [glob] if key == "heading" else alternatives(glob):
            matcher(as_bytes(pattern), is_name=key == "heading")
    except (InvalidPatternError, UnicodeEncodeError) as error:
        raise table.error(key, f"{shown(glob)} is not a pattern: {error}") from None


def _number(table: Table, key: str, words: str) -> int | str | None:
    """Return a number of tokens, also one written as ``"128k"``; return other text unchanged."""
    value = table.get(key)
    if not isinstance(value, str):
        return table.integer(key, 0, MOST_TOKENS, words)
    number = short_number(value)
    return number if number is not None and number <= MOST_TOKENS else value


def _limit(table: Table, key: str, model: str | None) -> Limit | None:
    words = 'a number of tokens from 0 on, or "5% of context"'
    value = _number(table, key, words)
    if not isinstance(value, str):
        return None if value is None else Limit(value, table.place_of(key))
    match = _PERCENT.fullmatch(value)
    if match is None or match[2] is None or float(match[1]) > 100:
        raise table.error(key, f"{key} must be {words}, not {shown(value)}")
    if model is None:
        raise table.error(key, 'an encoding has no context: name the model, as in model = "gpt-4o"')
    from ..chat.limits import context_limit  # imported here: few limits are shares of a context

    try:
        context = context_limit(model).context
    except KeyError as error:
        raise table.error(key, f"{error.args[0]}; write a number of tokens") from None
    part = Part(None, float(match[1]) / 100)
    return Limit(part.of(context), table.place_of(key), share=True)


def _part(table: Table, key: str) -> Part | None:
    words = 'a number of tokens from 0 on, or a share, as in "90%"'
    value = _number(table, key, words)
    if not isinstance(value, str):
        return None if value is None else Part(value, None, table.place_of(key))
    match = _PERCENT.fullmatch(value)
    if match is None or match[2] is not None:
        raise table.error(key, f"{key} must be {words}, not {shown(value)}")
    return Part(None, float(match[1]) / 100, table.place_of(key))
