"""CPython without a global lock, built from the source that Debian has."""

from __future__ import annotations

from collections.abc import Iterator

from .built import SUITE, python
from .kit import Kit, Row


def rows(kit: Kit) -> Iterator[Row]:
    """Yield the row."""
    built = python(kit.kept, "python3.13t", ["--disable-gil"])
    ran = kit.run([built, "-W", "error"])
    version = ran.python.split()[1]
    had = f"built from Debian {SUITE}'s source, `--disable-gil`"
    yield Row(f"CPython without a global lock {version}", had, f"{ran.answers:,} answers")
