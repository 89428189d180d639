"""Encoding on PyPy beside tiktoken on this interpreter: two processes that take turns.

tiktoken has no wheel for PyPy. Each process reads all texts once, then answers questions: one text
at a time, by each in turn, so that a machine that slows down slows both. Times are CPU times.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Encoding of the second half of a text, after the first; and the same once more.
FIGURES = ("new", "again")
#: Rounds over all texts that come first, so that loops are compiled.
WARM = 3
#: Megabytes of text after which the speed of a fresh process is measured.
WARMING = (1, 2, 3, 4, 6, 8, 12)

#: Answers each line ``number of the text`` with the times, and a digest of the ids.
_SERVER = """
import array, hashlib, json, sys, time
import {module} as module
texts = json.load(open({texts!r}, encoding="utf-8"))
encoding = module.get_encoding({name!r})
for line in sys.stdin:
    text = texts[int(line)]
    half = len(text) // 2
    first, second = text[:half], text[half:]
    if {module!r} != "tiktoken":
        encoding.clear_cache()
        encoding.encode_ordinary(first)
    times = []
    for _ in range(2):
        start = time.process_time()
        ids = encoding.encode_ordinary(second)
        times.append(time.process_time() - start)
    digest = hashlib.sha256(array.array("I", ids).tobytes()).hexdigest()
    print(json.dumps([*times, len(second.encode()), digest]), flush=True)
"""

#: Prints the seconds that each part of a text takes a fresh process.
_WARMING = """
import json, sys, time
import compat_bpe
texts = json.load(open({texts!r}, encoding="utf-8"))
encoding = compat_bpe.get_encoding({name!r})
parts = [text[start : start + 50000] for start in range(0, 1500000, 50000) for text in texts]
for part in parts:
    if part:
        start = time.process_time()
        encoding.encode_ordinary(part)
        print(len(part.encode()), time.process_time() - start)
"""


def commands() -> list[str]:
    """The commands for PyPy: from the environment, or the usual one."""
    return os.environ.get("PYPY", "pypy3").split(os.pathsep)


@contextmanager
def _written(texts: dict[str, str]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.json"
        path.write_text(json.dumps(list(texts.values())), encoding="utf-8")
        yield str(path)


class _Process:
    def __init__(self, stack: ExitStack, command: str, code: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = stack.enter_context(
            subprocess.Popen(
                [command, "-c", code],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )

    def ask(self, number: int) -> tuple[list[float], int, str]:
        """Return the times for a text, its length in bytes, and the digest of its ids."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a process that was to be measured has ended")
        *times, size, digest = json.loads(line)
        return times, size, digest


def throughput(
    command: str, name: str, texts: dict[str, str], rounds: int
) -> dict[str, dict[str, float]]:
    """The figures for one encoding, by text, and tiktoken's megabytes a second."""
    found: dict[str, list[tuple[float, float, float]]] = {title: [] for title in texts}
    with _written(texts) as path, ExitStack() as stack:
        ours = _Process(stack, command, _SERVER.format(module="compat_bpe", name=name, texts=path))
        code = _SERVER.format(module="tiktoken", name=name, texts=path)
        theirs = _Process(stack, sys.executable, code)
        for turn in range(WARM + rounds):
            for number, title in enumerate(texts):
                reference, size, expected = theirs.ask(number)
                times, _, digest = ours.ask(number)
                if digest != expected:
                    raise SystemExit(f"{name}, {title}: the ids on {command} are not tiktoken's")
                if turn >= WARM:
                    beside = statistics.mean(reference)
                    speed = size / 1e6 / beside
                    found[title].append((beside / times[0], beside / times[1], speed))
    return {
        title: dict(zip((*FIGURES, "tiktoken_mb_per_second"), map(statistics.median, zip(*rows))))
        for title, rows in found.items()
    }


def warming(command: str, name: str, texts: dict[str, str]) -> dict[str, float]:
    """The speed of a fresh process after so many megabytes, as a part of its best speed.

    The texts come in turns, 50,000 characters of each, and each part comes once. The speed is that
    over the last three turns, and the best is that over any three turns.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with _written(texts) as path:
        run = subprocess.run(
            [command, "-c", _WARMING.format(name=name, texts=path)],
            env=environment,
            capture_output=True,
            check=True,
            text=True,
        )
    rows = [
        (int(size), float(seconds)) for size, seconds in map(str.split, run.stdout.splitlines())
    ]
    stretch = min(3 * len(texts), len(rows))

    def speed(end: int) -> float:
        some = rows[max(0, end - stretch) : end]
        return sum(size for size, _ in some) / 1e6 / sum(seconds for _, seconds in some)

    best = max(speed(end) for end in range(stretch, len(rows) + 1))
    found = {}
    done = 0
    ends = iter(WARMING)
    wanted = next(ends)
    for number, (size, _) in enumerate(rows, 1):
        done += size
        if done >= wanted * 1_000_000:
            found[f"{wanted}"] = speed(number) / best
            wanted = next(ends, 1 << 30)
    return found
