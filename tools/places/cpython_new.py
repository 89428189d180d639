"""The newest CPythons, 3.14 and later, of Debian's next release (sid)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .debian import runnable, unpacked
from .kit import Kit, Row


def fetch(kit: Kit) -> dict[str, Path]:
    """Return the folder of each version's packages, fetched if it is not there."""
    return {
        minor: unpacked(kit.kept / minor, "sid", "amd64", [f"python{minor}"])
        for minor in ("3.14", "3.15")
    }


def rows(kit: Kit) -> Iterator[Row]:
    """Yield a row for each version."""
    for minor, root in fetch(kit).items():
        python = runnable(root, "amd64", f"usr/bin/python{minor}")
        ran = kit.run([python, "-W", "error"])
        version = ran.python.split(",")[0]
        yield Row(version, "Debian sid, unpacked", f"{ran.answers:,} answers, warnings as errors")
