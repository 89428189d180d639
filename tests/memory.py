"""The memory that some code takes: traced in this process, or the most that a process had."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

T = TypeVar("T")


class _Absent:
    def __getattr__(self, name: str) -> Any:
        pytest.skip("PyPy cannot trace memory")


#: The module; a test that traces memory is skipped where there is none.
tracemalloc: Any = (
    _Absent() if sys.implementation.name == "pypy" else importlib.import_module("tracemalloc")
)


def traced(call: Callable[[], T]) -> tuple[T, int]:
    """Return what a call returns, and the most bytes of memory that it took."""
    tracemalloc.start()
    try:
        return call(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc tells of the memory")

# Not ru_maxrss: where a process becomes another program, as a child of these tests does, that still
# has the memory of what it was, here of all tests so far.
_TOLD = """
with open("/proc/self/status") as status:
    peak = next(line.split()[1] for line in status if line.startswith("VmHWM"))
sys.stderr.write(peak)
"""


def run_and_peak(code: str, *arguments: str, **options: Any) -> tuple[bytes, int]:
    """Run code, which imports ``sys``, in a process of its own.

    Returns:
        What it writes to standard output, and the most bytes of memory that it had.
    """
    command = [sys.executable, "-c", code + _TOLD, *arguments]
    done = subprocess.run(command, capture_output=True, check=True, **options)
    return done.stdout, int(done.stderr) << 10
