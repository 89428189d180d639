"""Attack the package with random hostile input, each kind for its share of the time.

    python -m tools.attack [--seconds 60] [--seed N] [--case N] [NAME ...]

An attack is a module of this folder. Its function ``attack(random)`` makes one case, tries it, and
raises ``AssertionError`` if a promise of ``SECURITY.md`` does not hold. A case is drawn from the
seed, the name and its number, so any one can be tried again: ``--seed 7 --case 123 NAME``. Each
attack runs in a process of its own, which is killed when a case takes more than its seconds, and
which is given no more than its memory (``SECONDS`` and ``MEMORY`` of the module, or those of
``_cases.py``).
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from ._cases import attack, try_case

#: The modules of this folder that are attacks.
NAMES = sorted(
    path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")
)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.attack",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("--seconds", type=float, default=60, help="for all of them together")
    parser.add_argument("--seed", type=int, default=None, help="another one each time by default")
    parser.add_argument("--case", type=int, default=None, help="this one alone, in this process")
    args = parser.parse_args()
    names = args.names or NAMES
    unknown = sorted(set(names) - set(NAMES))
    if unknown:
        parser.error(f"no attack {', '.join(unknown)}; there are {', '.join(NAMES)}")
    seed = args.seed if args.seed is not None else time.time_ns() // 1000 % 1_000_000
    if args.case is not None:
        for name in names:
            try_case(name, seed, args.case)
        return 0
    failed = 0
    for name in names:
        right, wrong = attack(name, seed, args.seconds / len(names))
        print(f"{name}: {right:,} cases of seed {seed}", flush=True)
        if wrong is not None:
            failed += 1
            print(f"{name}: --seed {seed} --case {right}: {wrong}", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
