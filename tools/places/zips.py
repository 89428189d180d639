"""The wheel itself on the path, and a program in one zip."""

from __future__ import annotations

import shutil
import sys
import zipapp
from collections.abc import Iterator

from .kit import PORTABLE, Kit, Row


def rows(kit: Kit) -> Iterator[Row]:
    """Yield the rows."""
    ran = kit.run([sys.executable], path=[kit.wheel, *kit.libraries])
    yield Row(
        "the wheel as a zip on `sys.path`", ran.python.split(",")[0], f"{ran.answers:,} answers"
    )

    program = kit.folder("program")
    shutil.copytree(kit.site, program, dirs_exist_ok=True)
    shutil.copytree(PORTABLE, program / "portable")
    zipped = program.with_suffix(".pyz")
    zipapp.create_archive(program, zipped, main="portable.run:main", compressed=True)
    ran = kit.run_program([sys.executable, "-I", "-S", zipped], workers=True)
    yield Row("a zipapp", ran.python.split(",")[0], f"{ran.answers:,} answers")
