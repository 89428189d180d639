"""A program in one file, by PyInstaller; no flag says what the package needs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .kit import PORTABLE, Kit, Row, Word, output

VERSION = "6.22.3"

PROGRAM = Path(__file__).with_name("frozen.py")


def rows(kit: Kit) -> Iterator[Row]:
    """Yield the row."""
    python = kit.environment(f"pyinstaller=={VERSION}")
    folder = kit.folder("pyinstaller")
    flags: list[Word] = [
        "--onefile",
        "--noconfirm",
        "--log-level",
        "ERROR",
        "--paths",
        PORTABLE.parent,
    ]
    output([python, "-m", "PyInstaller", *flags, PROGRAM], 900, cwd=folder, env=kit.plain())
    program = folder / "dist" / "frozen"
    ran = kit.run_program([program], folder=folder)
    yield Row(
        f"a program in one file, by PyInstaller {VERSION}",
        f"PyPI, {ran.python.split(',')[0]}",
        f"{ran.answers:,} answers",
    )
