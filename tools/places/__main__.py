"""Run the portable tests (tests/portable) at each place, and print a row of the table for it.

    python -m tools.places [--quick] [--anywhere] [--write] [--jobs N] [NAME ...]

A place is had from the registries: PyPI, npm, and Debian's packages, which are unpacked into a
folder and not installed. That folder is kept: COMPAT_BPE_PLACES names it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Lock

from .kit import Kit, PlaceError
from .table import write_rows

#: The scripts, in the order of the table.
SCRIPTS = (
    *("cpython", "cpython_new", "free_threaded", "pypy", "pyodide", "pyinstaller", "nuitka"),
    *("zips", "vendored", "read_only", "flags", "consoles", "emulated", "musl"),
)

#: Those that need nothing of Debian: they run on other systems, too.
ANYWHERE = ("cpython", "pyodide", "pyinstaller", "zips", "vendored", "flags", "consoles")

#: Those that take minutes or hours.
SLOW = ("free_threaded", "nuitka", "musl")

_WRITING = Lock()


def run(name: str, kit: Kit, write: bool) -> bool:
    """Run a script, and print its rows; return False if anything is wrong at its places."""
    started = time.perf_counter()
    try:
        for row in import_module(f".{name}", __package__).rows(kit.script(name)):
            seconds = time.perf_counter() - started
            print(f"{name}: {' | '.join(row)} ({seconds:.0f} s)", flush=True)
            if write:
                with _WRITING:
                    write_rows([row])
            started = time.perf_counter()
    except PlaceError as error:
        print(f"{name}: {error}", file=sys.stderr, flush=True)
        return False
    return True


def fetch() -> None:
    """Fetch what a quick run takes of Debian and npm, so that it needs neither."""
    kit = Kit(_kept(), quick=True)
    for name in ("cpython_new", "pypy", "pyodide", "emulated"):
        import_module(f"tools.places.{name}").fetch(kit.script(name))
    kit.close()


def _kept() -> Path:
    named = os.environ.get("COMPAT_BPE_PLACES")
    return Path(named or os.path.join(tempfile.gettempdir(), "compat_bpe_places"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.places", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(SCRIPTS)}")
    parser.add_argument(
        "--quick", action="store_true", help="samples of those that take under a minute"
    )
    parser.add_argument(
        "--anywhere", action="store_true", help="only those that need no package of Debian"
    )
    parser.add_argument("--write", action="store_true", help="write the rows into the page")
    parser.add_argument("--jobs", type=int, default=1, help="run so many at the same time")
    options = parser.parse_args()
    for name in options.names:
        if name not in SCRIPTS:
            parser.error(f"there is no place {name}; there are {', '.join(SCRIPTS)}")
    kit = Kit(_kept(), options.quick)
    names = options.names or SCRIPTS
    if options.anywhere:
        names = [name for name in names if name in ANYWHERE]
    if options.quick:
        names = [name for name in names if name not in SLOW]
    try:
        kit.prepare()
        with ThreadPoolExecutor(options.jobs) as pool:
            is_right = list(pool.map(partial(run, kit=kit, write=options.write), names))
    except PlaceError as error:
        print(f"nothing could be run: {error}", file=sys.stderr)
        return 1
    finally:
        kit.close()
    print(f"{sum(is_right)} passed, {len(is_right) - sum(is_right)} failed")
    return 0 if all(is_right) else 1


if __name__ == "__main__":
    sys.exit(main())
