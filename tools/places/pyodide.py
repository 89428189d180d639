"""Pyodide, which is CPython compiled to WebAssembly, in Node.js."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

from .kit import ROOT, Kit, Row, need, output

VERSIONS = ("0.29.4", "314.0.7")

_SCRIPT = Path(__file__).with_suffix(".mjs")


def package(kit: Kit, version: str) -> Path:
    """Return the folder of a version of npm's package, without the packages that it can load."""
    folder = kit.kept / version
    if not (folder / "complete").exists():
        folder.mkdir(exist_ok=True)
        npm = need("npm", "fetches Pyodide")
        fetch = [npm, "pack", "--silent", "--ignore-scripts", f"pyodide@{version}"]
        output(fetch, 300, cwd=folder)
        with tarfile.open(next(folder.glob("*.tgz"))) as archive:
            for member in archive:
                if member.isfile() and ".." not in Path(member.name).parts:
                    archive.extract(member, folder)
        (folder / "complete").touch()
    return folder / "package"


def fetch(kit: Kit) -> dict[str, Path]:
    """Return the folder of each version, fetched if it is not there."""
    versions = VERSIONS[-1:] if kit.quick else VERSIONS
    return {version: package(kit, version) for version in versions}


def rows(kit: Kit) -> Iterator[Row]:
    """Yield a row for each version."""
    node = need("node", "runs Pyodide")
    for version, folder in fetch(kit).items():
        ran = kit.run(
            [node, _SCRIPT, folder],
            flag="",
            more=[ROOT, kit.work],
            workers=False,
            environment=kit.plain(TMPDIR=str(kit.work)),
        )
        python = ran.python.split(",")[0]
        yield Row(f"Pyodide in Node.js {version}", f"npm, {python}", f"{ran.answers:,} answers")
