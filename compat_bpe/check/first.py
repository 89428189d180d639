"""The first configuration of a project, from the files that it has."""

from __future__ import annotations

import json
from collections.abc import Mapping

from .rules import NEAR, Configuration, Rule
from .source import Place

#: Files that are mostly sent to models, by the rules of a first configuration.
_USUAL = (
    ("instructions", ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md")),
    ("rules", (".cursor/rules/", ".github/instructions/", ".windsurf/rules/", ".clinerules/")),
    ("skills", ("SKILL.md", "/skills/**/*.md", ".claude/skills/**/*.md")),
    ("commands", (".claude/commands/", ".claude/agents/", ".github/prompts/")),
    ("prompts", ("prompts/", "*.prompt", "*.prompt.md", "*.prompty")),
)
#: The files if there are none of these.
_OTHERWISE = (("documents", ("*.md",)),)

#: The room that a first limit leaves, as a factor, and what it is rounded up to.
_ROOM = 1.2
_STEP = 100

_HEAD = """\
# Budgets of tokens: `compat-bpe check` says what is over them.
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
    """Return rules for the files that are mostly sent to models, with no limits yet."""
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
    """Return the text of a configuration whose limits the files are within.

    Args:
        rules: the rules.
        tokens: the tokens of each file, by its path relative to the configuration's folder.
        encoding: the name of the encoding that has counted them.
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
