"""Workers that are copies of a process, as the command has them on Linux."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from compat_bpe.parallel.pool import Pool, Tell, WorkerKilled
from compat_bpe.parallel.processes import may_fork

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists threads")

ROOT = Path(__file__).parents[2]


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
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def a_killed_one() -> None:
    found: list[Any] = []
    with Pool(Asked, (lambda task: task,), 2, forks=True) as pool, pytest.raises(WorkerKilled):
        found.extend(pool.run([1, 2, -1, 3, 4]))
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


def code(test: Any) -> list[str]:
    return [
        *(sys.executable, "-W", "error", "-c"),
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        f"from tests.parallel import test_forked as test; test.{test.__name__}()",
    ]


@pytest.mark.parametrize("test", [all_tasks, a_killed_one, threads])
def test_in_a_process_of_one_thread(test: Any) -> None:
    done = subprocess.run(code(test), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("once\n" if test is all_tasks else "")
    assert "Traceback" not in done.stderr


def test_copies_end_with_the_process_that_they_work_for() -> None:
    with subprocess.Popen(code(waits), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        workers = {int(process.stdout.readline()) for _ in range(20)}
        process.kill()
    until = time.monotonic() + 60
    while any(Path(f"/proc/{one}/cmdline").exists() and is_alive(one) for one in workers):
        assert time.monotonic() < until
        time.sleep(0.05)


def is_alive(process: int) -> bool:
    """Return False for one that has ended and for which nobody has waited."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
