"""Files counted by several processes.

An interpreter counts with one processor. The workers are plain child processes that are given
names of files over a pipe, and count them as this process would; a worker whose pipe ends, ends.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import IO, Any, Callable, NamedTuple

from ..parallel.processes import start_worker
from .counting import Counter, Outcome, Part

#: Bytes that a worker is given at a time, so that all end at about the same time.
_SHARE = 500_000

#: Bytes that a worker counts before it tells of them.
_TOLD = 1 << 16

#: Some files, or parts of files, each with its index.
Share = Sequence["tuple[int, Part]"]


class _Done(NamedTuple):
    """The outcomes of a share."""

    outcomes: list[tuple[int, Outcome]]


class Workers:
    """Processes that count files; they are there while a ``with`` block is run.

    Args:
        counter: counts them.
        parts: the files, or parts of files, each with its size in bytes.
        number: the number of workers at most.
    """

    def __init__(self, counter: Counter, parts: Sequence[tuple[Part, int]], number: int) -> None:
        shares = _shares(parts)
        self._waiting = iter(shares)
        self._lock = Lock()
        # From each worker: numbers of bytes counted, outcomes of a share, and None at the end.
        self._events: SimpleQueue[int | _Done | None] = SimpleQueue()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads: list[Thread] = []
        self._set_up = pickle.dumps(counter)
        self._number = min(number, len(shares))

    def __enter__(self) -> Workers:
        try:
            for _ in range(self._number):
                self._processes.append(start_worker(__name__))
            for process in self._processes:
                thread = Thread(target=self._feed, args=(process,), daemon=True)
                self._threads.append(thread)
                thread.start()
        except (OSError, RuntimeError):  # no more processes or threads: those that there are do
            pass
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
        for thread in self._threads:
            thread.join()
        for process in self._processes:
            process.wait()
            for stream in (process.stdin, process.stdout):
                _close(stream)

    def outcomes(self, advance: Callable[[int], None]) -> Iterator[tuple[int, Outcome]]:
        """Yield the index of each part and its outcome, as they come.

        A part is missing if the worker that had it was killed.

        Args:
            advance: called with the number of bytes each time some are counted.
        """
        running = len(self._threads)
        while running:
            try:
                # Windows lets nobody interrupt a longer wait.
                event = self._events.get(timeout=0.2)
            except Empty:
                continue
            if event is None:
                running -= 1
            elif isinstance(event, int):
                advance(event)
            else:
                yield from event.outcomes

    def _feed(self, process: subprocess.Popen[bytes]) -> None:
        """Give a worker one share after the other, until none is left."""
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _send(process.stdin, self._set_up)
            while True:
                with self._lock:
                    share = next(self._waiting, None)
                if share is None:
                    return
                _send(process.stdin, pickle.dumps(share))
                while True:
                    event = pickle.load(process.stdout)
                    self._events.put(event)
                    if isinstance(event, _Done):
                        break
        except (OSError, EOFError, pickle.UnpicklingError):
            pass  # it was killed
        finally:
            self._events.put(None)


def _close(stream: IO[Any] | None) -> None:
    assert stream is not None
    with suppress(OSError):  # what it still holds is for a worker that has gone
        stream.close()


def _send(target: IO[bytes], pickled: bytes) -> None:
    target.write(pickled)
    target.flush()


def _shares(parts: Sequence[tuple[Part, int]]) -> list[Share]:
    """Return shares of about ``_SHARE`` bytes, the largest first, which take longest."""
    shares: list[tuple[int, list[tuple[int, Part]]]] = []
    share: list[tuple[int, Part]] = []
    total = 0
    for index, (part, size) in enumerate(parts):
        share.append((index, part))
        total += size
        if total >= _SHARE:
            shares.append((total, share))
            share, total = [], 0
    shares.append((total, share))
    return [share for _, share in sorted(shares, key=lambda pair: -pair[0]) if share]


def work() -> None:
    """Read names of files and write their counts, until the input ends: a worker's life."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    untold = 0

    def advance(size: int) -> None:
        nonlocal untold
        untold += size
        if untold >= _TOLD:
            tell()

    def tell() -> None:
        nonlocal untold
        _send(target, pickle.dumps(untold))
        untold = 0

    try:
        counter = pickle.load(source)
        while True:
            share = pickle.load(source)
            outcomes = [(index, counter.count(part, advance)) for index, part in share]
            tell()
            _send(target, pickle.dumps(_Done(outcomes)))
    except (OSError, EOFError):
        # There is nobody to tell anything, not even that the output cannot be written.
        os._exit(0)
