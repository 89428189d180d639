"""Commands of GitHub Actions, which become annotations of a pull request.

A runner obeys a line that begins with ``::``, and any other line with ``##[…]`` anywhere in it. So
a name is only ever written in a line that begins as a command: there nothing in it is another.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..results import Report

_LEVELS = {"over": "error", "near": "warning"}


def lines(report: Report) -> Iterator[str]:
    """Yield a command for each result that is over or near its limit, and the sum."""
    for one in report.of("over", "near"):
        place = (report.prefix + one.path, one.line) if one.path else None
        yield annotation(_LEVELS[one.status], f"{one.name}: {one.message}", place)
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
