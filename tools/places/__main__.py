"""Run the portable tests (tests/portable) at each place, and print a row of the table for it.

    python -m tools.places [--quick] [--write] [NAME ...]

A place is had from the registries: PyPI, npm, and Debian's packages, which are unpacked into a
folder and not installed.  That folder is kept: COMPAT_BPE_PLACES names it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from .kit import Kit, PlaceError, Row
from .table import write_rows

#: The scripts, in the order of the table.
SCRIPTS = (
    *("cpython", "cpython_new", "free_threaded", "pypy", "pyodide", "pyinstaller", "nuitka"),
    *("zips", "vendored", "read_only", "flags", "consoles", "emulated", "musl"),
)

#: Those that take minutes or hours.
SLOW = ("free_threaded", "nuitka", "musl")


def rows_of(name: str, kit: Kit) -> Iterator[Row]:
    """Run a script, and yield its rows."""
    found: Iterator[Row] = import_module(f".{name}", __package__).rows(kit.script(name))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.places", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(SCRIPTS)}")
    parser.add_argument(
        "--quick", action="store_true", help="samples of those that take under a minute"
    )
    parser.add_argument("--write", action="store_true", help="write the rows into the page")
    options = parser.parse_args()
    for name in options.names:
        if name not in SCRIPTS:
            parser.error(f"there is no place {name}; there are {', '.join(SCRIPTS)}")
    kept = Path(
        os.environ.get("COMPAT_BPE_PLACES")
        or os.path.join(tempfile.gettempdir(), "compat_bpe_places")
    )
    kit = Kit(kept, options.quick)
    status = 0
    for name in options.names or SCRIPTS:
        if options.quick and name in SLOW:
            continue
        started = time.perf_counter()
        try:
            for row in rows_of(name, kit):
                seconds = time.perf_counter() - started
                print(f"{name}: {' | '.join(row)} ({seconds:.0f} s)", flush=True)
                if options.write:
                    write_rows([row])
                started = time.perf_counter()
        except PlaceError as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
            status = 1
    kit.close()
    return status


if __name__ == "__main__":
    sys.exit(main())
