"""Natural texts: the corpora beside the repository or its own pages, and the standard library."""

from __future__ import annotations

import os
import sysconfig
from functools import cache
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]

#: The folder of the corpora, which need not be there.
CORPORA = _ROOT.parent / "shared" / "corpora"

#: Files of natural text in UTF-8; there are some in any checkout.
TEXTS = sorted(path for path in CORPORA.glob("*.*") if path.is_file()) or sorted(
    (_ROOT / "docs").glob("*.md")
)

#: The sources of the standard library that are in no folder.
SOURCES = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))

#: How much of a corpus is compared, in characters, and how many sources.
PARTS = [8_000, pytest.param(None, marks=pytest.mark.sweep, id="whole")]


def read(path: Path) -> str:
    with path.open(encoding="utf-8", newline="") as file:
        return file.read()


@cache
def _sources_by_size() -> list[Path]:
    """The sources of the standard library."""
    found = []
    for folder, folders, names in os.walk(sysconfig.get_path("stdlib")):
        if "site-packages" in folders:
            folders.remove("site-packages")
        found += [Path(folder, name) for name in names if name.endswith(".py")]
    return sorted(found, key=lambda path: (path.stat().st_size, path))


def standard_library(number: int) -> list[str]:
    """About so many sources, of all sizes: every nth of those that are UTF-8, by size."""
    by_size = _sources_by_size()
    texts = []
    for path in by_size[:: max(1, len(by_size) // number)]:
        try:
            texts.append(read(path))
        except UnicodeDecodeError:  # those that test the decoders
            continue
    return texts


def natural_texts() -> dict[str, list[str]]:
    """Texts to learn from, by their titles: the standard library, and corpora that are there."""
    found = {"standard library": [path.read_text("utf-8") for path in SOURCES[:60]]}
    for name in ("udhr.txt", "chinese_classical.txt"):
        if (CORPORA / name).exists():
            found[name] = (CORPORA / name).read_text("utf-8")[:60_000].splitlines(keepends=True)
    return found
