"""Worker processes that share a stream of tasks, started anew or copied from this one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from compat_bpe.corpus import chunk_counts
from compat_bpe.parallel import processes
from compat_bpe.parallel.pool import Pool, WorkerKilled
from compat_bpe.train import Trainer, TrainingSettings
from tests.parallel.pool_tasks import Squares, a_killed_one, all_tasks, threads, waits

#: What the command of a worker has in it; ``ps`` may cut it off after that.
WORKER = "-c import sys; sys.path[:] = "


def children() -> str:
    return subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True
    ).stdout


@pytest.mark.sweep
@pytest.mark.parametrize("number", [1, 2, 5])
def test_all_messages_of_all_tasks(number: int) -> None:
    with Pool(Squares, (0,), number) as pool:
        assert pool.size == number
        found = list(pool.run(range(100)))
        assert sorted(found) == sorted([*range(100), *(n * n for n in range(100))])
        last = list(pool.finish())
    assert [name for name, _ in last] == ["seen"] * number
    assert sum(seen for _, seen in last) == 100
    assert WORKER not in children()


def test_no_tasks() -> None:
    with Pool(Squares, (0,), 2) as pool:
        assert list(pool.run([])) == []
        assert list(pool.finish()) == [("seen", 0)] * 2


def test_tasks_are_taken_only_as_they_are_needed() -> None:
    taken = []

    def tasks() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    with Pool(Squares, (0,), 2) as pool:
        next(pool.run(tasks()))
        assert len(taken) < 20


def test_large_tasks_and_messages() -> None:
    number = 1 << 8_000_000
    with Pool(Squares, (0,), 2) as pool:
        assert number * number in set(pool.run([number] * 3))


def test_a_killed_worker_is_told_after_the_rest() -> None:
    with Pool(Squares, (0,), 2) as pool:
        found: list[object] = []
        with pytest.raises(WorkerKilled, match="was killed"):
            found.extend(pool.run([1, 2, -1, 3, 4]))
        assert {1, 2, 3, 4, 9, 16} <= set(found)


def test_a_worker_without_memory_is_told_like_a_killed_one(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with Pool(Squares, (0,), 2) as pool, pytest.raises(WorkerKilled, match="if memory ran out"):
        list(pool.run([1, 2, -2, 3, 4]))
    assert "Traceback" not in capfd.readouterr().err


def test_a_worker_killed_at_the_last_task_is_told_however_slow_its_thread_is() -> None:
    """The end of the task is heard before its thread can do anything else."""
    is_over = threading.Event()

    class Events(SimpleQueue[object]):
        def put(self, *args: Any, **options: Any) -> None:
            super().put(*args, **options)
            is_over.wait()

    with Pool(Squares, (0,), 1) as pool:
        pool._events = Events()
        try:
            with pytest.raises(WorkerKilled):
                list(pool.run([-1]))
        finally:
            is_over.set()


def test_when_all_are_killed_nothing_waits() -> None:
    with Pool(Squares, (0,), 2) as pool:
        with pytest.raises(WorkerKilled):
            list(pool.run([-1] * 10))
        with pytest.raises(WorkerKilled):
            list(pool.finish())


def test_a_worker_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_CODE", "import sys; sys.exit(1) # {path!r} {module}")
    with Pool(Squares, (0,), 2) as pool, pytest.raises(WorkerKilled):
        list(pool.run(range(10)))


def test_a_worker_that_answers_junk(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; sys.stdin.buffer.read(8); "
        "sys.stdout.buffer.write(b'\\3' + b'\\0' * 7 + b'h\\x05.') # {path!r} {module}"
    )
    monkeypatch.setattr(processes, "_CODE", code)
    with Pool(Squares, (0,), 1) as pool, pytest.raises(WorkerKilled):
        list(pool.run(range(10)))


@pytest.mark.parametrize("error", [OSError("no"), RuntimeError("can't start new thread")])
def test_where_nothing_can_be_started(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    with Pool(Squares, (0,), 2) as pool:
        assert pool.size == 0


def test_in_a_frozen_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with Pool(Squares, (0,), 2) as pool:
        assert pool.size == 0


@pytest.mark.parametrize("host", ["/opt/maya/bin/maya.bin", "/usr/bin/gimp", "", None])
def test_in_a_program_that_embeds_python(host: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", host)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("it is started again"))
    assert not processes.may_start()
    with Pool(Squares, (0,), 2) as pool:
        assert pool.size == 0
    # A vocabulary is trained in one process.
    monkeypatch.setattr(chunk_counts, "_WORTH_WORKERS", 10)
    monkeypatch.setattr(chunk_counts, "_SHARE", 10)
    with Trainer(TrainingSettings(258), workers=2) as trainer:
        trainer.feed("hug hug pug pug " * 100)
        assert trainer.train().encoding.n_vocab == 258


@pytest.mark.parametrize(
    "name", ["python", "python3.13t", "Python", "pythonw.exe", "PYTHON.EXE", "pypy3.11", "graalpy"]
)
def test_programs_that_are_python(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", f"/some/where/{name}")
    assert processes.may_start()


def test_on_windows_a_worker_opens_no_console(monkeypatch: pytest.MonkeyPatch) -> None:
    flags = []
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0x200, raising=False)
    monkeypatch.setattr(subprocess, "CREATE_NO_WINDOW", 0x8000000, raising=False)
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **some: flags.append(some["creationflags"]))
    processes.start_worker("compat_bpe.parallel.pool")
    assert flags == [0x8000200]


def test_from_a_thread() -> None:
    found: list[object] = []

    def use() -> None:
        with Pool(Squares, (0,), 2) as pool:
            found.extend(pool.run([3]))

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert found == [3, 9]


def test_leaving_early_leaves_no_process() -> None:
    def interrupted() -> None:
        with Pool(Squares, (0,), 2) as pool:
            for _ in pool.run(iter(range(10_000_000))):
                assert WORKER in children()
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert WORKER not in children()


#: The command copies its process, on Linux.
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists threads")

ROOT = Path(__file__).parents[2]


def code(test: Any) -> list[str]:
    return [
        sys.executable,
        "-W",
        "error",
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        f"from tests.parallel.pool_tasks import {test.__name__}; {test.__name__}()",
    ]


@on_linux
@pytest.mark.parametrize("test", [all_tasks, a_killed_one, threads])
def test_in_a_process_of_one_thread(test: Any) -> None:
    done = subprocess.run(code(test), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ("once\n" if test is all_tasks else "")
    assert "Traceback" not in done.stderr


@on_linux
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
