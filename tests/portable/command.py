"""The command, in this process: what it prints, and what it writes."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .place import CORPUS, TEXT, Check, Place, digest


class _Streams:
    """Standard input, output and error, of bytes that are kept."""

    def __init__(self, given: bytes) -> None:
        self.kept = io.BytesIO(), io.BytesIO()
        self._own = sys.stdin, sys.stdout, sys.stderr
        sys.stdin = io.TextIOWrapper(io.BytesIO(given), "utf-8")
        # A pipe on Windows has other newlines: those that the command writes must be its own.
        sys.stdout, sys.stderr = (io.TextIOWrapper(kept, "utf-8") for kept in self.kept)

    def restore(self) -> list[str]:
        sys.stdout.flush()
        sys.stderr.flush()
        printed = [kept.getvalue().decode() for kept in self.kept]
        sys.stdin, sys.stdout, sys.stderr = self._own
        return printed


#: A path of these tests. On Windows it has backslashes, and in JSON each of them twice.
_PATH = re.compile(r"(?:corpus|vocabulary|part-)[\w./\\-]*")


def run(place: Place, *args: object, given: str = "") -> list[Any]:
    """Run the command in the folder; return its exit status, its output and its errors.

    Paths are relative, since their length is seen in tables.
    """
    command = place.module("cli").cli
    before = os.getcwd()
    os.chdir(place.folder)
    streams = _Streams(given.encode())
    status: object = None
    try:
        command(list(map(str, args)), prog_name="compat-bpe")
    except SystemExit as stop:
        status = stop.code
    finally:
        printed = streams.restore()
        os.chdir(before)
    return [status or 0, *(_PATH.sub(_shown, text) for text in printed)]


def _shown(found: re.Match[str]) -> str:
    """Return a path as it is the same everywhere."""
    return re.sub(r"\\+", "/", found[0])


@contextmanager
def corpus(place: Place) -> Iterator[Path]:
    """A folder with a few files in it, as a path in the place's folder."""
    place.write("corpus/one.txt", TEXT)
    place.write("corpus/sub/two.txt", "\n".join(CORPUS))
    place.write("corpus/sub/.hidden", "hidden")
    place.write("corpus/.gitignore", "*.log\n")
    place.write("corpus/sub/x.log", "ignored")
    yield Path("corpus")


def counts(place: Place) -> Iterator[Check]:
    with corpus(place) as folder:
        for options in (["--json"], ["--tree"], ["-m", "gpt-4"], ["--sort", "tokens"]):
            yield Check(f"count {options}", run(place, "count", *options, folder))
        yield Check("no file", run(place, "count", folder / "none"))
        yield Check("limit", run(place, "count", "--limit", 3, folder / "one.txt"))
    yield Check("input", run(place, "count", given=TEXT))


def texts(place: Place) -> Iterator[Check]:
    status, ids, errors = run(place, "encode", "-e", "o200k_base", given=TEXT)
    yield Check("encode", [status, ids, errors])
    yield Check("decode", run(place, "decode", "-e", "o200k_base", given=ids), [0, TEXT, ""])
    yield Check("truncate", run(place, "truncate", "-n", 7, given=TEXT))
    yield Check("show", run(place, "show", "--ids", given=TEXT))
    # Slices, since a place may have other line ends on its screen.
    written = run(place, "split", "-n", 9, "-o", "part-", given=TEXT)
    parts = sorted(place.folder.glob("part-*"))
    joined = b"".join(path.read_bytes() for path in parts).decode()
    yield Check("split", [written, len(parts)])
    yield Check("joined", joined, TEXT)


def trained(place: Place) -> Iterator[Check]:
    with corpus(place) as folder:
        target = Path("vocabulary")
        yield Check("train", run(place, "train", "-n", 300, "-o", target, folder))
        for path in sorted((place.folder / target).iterdir()):
            if path.name != "manifest.json":  # it has the version of the package in it
                yield Check(path.name, digest(path.read_bytes()))
        yield Check("count", run(place, "count", "-e", target, folder))
        yield Check("report", run(place, "report", "-e", target, folder))


def listings(place: Place) -> Iterator[Check]:
    yield Check("encodings", run(place, "encodings"))
    yield Check("models", run(place, "models", "gpt-4o"))
    yield Check("unknown", run(place, "count", "-e", "none", given="")[0])
    commands = place.module("cli").cli.list_commands(None)
    # The words of the help are in docstrings, which -OO takes away; so the status is what counts.
    for name in ("", *commands):
        status, printed, errors = run(place, *([name] if name else []), "--help")
        yield Check(f"help {name}", [status, printed[:6], errors])
