"""Every CPython from 3.9 that is found here: of pyenv, or on the path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import environ, pathsep
from pathlib import Path

from .kit import Kit, PlaceError, Row, output

_VERSION = "import sys; print('%d.%d.%d' % sys.version_info[:3], sys.implementation.name)"


def found() -> dict[str, Path]:
    """Return the Pythons by their version without the last part, the lowest first."""
    pythons: dict[str, Path] = {}
    folders = [
        *Path.home().glob(".pyenv/versions/*/bin"),
        *map(Path, environ["PATH"].split(pathsep)),
    ]
    for folder in folders:
        for path in sorted(folder.glob("python3*")):
            if not re.fullmatch(r"python3(\.\d+)?", path.name):
                continue
            try:
                version, name = output([path, "-I", "-c", _VERSION], 60).split()
            except (PlaceError, ValueError):
                continue  # a shim without a Python behind it
            minor = version.rpartition(".")[0]
            if name == "cpython" and int(minor.partition(".")[2]) >= 9:
                pythons.setdefault(minor, path)
    return dict(sorted(pythons.items(), key=lambda item: int(item[0].partition(".")[2])))


def rows(kit: Kit) -> Iterator[Row]:
    """Yield a row for each version."""
    for path in found().values():
        ran = kit.run([path, "-W", "error"])
        version = ran.python.split(",")[0]
        had = "pyenv" if ".pyenv" in path.parts else "this machine's"
        yield Row(version, had, f"{ran.answers:,} answers, warnings as errors")
