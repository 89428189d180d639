"""A report for people: a table, annotations of GitHub, and a comment in Markdown.

A runner obeys a line that begins with ``::``, and any other line with ``##[…]`` anywhere in it. So
names are written only in lines that begin with ``::``, in which nothing else is a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..unicode.text import DISORDERING, fence
from .results import Change, Report, Result


def table_lines(report: Report, *, all_results: bool = False) -> Iterator[str]:
    """Yield the lines of a table: results over or near a limit, changes since the base, a summary.

    Args:
        report: the report.
        all_results: also list results that are within their limit or exempt.
    """
    shown = report.of("over", "near")
    if all_results:
        shown += report.of("exempt", "ok")
    yield from _aligned([_table_row(one) for one in shown])
    if report.base is not None:
        if shown and report.changes:
            yield ""
        yield from _aligned([_table_change(one) for one in report.changes])
    yield report.summary


def _table_row(result: Result) -> tuple[str, ...]:
    sign = "+" if result.kind == "growth" else ""
    mark = "≈" if result.estimate else ""
    counts = f"{mark}{sign}{result.tokens:,}", f"/ {sign}{result.limit:,}"
    reason = f" ({result.reason})" if result.reason else ""
    return (result.status, *counts, result.name + reason)


def _table_change(change: Change) -> tuple[str, ...]:
    growth = f"{change.after - change.before:+,}"
    return change.kind, growth, f"= {change.after:,}", change.name


def _aligned(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    for kind, tokens, limit, name in rows:
        yield (
            f"{kind:<{widths[0]}}  {tokens:>{widths[1]}} "
            f"{limit[0]} {limit[2:]:>{widths[2] - 2}}  {name}"
        )


_GITHUB_LEVELS = {"over": "error", "near": "warning"}


def github_lines(report: Report) -> Iterator[str]:
    """Yield a command for each result that is over or near its limit, and the summary."""
    for one in report.of("over", "near"):
        place = (report.prefix + one.path, one.line) if one.path else None
        yield annotation(_GITHUB_LEVELS[one.status], f"{one.name}: {one.message}", place)
    for path, reason in report.errors:
        yield annotation("error", f"{path}: {reason}", (report.prefix + path, None))
    for unmatched in report.unmatched:
        at = unmatched.place and (report.path_of(unmatched.place), unmatched.place.line)
        yield annotation("error", f"{unmatched.name}: {unmatched.reason}", at)
    yield report.summary


def annotation(level: str, message: str, place: tuple[str, int | None] | None = None) -> str:
    """Return the command that makes an annotation.

    Args:
        level: ``"error"``, ``"warning"`` or ``"notice"``.
        message: its text.
        place: the path of a file of the repository and the line, if it is about one.

    >>> annotation("notice", "a\\n::b", ("c,d", 2))
    '::notice file=c%2Cd,line=2,title=token budget::a%0A::b'
    """
    properties = ""
    if place is not None:
        path, line = place
        properties = f"file={_property(path)}," + (f"line={line}," if line is not None else "")
    return f"::{level} {properties}title=token budget::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


#: The most rows of a table, and the most characters of a part: a comment has at most 65,536.
_MOST_ROWS = 100
_LONGEST_PART = 20_000

_SIGNS = {"over": "❌ over", "near": "⚠️ near"}


def markdown_lines(report: Report) -> Iterator[str]:
    """Yield the lines of a comment: a heading, results over or near a limit, and the changes.

    Names are in spans of code, which no name can end.
    """
    yield "### Token budgets"
    yield ""
    yield f"{report.summary}."
    shown = report.of("over", "near")
    if shown:
        yield from ("", "| | what | tokens | limit | encoding |", "|---|---|--:|--:|---|")
    yield from _bounded(map(_markdown_row, shown), len(shown))
    if report.changes:
        yield from ("", "| change | file | before | now | |", "|---|---|--:|--:|--:|")
    yield from _bounded(map(_markdown_change, report.changes), len(report.changes))
    notes = [
        f"- {what.capitalize()}: {_code(name)}: {_code(reason)}"
        for what, name, reason in report.problems
    ]
    if notes:
        yield ""
    yield from _bounded(notes, len(notes))


def _bounded(rows: Iterable[str], number: int) -> Iterator[str]:
    """Yield as many rows as fit in a comment, and the number of the others."""
    size = 0
    for index, row in enumerate(rows):
        size += len(row)
        if index == _MOST_ROWS or size > _LONGEST_PART:
            yield ""
            yield f"… and {number - index:,} more."
            return
        yield row


def _markdown_row(one: Result) -> str:
    sign = "+" if one.kind == "growth" else ""
    name = f"total of {_cell(one.rule)}" if one.kind == "total" else _cell(one.path)
    if one.part is not None:
        name += f" § {_cell(one.part)}"
    return (
        f"| {_SIGNS[one.status]} | {name} | {sign}{one.tokens:,} | {sign}{one.limit:,} "
        f"| {_cell(one.encoding)} |"
    )


def _markdown_change(change: Change) -> str:
    name = _cell(change.path or change.before_path)
    if change.kind == "renamed":
        name = f"{_cell(change.before_path)} → {name}"
    return (
        f"| {change.kind} | {name} | {change.before:,} | {change.after:,} "
        f"| {change.after - change.before:+,} |"
    )


def _code(text: str) -> str:
    """Return a span of code that shows a text.

    Its marks are longer than any run of them in the text, and there is no line end in it.

    >>> print(_code("a"), _code("`a``b"))
    `a` ``` `a``b ```
    """
    text = text.translate(DISORDERING)
    if not text:
        return ""
    mark = fence(text)
    # One space on each side is not part of the span, unless it has only spaces.
    around = " " if text.strip(" ") and (text[0] in " `" or text[-1] in " `") else ""
    return f"{mark}{around}{text}{around}{mark}"


def _cell(text: str) -> str:
    r"""Return a span of code within a cell of a table.

    In a cell, the backslash before ``|`` is not shown. After another backslash, programs differ, so
    ``|`` is written as its number there.

    >>> print(_cell("a|b"), _cell("a\\|b"))
    `a\|b` `a\\x7cb`
    """
    return _code(re.sub(r"(?<=\\)\|", r"\\x7c", text)).replace("|", "\\|")
