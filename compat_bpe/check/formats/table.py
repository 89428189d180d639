"""A table for a person."""

from __future__ import annotations

from collections.abc import Iterator

from ..results import Change, Report, Result


def lines(report: Report, *, all_results: bool = False) -> Iterator[str]:
    """Yield the lines of a table: what is over and near, the changes since the base, and a sum.

    Args:
        report: the report.
        all_results: list what is within its limit or exempt, too.
    """
    shown = report.of("over", "near")
    if all_results:
        shown += report.of("exempt", "ok")
    yield from _aligned([_row(one) for one in shown])
    if report.base is not None:
        if shown and report.changes:
            yield ""
        yield from _aligned([_change(one) for one in report.changes])
    yield report.summary


def _row(result: Result) -> tuple[str, ...]:
    sign = "+" if result.kind == "growth" else ""
    mark = "≈" if result.estimate else ""
    counts = f"{mark}{sign}{result.tokens:,}", f"/ {sign}{result.limit:,}"
    reason = f" ({result.reason})" if result.reason else ""
    return (result.status, *counts, result.name + reason)


def _change(change: Change) -> tuple[str, ...]:
    return (
        change.kind,
        f"{change.after - change.before:+,}",
        f"= {change.after:,}",
        change.name,
    )


def _aligned(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows)]
    for kind, tokens, limit, name in rows:
        yield (
            f"{kind:<{widths[0]}}  {tokens:>{widths[1]}} "
            f"{limit[0]} {limit[2:]:>{widths[2] - 2}}  {name}"
        )
