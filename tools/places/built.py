"""CPython built from the source that Debian has, with settings of its own."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from .debian import fetched_source
from .kit import PlaceError, Word, need, output

SUITE = "trixie"


def source(folder: Path, package: str) -> Path:
    """Return the unpacked source of a package, without Debian's own changes."""
    unpacked = folder / "unpacked"
    if not (unpacked / "complete").exists():
        archives = fetched_source(folder, SUITE, package)
        found = sorted(archives.glob("*.orig.tar.*z"))
        if not found:
            raise PlaceError(f"the source of {package} has no archive")
        with tarfile.open(found[0]) as archive:
            archive.extractall(unpacked, filter="data")
        (unpacked / "complete").touch()
    return next(path for path in unpacked.iterdir() if path.is_dir())


def python(
    folder: Path,
    name: str,
    flags: Sequence[Word] = (),
    environment: Mapping[str, str] | None = None,
) -> Path:
    """Return a Python that was built here, or build it, which takes some minutes.

    Args:
        folder: a folder for it, which is kept.
        name: the name of its program, such as ``"python3.13"``.
        flags: the flags of ``configure``.
        environment: variables for ``configure``, such as the compiler.
    """
    program = folder / "installed" / "bin" / name
    if program.exists():
        return program
    for tool in ("gcc", "make"):
        need(tool, "builds CPython")
    build = folder / "build"
    build.mkdir(exist_ok=True)
    env = {**os.environ, **(environment or {})}
    configure = source(folder / "source", "python3.13") / "configure"
    own = [f"--prefix={folder / 'installed'}", "--without-ensurepip", "--disable-test-modules"]
    output([configure, *own, *flags], 1800, cwd=build, env=env)
    output(["make", f"-j{os.cpu_count()}"], 7200, cwd=build, env=env)
    output(["make", "install"], 1800, cwd=build, env=env)
    if not program.exists():
        raise PlaceError(f"{program} was not built")
    return program
