"""Run the tests that are portable, and say what was found.

They need nothing but Python, the package, and for the command click.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import command, drop_in, files, fitting, golden, pickles, streams, training, workers
from .place import STORED, Check, Place, Test

#: The tests, by their names.
TESTS: dict[str, Test] = {
    f"{test.__module__.rpartition('.')[2]}.{test.__name__}": test
    for test in (
        *(golden.encodings, golden.tokenizers, golden.sentencepiece),
        *(files.loaded, files.saved, files.trained),
        *(fitting.cuts, fitting.prompts, fitting.documents),
        *(streams.encoded, streams.decoded),
        *(training.learned, training.sentencepiece, training.counted),
        *(workers.batches, workers.processes, workers.threads),
        *(drop_in.in_place_of_tiktoken, drop_in.own_name),
        *(pickles.own, pickles.exchanged),
        *(command.counts, command.texts, command.trained, command.listings),
    )
}

ANSWERS = "portable.json"


class Run:
    """A run of tests at a place.

    Args:
        place: the place.
        writing: True to store the answers instead of comparing them.
    """

    def __init__(self, place: Place, writing: bool = False) -> None:
        self._place = place
        self._stored: dict[str, dict[str, Any]] = {} if writing else place.fixture(ANSWERS)
        self._writing = writing
        #: The number of answers that were compared.
        self.checks = 0
        #: The differences, a line each.
        self.failures: list[str] = []

    def test(self, name: str) -> None:
        """Run a test in a folder of its own."""
        before = len(self.failures)
        started = time.perf_counter()
        with tempfile.TemporaryDirectory(dir=self._place.folder) as folder:
            try:
                for check in TESTS[name](self._place._replace(folder=Path(folder))):
                    self._compare(name, check)
            except Exception:
                self.failures.append(f"{name}: {traceback.format_exc()}")
        verdict = "failed" if len(self.failures) > before else "passed"
        print(f"{name}: {verdict} ({time.perf_counter() - started:.1f} s)", flush=True)

    def write(self) -> None:
        """Store the answers, one line for each question."""
        lines = []
        for name, answers in self._stored.items():
            rows = ",\n  ".join(f"{json.dumps(key)}: {json.dumps(answers[key])}" for key in answers)
            lines.append(f" {json.dumps(name)}: {{\n  {rows}\n }}")
        path = self._place.fixtures / ANSWERS
        path.write_bytes(("{\n" + ",\n".join(lines) + "\n}\n").encode())

    def _compare(self, name: str, check: Check) -> None:
        self.checks += 1
        # Tuples and lists are the same, as they are in JSON.
        found = json.loads(json.dumps(check.found))
        if check.expected is not STORED:
            expected = json.loads(json.dumps(check.expected))
        elif self._writing:
            expected = self._stored.setdefault(name, {})[check.question] = found
        else:
            expected = self._stored.get(name, {}).get(check.question, "nothing is stored")
        if found != expected:
            self.failures.append(
                f"{name}: {check.question}:\n  found    {found!a}\n  expected {expected!a}"
            )


def described() -> str:
    """Return the name and version of this Python, and the machine's kind."""
    version = ".".join(map(str, sys.version_info[:3]))
    name = platform.python_implementation()
    if name == "PyPy":
        name, version = "PyPy", f"{'.'.join(map(str, _pypy_version()))} (Python {version})"
    threaded = "" if getattr(sys, "_is_gil_enabled", lambda: True)() else " without a GIL"
    order = "" if sys.byteorder == "little" else ", big endian"
    bits = 64 if sys.maxsize > 2**32 else 32
    return f"{name} {version}{threaded}, {platform.machine()}, {bits} bits{order}"


def _pypy_version() -> tuple[int, ...]:
    found: tuple[int, ...] = getattr(sys, "pypy_version_info", ())[:3]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all tests, or those that are named; return the exit status."""
    parser = argparse.ArgumentParser(prog="portable", description=__doc__)
    default = Path(__file__).resolve().parents[2] / "fixtures"
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(TESTS)}")
    parser.add_argument("--package", default="compat_bpe", help="the package's name here")
    parser.add_argument("--fixtures", type=Path, default=default, help="the project's fixtures")
    parser.add_argument("--folder", type=Path, help="an existing folder for temporary files")
    parser.add_argument("--every", type=int, default=1, help="take one of N golden cases")
    parser.add_argument("--workers", choices=["yes", "no"], help="fail if it is otherwise")
    parser.add_argument("--pickles-from", type=Path, help="pickles of another Python")
    parser.add_argument("--pickles-to", type=Path, help="a folder for pickles")
    parser.add_argument("--write", action="store_true", help="store the answers")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        place = Place(
            options.package,
            options.fixtures,
            Path(os.path.realpath(folder)),
            options.every,
            options.pickles_from,
            options.pickles_to,
        )
        print(described(), flush=True)
        run = Run(place, options.write)
        names = options.names or list(TESTS)
        for name in names:
            run.test(name)
        has_workers = "yes" if workers.workers_start(place) else "no"
    print(f"worker processes: {has_workers}")
    if options.workers and options.workers != has_workers:
        run.failures.append(f"worker processes: expected {options.workers}")
    if options.write:
        run.write()
    print(*run.failures, sep="\n")
    print(f"{run.checks} answers, {len(run.failures)} wrong")
    return 1 if run.failures else 0
