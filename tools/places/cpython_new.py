"""The newest CPythons, 3.14 and later, of Debian's next release (sid)."""

from __future__ import annotations

from collections.abc import Iterator

from .debian import runnable, unpacked
from .kit import Kit, Row


def rows(kit: Kit) -> Iterator[Row]:
    """Yield a row for each version."""
    for minor in ("3.14", "3.15"):
        root = unpacked(kit.kept / minor, "sid", "amd64", [f"python{minor}"])
        python = runnable(root, "amd64", f"usr/bin/python{minor}")
        ran = kit.run([python, "-W", "error"])
        version = ran.python.split(",")[0]
        yield Row(version, "Debian sid, unpacked", f"{ran.answers:,} answers, warnings as errors")
