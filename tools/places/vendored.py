"""A copy of the package in another one, under another name."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator

from .kit import Kit, Row


def rows(kit: Kit) -> Iterator[Row]:
    """Yield the row."""
    folder = kit.folder("vendored")
    vendor = folder / "plugin" / "_vendor"
    shutil.copytree(kit.site / "compat_bpe", vendor / "tokens")
    for package in (folder / "plugin", vendor):
        (package / "__init__.py").touch()
    # A pickle has the name of the package in it.
    ran = kit.run(
        [sys.executable],
        *("--package", "plugin._vendor.tokens"),
        path=[folder, *kit.libraries],
        exchange=False,
    )
    yield Row("a copy under another name", ran.python.split(",")[0], f"{ran.answers:,} answers")
