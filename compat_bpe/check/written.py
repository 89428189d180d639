"""Writing configurations: the first one of a project, and one with raised limits."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from .rules import NEAR, Configuration, Limit, Rule
from .source import Place, Source, Way, parse_toml

#: Files that are usually sent to models, by the names of the rules of a first configuration.
_USUAL = (
    ("instructions", ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md")),
    ("rules", (".cursor/rules/", ".github/instructions/", ".windsurf/rules/", ".clinerules/")),
    ("skills", ("SKILL.md", "/skills/**/*.md", ".claude/skills/**/*.md")),
    ("commands", (".claude/commands/", ".claude/agents/", ".github/prompts/")),
    ("prompts", ("prompts/", "*.prompt", "*.prompt.md", "*.prompty")),
)
#: The files if there are none of these.
_OTHERWISE = (("documents", ("*.md",)),)

#: The factor between the largest count and a first limit. Limits are rounded up to a _STEP.
_ROOM = 1.2
_STEP = 100

_HEAD = """\
# Token budgets: `compat-bpe check` fails if a file exceeds them.
[check]
encoding = {encoding}
warn = "90%"  # from here on, a file is near its limit
"""

_RULE = """
[[check.rules]]
name = {name}
files = {files}
max = {limit}  # the largest has {largest:,}: {path}
"""


def usual_rules(folder: str) -> Configuration:
    """Return rules for the files that are usually sent to models, with no limits yet."""
    return _rules(folder, _USUAL)


def other_rules(folder: str) -> Configuration:
    """Return the rules if there are none of those files."""
    return _rules(folder, _OTHERWISE)


def _rules(folder: str, named: tuple[tuple[str, tuple[str, ...]], ...]) -> Configuration:
    nowhere = Place("", 1, ())
    rules = tuple(
        Rule(name, globs, (), None, None, NEAR, None, None, (), None, None, nowhere)
        for name, globs in named
    )
    return Configuration("", folder, rules, ())


def first_configuration(rules: Configuration, tokens: Mapping[str, int], encoding: str) -> str:
    """Return the text of a configuration with limits that all files are within.

    Args:
        rules: the rules.
        tokens: the tokens of each file, by its path relative to the configuration's folder.
        encoding: the name of the encoding that counted them.
    """
    text = _HEAD.format(encoding=json.dumps(encoding))
    chosen = [rule.chosen(list(tokens)) for rule in rules.rules]
    for rule, paths in zip(rules.rules, chosen):
        if not paths:
            continue
        path = max(paths, key=lambda path: tokens[path])
        limit = max(_STEP, -int(-tokens[path] * _ROOM // _STEP) * _STEP)
        text += _RULE.format(
            name=json.dumps(rule.name),
            files=json.dumps(list(rule.files)),
            limit=limit,
            largest=tokens[path],
            path=json.dumps(path)[1:-1],
        )
    return text


class Raised(NamedTuple):
    """A limit to raise, and the outcome.

    Args:
        limit: the old limit.
        tokens: the new one.
        problem: why it was not raised; empty if it was.
    """

    limit: Limit
    tokens: int
    problem: str


def raise_limits(source: Source, highest: Mapping[Limit, int]) -> tuple[str, list[Raised]]:
    """Return the text of a configuration with higher limits, and the outcome for each.

    Only numbers are replaced.

    Args:
        source: the configuration.
        highest: the limits to raise, each with the tokens that it has to allow.
    """
    raised: list[Raised] = []
    edits: dict[Way, int] = {}
    for limit, tokens in sorted(highest.items(), key=lambda pair: pair[0].place.line):
        new = -(-tokens // _STEP) * _STEP
        problem = _problem(source, limit)
        raised.append(Raised(limit, new, problem))
        if not problem:
            edits[limit.place.way] = new
    text = source.text
    for way in sorted(edits, key=lambda way: -source.spans[way].start):
        _, start, end = source.spans[way]
        text = text[:start] + _like(text[start:end], edits[way]) + text[end:]
    if not _only_changes(source.text, text, edits):
        problem = "the file has a form that cannot be edited"
        return source.text, [one._replace(problem=one.problem or problem) for one in raised]
    return text, raised


def _problem(source: Source, limit: Limit) -> str:
    if os.path.realpath(limit.place.file) != os.path.realpath(source.path):
        return "it is in a file that is extended"
    if limit.share:
        return "it is a share of a context"
    if os.path.islink(source.path):
        return "the file is a symbolic link"
    _, start, end = source.spans[limit.place.way]
    written = source.text[start:end]
    if not written.lstrip("+").replace("_", "").isdecimal():
        return f"it is written as {written}"
    return ""


def _like(old: str, new: int) -> str:
    """Return a number in the notation of another: with a sign and ``_`` between thousands or not.

    >>> _like("5_000", 12300), _like("+500", 600)
    ('12_300', '+600')
    """
    sign = "+" if old.startswith("+") else ""
    return sign + (f"{new:_}" if "_" in old else str(new))


def _only_changes(old: str, new: str, edits: Mapping[Way, int]) -> bool:
    """Return True if two texts differ in the edited values alone, and each of these is higher."""
    expected: Any = parse_toml(old)
    for way, tokens in edits.items():
        *parents, key = way
        table = expected
        for step in parents:
            table = table[step]
        if table[key] >= tokens:
            return False
        table[key] = tokens
    try:
        return bool(parse_toml(new) == expected)
    except ValueError:
        return False
