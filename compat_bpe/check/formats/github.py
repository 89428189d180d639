"""Commands of GitHub Actions, which become annotations of a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from ..results import Report

_LEVELS = {"over": "error", "near": "warning"}


def lines(report: Report) -> Iterator[str]:
    """Yield a command for each result that is over or near its limit, and the sum."""
    for one in report.of("over", "near"):
        place = f"file={_property(report.prefix + one.path)},line={one.line}," if one.path else ""
        level = _LEVELS[one.status]
        yield f"::{level} {place}title=token budget::{_data(f'{one.name}: {one.message}')}"
    for path, reason in report.errors:
        where = _property(report.prefix + path)
        yield f"::error file={where},title=token budget::{_data(f'{path}: {reason}')}"
    yield report.summary


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
