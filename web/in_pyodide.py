"""Runs in Pyodide while the page is built: compiles what a browser loads, and finds what it needs.

``compile.mjs`` mounts two folders for it: ``/code``, with our sources, and ``/library``, which is
empty. Of the standard library only what the page can import is taken: to load all of it, and to
compile it in the browser, took longer than anything else. ``/code/first.json`` gets the names of
the files that a count needs, which are loaded before the others.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import py_compile
import sys
import zipfile
from itertools import product
from pathlib import Path
from typing import Any

CODE, LIBRARY = Path("/code"), Path("/library")
#: Codecs are imported by the names of encodings, which no import statement has.
_CODECS = (
    *("ascii", "cp437", "latin_1", "raw_unicode_escape", "unicode_escape", "utf_8_sig"),
    *("utf_16", "utf_16_be", "utf_16_le", "utf_32", "utf_32_be", "utf_32_le"),
)
#: With what is encoded by ways of its own: special tokens, and letters without an end.
_TEXTS = ("Hello, wörld 1234 世界 <|endoftext|>\n" * 50, "x" * 5_000, " \n" * 5_000)


def main() -> None:
    """Write what the browser loads in place of the sources."""
    archive = next(Path(path) for path in sys.path if path.endswith(".zip"))
    sys.path.insert(0, str(CODE))
    # Where it runs, the folder counting_page is beside the package.
    _count(importlib.import_module("counting_page.desk").Desk())
    first = [path for path in map(_path_of, list(sys.modules)) if path and CODE in path.parents]
    (CODE / "first.json").write_text(
        json.dumps(sorted(f"{path.relative_to(CODE)}c" for path in first)), "utf-8"
    )
    start = _of_library(archive)
    _import_all()
    _take_library(archive, start)
    for path in CODE.rglob("*.py"):
        _compile(path, path.relative_to(CODE), Path(f"{path}c"))
        path.unlink()


def _count(desk: Any) -> None:
    """Do all that counts and shows a text by the encodings that are published as ranks."""
    from compat_bpe.encodings.published import PUBLISHED

    for key, special, text in product(PUBLISHED, (False, True), _TEXTS):
        for question in (
            {"ask": "choose", "keys": [key], "special": special},
            {"ask": "edit", "start": 0, "end": 0, "text": text},
            {"ask": "edit", "start": 9, "end": 11, "text": "y 世"},
            {"ask": "blocks", "ranges": [[0, len(text)]]},
            {"ask": "cut", "column": 0, "limit": 3},
            {"ask": "part", "start": 0, "end": len(text)},
            {"ask": "edit", "start": 0, "end": len(text) + 1, "text": ""},
        ):
            answer = json.loads(desk.answer(json.dumps(question)))
            if "error" in answer:
                raise ValueError(f"{question}: {answer['error']}")


def _import_all() -> None:
    """Import all of our modules, and all that any of them imports somewhere."""
    for path in sorted(CODE.rglob("*.py")):
        name = ".".join(path.relative_to(CODE).with_suffix("").parts)
        wanted = {name.removesuffix(".__init__")} - {"compat_bpe.__main__"}
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                wanted.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                wanted.add(node.module)
        for one in sorted(wanted):
            try:
                importlib.import_module(one)
            except ImportError:  # of another system, or a package that a browser has not
                continue
    for codec in _CODECS:
        importlib.import_module(f"encodings.{codec}")


def _path_of(module: str) -> Path | None:
    found = getattr(sys.modules[module], "__file__", None)
    return Path(found) if found else None


def _of_library(archive: Path) -> set[str]:
    """Return the names in the archive of the modules that are imported."""
    paths = filter(None, map(_path_of, list(sys.modules)))
    return {path.relative_to(archive).as_posix() for path in paths if archive in path.parents}


def _take_library(archive: Path, start: set[str]) -> None:
    """Compile what the page can import of the library, beside our code if nothing starts with it.

    Args:
        archive: the library as Pyodide has it.
        start: the names of what Python starts with; a package stays in one place.
    """
    packages = {name.partition("/")[0] for name in start if "/" in name}
    with zipfile.ZipFile(archive) as zipped:
        # What is Pyodide's own is small, and some of it is imported by JavaScript.
        own = [one for one in zipped.namelist() if one.startswith(("pyodide/", "_pyodide/"))]
        for name in {*own, *_of_library(archive)}:
            if name.endswith(".py"):
                source = Path(zipped.extract(name, "/sources"))
                is_early = name in start or name.partition("/")[0] in packages
                _compile(source, Path(name), (LIBRARY if is_early else CODE) / f"{name}c")


def _compile(source: Path, shown: Path, compiled: Path) -> None:
    compiled.parent.mkdir(parents=True, exist_ok=True)
    # Pyodide reads docstrings of its own when it starts.
    keeps_docstrings = shown.parts[0] in {"pyodide", "_pyodide"}
    py_compile.compile(
        os.fspath(source),
        os.fspath(compiled),
        os.fspath(shown),
        doraise=True,
        optimize=1 if keeps_docstrings else 2,
        invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
    )


main()
