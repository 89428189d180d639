"""Files of text, and how much of them is compared."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

#: How much of a corpus is compared, in characters, and how many sources.
PARTS = [8_000, pytest.param(None, marks=pytest.mark.sweep, id="whole")]


def read(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


def standard_library(number: int) -> list[str]:
    """About so many sources, of all sizes: every nth of those that are UTF-8, by size."""
    folder = Path(sysconfig.get_path("stdlib"))
    paths = (path for path in folder.rglob("*.py") if "site-packages" not in path.parts)
    by_size = sorted((path.stat().st_size, path) for path in paths)
    texts = []
    for _, path in by_size[:: max(1, len(by_size) // number)]:
        try:
            texts.append(read(path))
        except UnicodeDecodeError:  # those that test the decoders
            continue
    return texts
