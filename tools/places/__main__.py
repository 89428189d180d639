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
from pathlib import Path
from threading import Lock

from .kit import Kit, PlaceError, write_row
from .table import PLACES

_WRITING = Lock()


def run(name: str, kit: Kit, write: bool) -> bool:
    """Run the tests at a place, and print its rows; return False if anything is wrong there."""
    started = time.perf_counter()
    try:
        for row in PLACES[name].rows(kit.of_place(name)):
            seconds = time.perf_counter() - started
            print(f"{name}: {' | '.join(row)} ({seconds:.0f} s)", flush=True)
            if write:
                with _WRITING:
                    write_row(row)
            started = time.perf_counter()
    except PlaceError as error:
        print(f"{name}: {error}", file=sys.stderr, flush=True)
        return False
    return True


def fetch() -> None:
    """Fetch what a quick run takes of Debian and npm, so that it needs neither."""
    kit = Kit(_kept(), quick=True)
    for name, place in PLACES.items():
        if place.fetched is not None:
            place.fetched(kit.of_place(name))
    kit.close()


def _kept() -> Path:
    named = os.environ.get("COMPAT_BPE_PLACES")
    return Path(named or os.path.join(tempfile.gettempdir(), "compat_bpe_places"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.places", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(PLACES)}")
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
        if name not in PLACES:
            parser.error(f"there is no place {name}; there are {', '.join(PLACES)}")
    kit = Kit(_kept(), options.quick)
    names = options.names or [*PLACES]
    if options.anywhere:
        names = [name for name in names if PLACES[name].anywhere]
    if options.quick:
        names = [name for name in names if not PLACES[name].slow]
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
