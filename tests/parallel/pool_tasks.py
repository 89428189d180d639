"""What workers of the tests do, and programs that copy themselves.

Each worker imports this module, which must be quick.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any

from compat_bpe.parallel.pool import Pool, Tell, WorkerKilled
from compat_bpe.parallel.processes import may_fork


class Squares:
    """Squares numbers, and says at the end how many."""

    def __init__(self, least: int) -> None:
        self._least = least
        self._seen = 0

    def do(self, task: int, tell: Tell) -> None:
        if task < self._least - 1:
            raise MemoryError
        if task < self._least:
            os.kill(os.getpid(), 9)
        self._seen += 1
        print("not a message")
        tell(task)
        tell(task * task)

    def finish(self, tell: Tell) -> None:
        tell(("seen", self._seen))


class Asked:
    """Asks a function, which no other process has, unless it is a copy of this one."""

    def __init__(self, ask: Any) -> None:
        self._ask = ask

    def do(self, task: int, tell: Tell) -> None:
        print("not a message")
        if task < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        tell((self._ask(task), os.getpid()))

    def finish(self, tell: Tell) -> None:
        tell(("end", os.getpid()))


def copied(tasks: Iterable[int]) -> tuple[list[Any], list[Any]]:
    with Pool(Asked, (lambda task: task * task,), 2, forks=True) as pool:
        assert pool.size == 2
        found = list(pool.run(tasks))
        return found, list(pool.finish())


def all_tasks() -> None:
    sys.stdout.write("once\n")  # It is in a buffer when the process is copied.
    found, ends = copied(range(100))
    assert sorted(square for square, _ in found) == [task * task for task in range(100)]
    assert {"end"} == {word for word, _ in ends}
    assert os.getpid() not in {process for _, process in found + ends}
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return
    raise AssertionError("a process is left")


def a_killed_one() -> None:
    found: list[Any] = []
    is_told = False
    with Pool(Asked, (lambda task: task,), 2, forks=True) as pool:
        try:
            found.extend(pool.run([1, 2, -1, 3, 4]))
        except WorkerKilled:
            is_told = True
    assert is_told
    assert {one for one, _ in found} == {1, 2, 3, 4}


def threads() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    assert may_fork()
    thread.start()
    assert not may_fork()
    done.set()
    thread.join()


def waits() -> None:
    with Pool(Asked, (lambda task: task,), 2, forks=True) as pool:
        for _, process in pool.run([1] * 20):
            print(process, flush=True)
        time.sleep(120)
