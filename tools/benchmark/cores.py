"""One core and two: a tree of sources, and one large text, in CPU time and on the clock."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

#: Bytes of the tree, and of the large text.
TREE = 36_000_000
TEXT = 16_000_000

#: Folders with sources, the ends of their names, and the most bytes of each.
_SOURCES = (
    (sysconfig.get_path("stdlib"), (".py",), 18_000_000),
    ("/usr/lib/node_modules", (".js", ".md", ".json"), 7_000_000),
    ("/usr/share/vim", (".vim",), 5_000_000),
    ("/usr/include", (".h", ".hpp"), TREE),
)

#: What a script with tiktoken does with a tree.
_TREE_WITH_TIKTOKEN = """
import os, sys, tiktoken
encoding = tiktoken.get_encoding({name!r})
total = 0
for folder, _, names in os.walk(sys.argv[1]):
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
            total += len(encoding.encode_ordinary(file.read()))
print(total)
"""

_BATCH_OF_ONE = """
import sys
from compat_bpe import get_encoding
with open(sys.argv[1], encoding="utf-8", newline="") as file:
    text = file.read()
print(*map(len, get_encoding({name!r}).encode_ordinary_batch([text], num_threads={cores})))
"""


class Taken(NamedTuple):
    """What a command takes: CPU time with its processes, and time on the clock, in seconds."""

    cpu: float
    clock: float


def rows(name: str, rounds: int) -> dict[str, dict[str, Taken]]:
    """Return the times of each task in each way, the ways taking turns; medians.

    Raises:
        SystemExit: two ways have different results.
    """
    command = [sys.executable, "-m", "compat_bpe"]
    with tempfile.TemporaryDirectory() as folder:
        tree, text = Path(folder, "tree"), Path(folder, "text")
        text.write_bytes(_write_tree(tree)[:TEXT].decode("utf-8", "ignore").encode())
        total = [*command, "count", "-q", "--total-only", "-e", name]
        script = _TREE_WITH_TIKTOKEN.format(name=name)
        tasks: dict[str, dict[str, Sequence[str]]] = {
            "a tree": {
                "1 core": [*total, "-j", "1", str(tree)],
                "2 cores": [*total, "-j", "2", str(tree)],
                "tiktoken": [sys.executable, "-c", script, str(tree)],
            },
            "count": {f"{n} core{'s'[: n - 1]}": [*total, "-j", f"{n}", str(text)] for n in (1, 2)},
            "encode": {
                f"{n} core{'s'[: n - 1]}": [
                    *(*command, "encode", "--packed", "-e", name),
                    *("-j", f"{n}", str(text)),
                ]
                for n in (1, 2)
            },
            "encode_batch of one": {
                f"{n} core{'s'[: n - 1]}": [
                    *(sys.executable, "-c", _BATCH_OF_ONE.format(name=name, cores=n)),
                    str(text),
                ]
                for n in (1, 2)
            },
        }
        return {title: dict(_interleaved(title, ways, rounds)) for title, ways in tasks.items()}


def _interleaved(
    title: str, ways: dict[str, Sequence[str]], rounds: int
) -> Iterator[tuple[str, Taken]]:
    times: dict[str, list[Taken]] = {way: [] for way in ways}
    outputs = set()
    for _ in range(rounds):
        for way, command in ways.items():
            taken, output = _run(command)
            times[way].append(taken)
            outputs.add(output)
    if len(outputs) > 1:
        raise SystemExit(f"{title}: the results differ")
    for way, taken_times in times.items():
        yield way, Taken(*map(statistics.median, zip(*taken_times)))


def _run(command: Sequence[str]) -> tuple[Taken, bytes]:
    """Run a command; the CPU time is that of all its processes."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    clock, after = time.perf_counter() - start, os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])
    return Taken(cpu, clock), done.stdout


def _write_tree(tree: Path) -> bytes:
    """Copy sources of this machine, each once, and return them joined."""
    seen: dict[bytes, None] = {}
    total = 0
    for folder, ends, most in _SOURCES:
        size = 0
        for path in sorted(Path(folder).rglob("*")):
            if path.suffix not in ends or "site-packages" in path.parts or not path.is_file():
                continue
            data = path.read_bytes()
            try:
                data.decode()
            except UnicodeDecodeError:
                continue
            if b"\0" in data[:8000] or data in seen:
                continue
            seen[data] = None
            # No name is hidden, so that none is left out.
            copy = tree / f"{len(seen) // 100}" / f"{len(seen)}{path.suffix}"
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
            size += len(data)
            total += len(data)
            if size > most or total > TREE:
                break
    return b"".join(seen)
