"""The table of places in ``docs/where-it-runs.md``."""

from __future__ import annotations

import time
from collections.abc import Iterable

from .kit import ROOT, Row

PAGE = ROOT / "docs" / "where-it-runs.md"


def with_row(page: str, row: Row, date: str) -> str:
    """Return a page with a row in place of the one that begins with the same words.

    The words are those before the first digit, so that another version takes the same row.

    >>> with_row("| CPython 3.9.1 | x | y | 1 |\\n", Row("CPython 3.9.2", "a", "b"), "2")
    '| CPython 3.9.2 | a | b | 2 |\\n'
    """
    lines = page.splitlines(keepends=True)
    line = f"| {' | '.join(row)} | {date} |\n"
    for number, old in enumerate(lines):
        if old.startswith("| ") and _key(old[2:].partition(" | ")[0]) == _key(row.place):
            lines[number] = line
            return "".join(lines)
    raise ValueError(f"{PAGE} has no row for {row.place}")


def write_rows(rows: Iterable[Row]) -> None:
    """Write rows of today into the page."""
    page = PAGE.read_text("utf-8")
    for row in rows:
        page = with_row(page, row, time.strftime("%Y-%m-%d"))
    PAGE.write_bytes(page.encode())


def _key(place: str) -> str:
    """Return a place with only the part of its version that has a row of its own.

    >>> _key("CPython 3.13.0"), _key("PyPy 7.3.11 (Python 3.9.16)"), _key("s390x, big endian")
    ('CPython 3.13', 'PyPy 7', 's390x, big endian')
    """
    name = place.partition(" (")[0]
    words = name.split(" ")
    version = words[-1].split(".")
    if not version[0].isdigit():
        return name
    parts = 2 if name.startswith("CPython 3") else 1
    return " ".join([*words[:-1], ".".join(version[:parts])])
