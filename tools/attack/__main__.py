"""Attack the package with random hostile input, each kind for its share of the time.

    python -m tools.attack [--seconds 60] [--seed N] [--case N] [NAME ...]

An attack is a module of this folder.  Its function ``attack(random)`` makes one case, tries it, and
raises ``AssertionError`` if a promise of ``SECURITY.md`` does not hold.  A case is drawn from the
seed, the name and its number, so any one can be run again: ``--seed 7 --case 123 NAME``.  Each
attack runs in a process of its own, which is killed when a case takes more than its seconds or its
memory (``SECONDS`` and ``MEMORY`` of the module, or those of here).
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from importlib import import_module
from pathlib import Path

from ._cases import case, try_cases

#: The modules of this folder that are attacks.
NAMES = sorted(
    path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")
)

#: The seconds that a case may take where the attack does not say.
SECONDS = 20


def attack(name: str, seed: int, seconds: float, first: int = 0) -> tuple[int, str | None]:
    """Run an attack for some seconds; return the number of its cases and what went wrong."""
    limit = getattr(import_module(f".{name}", __package__), "SECONDS", SECONDS)
    here, there = multiprocessing.Pipe(duplex=False)
    ends = time.monotonic() + seconds
    process = multiprocessing.get_context("spawn").Process(
        target=try_cases, args=(name, seed, first, ends, there)
    )
    process.start()
    there.close()
    number = first
    try:
        # A first case also waits until the process has started.
        while here.poll(limit + (60 if number == first else 0)):
            try:
                said = here.recv()
            except EOFError:
                return number - first, f"case {number}: the process died"
            if said is None:
                return number + 1 - first, None
            if isinstance(said, str):
                return number - first, f"case {number}: {said}"
            number = said
        return number - first, f"case {number}: it takes more than {limit} seconds"
    finally:
        process.kill()
        process.join()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.attack", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("--seconds", type=float, default=60, help="for all of them together")
    parser.add_argument("--seed", type=int, default=None, help="a new one by default")
    parser.add_argument("--case", type=int, default=None, help="this case alone, in this process")
    args = parser.parse_args()
    names = args.names or NAMES
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        parser.error(f"no attack {', '.join(unknown)}; there are {', '.join(NAMES)}")
    seed = args.seed if args.seed is not None else time.time_ns() % 1_000_000
    if args.case is not None:
        for name in names:
            case(name, seed, args.case)
        return 0
    failed = 0
    for name in names:
        cases, wrong = attack(name, seed, args.seconds / len(names))
        print(f"{name}: seed {seed}: {cases:,} cases" + (f", {wrong}" if wrong else ""), flush=True)
        failed += wrong is not None
    # The closing line that says how many ran.
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
