"""A pool of worker processes that share a stream of tasks.

The caller names the class of the workers and its arguments; each process makes one object of it. A
task goes to the first worker that is free, and the worker's messages come back as it sends them. A
large batch, the files of a directory and the chunks of a corpus are all shared out in this way.

On the pipe to a worker and on the pipe back, a frame is a length in eight bytes, followed by that
many bytes of pickled data. From a worker, an empty frame ends the messages of a task; to a worker,
it ends the tasks.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from queue import Empty, Full, Queue, SimpleQueue
from subprocess import Popen
from threading import Thread
from typing import IO, Any, Callable, Protocol

from .processes import may_fork, may_start, start_worker

#: The longest wait in seconds, since a wait cannot be interrupted on Windows.
_PATIENCE = 0.2

#: A function that sends a message to the caller.
Tell = Callable[[Any], None]


class Worker(Protocol):
    """The work of a process; the object is made there, with the arguments of the pool."""

    def do(self, task: Any, tell: Tell) -> None:
        """Do a task, and send messages about it to the caller."""

    def finish(self, tell: Tell) -> None:
        """Send the last messages, when no task follows."""


class WorkerKilled(ChildProcessError):
    """The error for a worker process that ended too early, perhaps for lack of memory."""


class Pool:
    """Worker processes that live while a ``with`` block runs.

    If no process or thread can be started, ``size`` is 0, and the caller does the work itself.

    Args:
        make: the class of the workers, which the other process imports by its name.
        arguments: the arguments of the class.
        number: the largest number of workers.
        forks: fork this process where that is safe (``may_fork``), so that workers need not load
            what it has loaded. It is for programs, not for libraries: a copy also has what the
            caller holds, such as connections.

    >>> from compat_bpe.parallel.pool import Echo
    >>> with Pool(Echo, ("!",), 2) as pool:
    ...     sorted(pool.run(["a", "b", "c"])) if pool.size else ["a!", "b!", "c!"]
    ['a!', 'b!', 'c!']
    """

    def __init__(
        self,
        make: type[Worker],
        arguments: tuple[Any, ...],
        number: int,
        *,
        forks: bool = False,
    ) -> None:
        self._worker = make, arguments
        #: The first frame to a worker: how it is made. A copy of this process needs none.
        self._set_up = None if forks and may_fork() else _pickled(self._worker)
        self._number = number
        # The queue is short, so that tasks are made only when they are needed.
        self._tasks: Queue[bytes | None] = Queue(maxsize=max(2, number))
        #: Events from the threads: messages, and ends of a task (``_DONE``) or worker (``_GONE``).
        self._events: SimpleQueue[Any] = SimpleQueue()
        self._processes: list[Popen[bytes] | ForkedProcess] = []
        self._threads: list[Thread] = []
        self._running = 0
        self._open_tasks = 0
        self._was_killed = False

    @property
    def size(self) -> int:
        """The number of workers that were started."""
        return len(self._threads)

    @property
    def is_busy(self) -> bool:
        """True while a worker runs that has not ended its tasks."""
        return self._open_tasks > 0 and self._running > 0

    def __enter__(self) -> Pool:
        if not may_start():
            return self
        try:
            self._start_processes()
            for process in self._processes:
                thread = Thread(target=self._attend, args=(process,), daemon=True)
                thread.start()
                self._threads.append(thread)
        except (OSError, RuntimeError):  # no more threads: use those that run
            pass
        except BaseException:
            self.__exit__()
            raise
        self._running = self.size
        return self

    def _start_processes(self) -> None:
        """Start the processes, all before the first thread: only without threads may they fork."""
        with suppress(OSError):  # no more processes: use those that run
            if self._set_up is not None:
                for _ in range(self._number):
                    self._processes.append(start_worker(__name__))
                return

            forked: list[ForkedProcess] = []
            for _ in range(self._number):
                forked.append(ForkedProcess(self._live, forked))
                self._processes.append(forked[-1])

    def _live(self, source: IO[bytes], target: IO[bytes]) -> None:
        """Work as a worker that is a copy of this process."""
        make, arguments = self._worker
        sys.stdout = sys.stderr
        with suppress(*_ENDED):
            _serve(make(*arguments), source, target)

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
        while any(thread.is_alive() for thread in self._threads):
            with suppress(Full):
                self._tasks.put(None, timeout=0.01)  # for a thread that waits for a task
        for process in self._processes:
            process.wait()
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):  # it still holds data for a worker that has gone
                    assert stream is not None
                    stream.close()

    def run(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """Yield the messages of all tasks, in the order in which they arrive.

        Raises:
            WorkerKilled: after all other messages, if a worker was killed and its task with it.
        """
        for task in tasks:
            yield from self.give(task)
        while self.is_busy:
            yield from self.arrived(_PATIENCE)
        if self._was_killed:
            raise _killed()

    def give(self, task: Any) -> Iterator[Any]:
        """Hand a task to a worker as soon as one is free; yield the messages that arrive meanwhile.

        Raises:
            WorkerKilled: no worker is left.
        """
        data = _pickled(task)
        while True:
            if not self._running:
                raise _killed()
            yield from self.arrived()
            with suppress(Full):
                self._tasks.put(data, timeout=_PATIENCE)
                self._open_tasks += 1
                return

    def offer(self, task: Any) -> bool:
        """Hand a task to the workers if they may soon need one; return True if it was taken."""
        if not self._running or self._tasks.qsize() >= self.size:
            return False
        with suppress(Full):
            self._tasks.put_nowait(_pickled(task))
            self._open_tasks += 1
            return True
        return False

    def take_back(self) -> Any | None:
        """Take back and return a task that no worker has begun; None if there is none."""
        with suppress(Empty):
            data = self._tasks.get_nowait()
            self._open_tasks -= 1
            return None if data is None else pickle.loads(data)
        return None

    def finish(self) -> Iterator[Any]:
        """End the workers; yield their remaining messages.

        Raises:
            WorkerKilled: a worker was killed.
        """
        to_end = self.size
        while to_end and self._running:
            with suppress(Full):
                self._tasks.put(None, timeout=0.01)
                to_end -= 1
            yield from self.arrived()
        while self._running:
            yield from self.arrived(_PATIENCE)
        if self._was_killed:
            raise _killed()

    def arrived(self, patience: float = 0) -> Iterator[Any]:
        """Yield the messages that have arrived; wait up to ``patience`` seconds for the first."""
        while True:
            try:
                # On PyPy, a timeout and block=False exclude each other.
                event = self._events.get(patience > 0, patience or None)
            except Empty:
                return
            patience = 0
            if event is _DONE:
                self._open_tasks -= 1
            elif event is _GONE:
                self._running -= 1
            else:
                yield event

    def _attend(self, process: Popen[bytes] | ForkedProcess) -> None:
        """Give one worker its tasks, one after the other, and pass its messages on."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            if self._set_up is not None:
                _write_frame(process.stdin, self._set_up)
            while (task := self._tasks.get()) is not None:
                try:
                    _write_frame(process.stdin, task)
                    self._pass_on(process.stdout)
                except BaseException:
                    self._was_killed = True  # before the caller sees that the task has ended
                    raise
                finally:
                    self._events.put(_DONE)
            _write_frame(process.stdin, b"")
            self._pass_on(process.stdout)
        except Exception:  # a pipe that has ended, or any error of unpickling half a message
            self._was_killed = True
        finally:
            self._events.put(_GONE)

    def _pass_on(self, source: IO[bytes]) -> None:
        """Pass on messages up to the empty frame that ends them."""
        while frame := _read_frame(source):
            self._events.put(pickle.loads(frame))


