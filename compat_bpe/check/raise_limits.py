"""Raising limits in a configuration: numbers are replaced, and all else stays as it is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from .rules import Limit
from .source import Source, Way, parse_toml

#: New limits are rounded up to a multiple of this.
_STEP = 100


class Raised(NamedTuple):
    """A limit that was raised, or that was not.

    Args:
        limit: the old limit.
        tokens: the new one.
        problem: why it was not raised; empty if it was.
    """

    limit: Limit
    tokens: int
    problem: str


def raise_limits(source: Source, highest: Mapping[Limit, int]) -> tuple[str, list[Raised]]:
    """Return the text of a configuration with higher limits, and what became of each.

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
    """Return a number as another one is written: with ``_`` between thousands or without.

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
