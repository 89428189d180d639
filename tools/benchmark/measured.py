"""Time and memory of some code in a process of its own, with all processes that it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

#: Seconds between two looks at the memory.
_EVERY = 0.1

_MEASURED = """
import os, time
_start, _used = time.perf_counter(), sum(os.times()[:4])
{code}
# Not ru_maxrss: that has the memory of this process before it began to run Python.
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
        limit: the most seconds of processor time of all processes, what comes before included;
            None for any time.

    Raises:
        SystemExit: the code fails; its messages have been printed.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", before + _MEASURED.format(code=code, after=after)]
    start = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        watch = _Watch(process.pid, limit)
        watch.start()
        output, _ = process.communicate()
        watch.end()
    if watch.is_over:
        seconds = time.perf_counter() - start
        return Measured(seconds, watch.cpu_seconds, watch.memory / 1e6, [], is_over=True)
    if process.returncode:
        raise SystemExit("what was to be measured has failed")
    first, *lines = output.splitlines()
    seconds, cpu_seconds, largest = map(float, first.split())
    return Measured(seconds, cpu_seconds, max(watch.memory / 1e6, largest / 1e3), lines)


class _Watch(threading.Thread):
    """A watch over a process that leads a group, and over all that it starts.

    Args:
        process: the process.
        limit: the most seconds of processor time; then the group is killed.
    """

    def __init__(self, process: int, limit: float | None) -> None:
        super().__init__(daemon=True)
        self._process = process
        self._limit = limit
        self._done = threading.Event()
        #: The most bytes of memory that all held together.
        self.memory = 0
        self.cpu_seconds = 0.0
        self.is_over = False

    def run(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        while not self._done.wait(_EVERY):
            family = _family(self._process)
            self.memory = max(self.memory, page * sum(map(_pages, family)))
            if self._limit is not None:
                self.cpu_seconds = max(self.cpu_seconds, sum(map(_cpu_seconds, family)))
                if self.cpu_seconds > self._limit:
                    self.is_over = True
                    os.killpg(self._process, signal.SIGKILL)
                    return

    def end(self) -> None:
        """End the watch; the process has ended."""
        self._done.set()
        self.join()


def _family(process: int) -> list[int]:
    """Return a process and all processes that it, or one of those, has started."""
    found = [process]
    for one in found:
        try:
            for path in Path(f"/proc/{one}/task").glob("*/children"):
                found += map(int, path.read_text().split())
        except OSError:
            continue  # It has ended.
    return found


def _cpu_seconds(process: int) -> float:
    """Return the processor time of a process and of its children that have ended."""
    try:
        # The name, in parentheses, may have spaces; proc_pid_stat(5) numbers from the first field.
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _pages(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0
