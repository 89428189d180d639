"""Many texts at once: in threads where they run side by side, else in worker processes.

An interpreter with a global lock gains nothing from threads here, and a process costs a few tenths
of a second until it has loaded the vocabulary.  So small batches are done one text after the
other, and large ones by workers: plain child processes that are fed over pipes.  They are not
``multiprocessing``'s, which runs the caller's main module once more in each child and must not be
used in many places a library is called from (a thread, a daemon, a script without a guard).
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import IO, Any, TypeVar

#: Characters below which a batch is not worth a worker: it takes as long to start one.
WORTH_WORKERS = 4_000_000

#: Characters that a worker is given at a time, so that all end at about the same time.
_SHARE = 500_000

_WORKER = "import sys; sys.path[:] = {path!r}; from compat_bpe.batch import work; work()"

T = TypeVar("T")
R = TypeVar("R")


def has_gil() -> bool:
    """Whether Python code in threads runs one after the other."""
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


def map_in_order(function: Callable[[T], R], items: Sequence[T], num_threads: int) -> list[R]:
    """``function`` of each item; in threads, if they run side by side."""
    if not has_gil() and num_threads > 1 and len(items) > 1:
        try:
            with ThreadPoolExecutor(num_threads) as executor:
                return list(executor.map(function, items))
        except RuntimeError as error:
            if "start new thread" not in str(error):
                raise
    return list(map(function, items))


def worth_workers(texts: Sequence[object], num_threads: int) -> bool:
    """Whether worker processes would be done with some texts sooner than this one."""
    if not has_gil() or min(num_threads, len(texts), _processors()) < 2:
        return False
    return sum(len(text) for text in texts if isinstance(text, str)) >= WORTH_WORKERS


def encode_in_workers(
    arguments: dict[str, Any], texts: Sequence[str], allowed: Set[str], num_threads: int
) -> list[list[int]] | None:
    """The ids of each text, found by worker processes.

    Args:
        arguments: what ``Encoding``, or ``Tokenizer``, is made from.
        texts: without disallowed special tokens; those of ``allowed`` become their token.
        num_threads: the number of workers at most; there are no more than processors.

    Returns:
        None if no worker can be started here, or one was killed.
    """
    # In a frozen program sys.executable is that program.
    if not sys.executable or getattr(sys, "frozen", False):
        return None
    shares = list(_shares(texts))
    results: list[list[list[int]]] = [[] for _ in shares]
    # An iterator in C, whose next() several threads may call.
    waiting = iter(enumerate(shares))
    workers = min(num_threads, len(shares), _processors())
    try:
        set_up = pickle.dumps((arguments, allowed))
        with ThreadPoolExecutor(workers) as executor:
            jobs = [executor.submit(_feed, set_up, waiting, results) for _ in range(workers)]
        for job in jobs:
            job.result()
    except (OSError, EOFError, RuntimeError, pickle.PicklingError):
        return None
    return [ids for share in results for ids in share]


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _shares(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in order, in lists of about ``_SHARE`` characters."""
    share: list[str] = []
    size = 0
    for text in texts:
        share.append(text)
        size += len(text)
        if size >= _SHARE:
            yield share
            share, size = [], 0
    if share:
        yield share


def _feed(
    set_up: bytes,
    waiting: Iterator[tuple[int, list[str]]],
    results: list[list[list[int]]],
) -> None:
    """Start a worker and give it one share after the other, until none is left."""
    command = [sys.executable, "-c", _WORKER.format(path=sys.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _write(process.stdin, set_up)
            for number, share in waiting:
                _write(process.stdin, pickle.dumps(share))
                lengths, ids = array("I"), array("I")
                lengths.frombytes(_read(process.stdout))
                ids.frombytes(_read(process.stdout))
                flat = iter(ids)
                results[number] = [list(islice(flat, length)) for length in lengths]
        except BaseException:
            process.kill()
            raise
        # Closing its input, as leaving the block does, ends the worker.


def work() -> None:
    """A worker's life: texts in, ids out, until its input ends."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    from compat_bpe.encoding import Encoding
    from compat_bpe.tokenizer import Tokenizer

    arguments, allowed = pickle.loads(_read(source))
    make: Callable[..., Encoding] = Tokenizer if "definition" in arguments else Encoding
    encoding = make(**arguments)
    while True:
        try:
            texts = pickle.loads(_read(source))
        except EOFError:
            return
        found = [
            encoding.encode(text, allowed_special=allowed, disallowed_special=()) for text in texts
        ]
        _write(target, array("I", map(len, found)).tobytes())
        _write(target, b"".join(array("I", ids).tobytes() for ids in found))


def _write(target: IO[Any], data: bytes) -> None:
    """One message: its length and its bytes."""
    target.write(len(data).to_bytes(8, "little"))
    target.write(data)
    target.flush()


def _read(source: IO[Any]) -> bytes:
    """One message; ``EOFError`` if there is none, or not all of it."""
    header = source.read(8)
    data: bytes = source.read(int.from_bytes(header, "little")) if len(header) == 8 else b""
    if len(header) < 8 or len(data) < int.from_bytes(header, "little"):
        raise EOFError("the other side has gone")
    return data
