"""A comment for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...unicode.text import DISORDERING
from ..results import Change, Report, Result

#: The most rows of a table, and the most characters of a part: a comment has at most 65,536.
_MOST_ROWS = 100
_LONGEST_PART = 20_000

_SIGNS = {"over": "❌ over", "near": "⚠️ near"}


def lines(report: Report) -> Iterator[str]:
    """Yield the lines of a comment: a heading, what is over and near, and the changes.

    Names are in spans of code, which none of them can end.
    """
    yield "### Token budgets"
    yield ""
    yield f"{report.summary}."
    shown = report.of("over", "near")
    if shown:
        yield from ("", "| | what | tokens | limit | encoding |", "|---|---|--:|--:|---|")
    yield from _bounded(map(_row, shown), len(shown))
    if report.changes:
        yield from ("", "| change | file | before | now | |", "|---|---|--:|--:|--:|")
    yield from _bounded(map(_change, report.changes), len(report.changes))
    notes = [("Not counted", path, reason) for path, reason in report.errors]
    notes += [("Nothing checked", one.name, one.reason) for one in report.unmatched]
    if notes:
        yield ""
    rows = (f"- {what}: {_code(name)}: {_code(reason)}" for what, name, reason in notes)
    yield from _bounded(rows, len(notes))


def _bounded(rows: Iterable[str], number: int) -> Iterator[str]:
    """Yield as many rows as a comment has room for, and how many there are more."""
    size = 0
    for index, row in enumerate(rows):
        size += len(row)
        if index == _MOST_ROWS or size > _LONGEST_PART:
            yield ""
            yield f"… and {number - index:,} more."
            return
        yield row


def _row(one: Result) -> str:
    sign = "+" if one.kind == "growth" else ""
    name = f"total of {_cell(one.rule)}" if one.kind == "total" else _cell(one.path)
    if one.part is not None:
        name += f" § {_cell(one.part)}"
    return (
        f"| {_SIGNS[one.status]} | {name} | {sign}{one.tokens:,} | {sign}{one.limit:,} "
        f"| {_cell(one.encoding)} |"
    )


def _change(change: Change) -> str:
    name = _cell(change.path or change.before_path)
    if change.kind == "renamed":
        name = f"{_cell(change.before_path)} → {name}"
    return (
        f"| {change.kind} | {name} | {change.before:,} | {change.after:,} "
        f"| {change.after - change.before:+,} |"
    )


def _code(text: str) -> str:
    """Return a span of code that shows a text.

    Its marks are longer than any row of them in the text, and there is no line end in it.

    >>> print(_code("a"), _code("`a``b"))
    `a` ``` `a``b ```
    """
    text = text.translate(DISORDERING)
    if not text:
        return ""
    mark = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    # One space on each side is no part of the span, unless there are only spaces in it.
    around = " " if text.strip(" ") and (text[0] in " `" or text[-1] in " `") else ""
    return f"{mark}{around}{text}{around}{mark}"


def _cell(text: str) -> str:
    r"""Return a span of code within a cell of a table.

    There a backslash before ``|`` is no part of the span. After another backslash, programs differ,
    so that ``|`` is written as its number.

    >>> print(_cell("a|b"), _cell("a\\|b"))
    `a\|b` `a\\x7cb`
    """
    return _code(re.sub(r"(?<=\\)\|", r"\\x7c", text)).replace("|", "\\|")
