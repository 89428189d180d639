"""PyPy, as Debian has it: the one of bookworm, and the newest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .debian import runnable, unpacked
from .kit import Kit, Row


def fetch(kit: Kit) -> dict[str, Path]:
    """Return the folder of each suite's packages, fetched if it is not there."""
    suites = ("sid",) if kit.quick else ("bookworm", "sid")
    return {suite: unpacked(kit.kept / suite, suite, "amd64", ["pypy3"]) for suite in suites}


def rows(kit: Kit) -> Iterator[Row]:
    """Yield a row for each version."""
    for suite, root in fetch(kit).items():
        python = runnable(root, "amd64", "usr/bin/pypy3")
        ran = kit.run([python], *kit.sample)
        version = ran.python.partition(", ")[0]
        yield Row(version, f"Debian {suite}, unpacked", f"{ran.answers:,} answers")
