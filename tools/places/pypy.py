"""PyPy, as Debian has it: the one of bookworm, and the newest."""

from __future__ import annotations

from collections.abc import Iterator

from .debian import runnable, unpacked
from .kit import Kit, Row


def rows(kit: Kit) -> Iterator[Row]:
    """Yield a row for each version."""
    for suite in ("sid",) if kit.quick else ("bookworm", "sid"):
        root = unpacked(kit.kept / suite, suite, "amd64", ["pypy3"])
        python = runnable(root, "amd64", "usr/bin/pypy3")
        ran = kit.run([python], *kit.sample)
        version = ran.python.partition(", ")[0]
        yield Row(version, f"Debian {suite}, unpacked", f"{ran.answers:,} answers")