class Echo:
    """A worker that answers each task with the task and an ending."""

    def __init__(self, end: str) -> None:
        self._end = end

    def do(self, task: str, tell: Tell) -> None:
        tell(task + self._end)

    def finish(self, tell: Tell) -> None:
        pass


_DONE = object()
_GONE = object()


def _killed() -> WorkerKilled:
    return WorkerKilled("a worker process was killed; if memory ran out, use fewer workers")


def _pickled(value: object) -> bytes:
    return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)


def _write_frame(target: IO[bytes], data: bytes) -> None:
    target.write(len(data).to_bytes(8, "little"))
    target.write(data)
    target.flush()


def _read_frame(source: IO[bytes]) -> bytes:
    """Read a frame; ``EOFError`` if it is missing or cut short."""
    header = source.read(8)
    length = int.from_bytes(header, "little")
    data = source.read(length) if len(header) == 8 else b""
    if len(header) < 8 or len(data) < length:
        raise EOFError("the other side has gone")
    return data


def work() -> None:
    """Work as a worker process: tasks in, messages out, until the input ends."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    # Text that is printed by accident must not get between the frames.
    sys.stdout = sys.stderr
    with suppress(*_ENDED):
        make, arguments = pickle.loads(_read_frame(source))
        _serve(make(*arguments), source, target)


#: Errors that end a worker: its caller has gone, or will raise that it ended too early.
_ENDED = (OSError, EOFError, MemoryError)


def _serve(worker: Worker, source: IO[bytes], target: IO[bytes]) -> None:
    """Do tasks as they come, until the input ends."""

    def tell(message: Any) -> None:
        _write_frame(target, _pickled(message))

    while frame := _read_frame(source):
        worker.do(pickle.loads(frame), tell)
        _write_frame(target, b"")
    worker.finish(tell)
    _write_frame(target, b"")


class ForkedProcess:
    """A copy of this process that does some work and ends; see ``processes.may_fork``.

    An interrupt from the keyboard does not reach it. It has the methods of ``subprocess.Popen``
    that a pool needs.

    Args:
        work: the work; its arguments are the input and the output of the process.
        others: the copies that run already. The new one closes its ends of their pipes, so that
            each process sees the end of its input when this process ends.

    Raises:
        OSError: the process cannot be copied.
    """

    def __init__(
        self, work: Callable[[IO[bytes], IO[bytes]], None], others: Iterable[ForkedProcess]
    ) -> None:
        source, self_in = os.pipe()
        self_out, target = os.pipe()
        try:
            self._id = os.fork()
        except OSError:
            for end in (source, self_in, self_out, target):
                os.close(end)
            raise
        if not self._id:
            for other in others:
                os.close(other.stdin.fileno())
                os.close(other.stdout.fileno())
            os.close(self_in)
            os.close(self_out)
            _work_and_exit(work, source, target)
        os.close(source)
        os.close(target)
        self.stdin: IO[bytes] = open(self_in, "wb")  # noqa: SIM115
        self.stdout: IO[bytes] = open(self_out, "rb")  # noqa: SIM115
        self._status: int | None = None

    def kill(self) -> None:
        """End the process at once."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self._id, signal.SIGKILL)

    def poll(self) -> int | None:
        """Return the exit status if the process has ended, None if it runs."""
        self._wait(os.WNOHANG)
        return self._status

    def wait(self) -> int | None:
        """Wait until the process has ended."""
        self._wait(0)
        return self._status

    def _wait(self, options: int) -> None:
        if self._status is None:
            try:
                ended, status = os.waitpid(self._id, options)
            except ChildProcessError:  # the caller ignores SIGCHLD
                ended, status = self._id, 0
            if ended:
                self._status = status


def _work_and_exit(work: Callable[[IO[bytes], IO[bytes]], None], source: int, target: int) -> None:
    """Do the work in the copy, then end it, so that it does not go on in the caller's code."""
    try:
        os.setsid()
        if hasattr(gc, "freeze"):
            gc.freeze()  # a collection would write to all objects, and so copy them
        with open(source, "rb") as input_, open(target, "wb") as output:
            work(input_, output)
    except Exception:
        import traceback

        traceback.print_exc()
    finally:
        # The buffers of the original process must not be flushed here, too.
        with suppress(Exception):
            sys.stderr.flush()
        os._exit(0)
