"""A comment for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...unicode.escape import DISORDERING
from ..results import Report

#: The most rows of a table: a comment has at most 65,536 characters.
_MOST_ROWS = 100

_SIGNS = {"over": "❌ over", "near": "⚠️ near"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>&~@$])")


def lines(report: Report) -> Iterator[str]:
    """Yield the lines of a comment: a heading, what is over and near, and the changes."""
    yield "### Token budgets"
    yield ""
    yield f"{report.summary}."
    shown = report.of("over", "near")
    if shown:
        yield from ("", "| | what | tokens | limit | encoding |", "|---|---|--:|--:|---|")
    for one in shown[:_MOST_ROWS]:
        sign = "+" if one.kind == "growth" else ""
        yield (
            f"| {_SIGNS[one.status]} | {_text(one.name)} | {sign}{one.tokens:,} "
            f"| {sign}{one.limit:,} | {_text(one.encoding)} |"
        )
    yield from _more(len(shown))
    if report.changes:
        yield from ("", "| change | file | before | now | |", "|---|---|--:|--:|--:|")
    for change in report.changes[:_MOST_ROWS]:
        yield (
            f"| {change.kind} | {_text(change.name)} | {change.before:,} | {change.after:,} "
            f"| {change.after - change.before:+,} |"
        )
    yield from _more(len(report.changes))
    for path, reason in report.errors[:_MOST_ROWS]:
        yield ""
        yield f"Not counted: {_text(path)}: {_text(reason)}"


def _more(rows: int) -> Iterator[str]:
    if rows > _MOST_ROWS:
        yield ""
        yield f"… and {rows - _MOST_ROWS:,} more."


def _text(text: str) -> str:
    r"""Return a text that Markdown shows as it is, in one cell of a table.

    >>> print(_text("a|b_c"))
    a\|b\_c
    """
    return _SPECIAL.sub(r"\\\1", text.translate(DISORDERING))
