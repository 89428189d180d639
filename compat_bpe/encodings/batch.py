"""Many texts at once: in threads where they run side by side, else in worker processes.

An interpreter with a global lock gains nothing from threads here, and a process costs a few tenths
of a second until it has loaded the vocabulary.  So small batches are done one text after the
other, and large ones by worker processes.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import islice
from typing import Any, TypeVar

from ..parallel.processes import may_start, processors, read_message, start_worker, write_message

#: Characters below which a batch is not worth a worker: it takes as long to start one.
WORTH_WORKERS = 4_000_000

#: Characters that a worker is given at a time, so that all end at about the same time.
_SHARE = 500_000

T = TypeVar("T")
R = TypeVar("R")


def has_gil() -> bool:
    """Whether Python code in threads runs one after the other."""
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


def map_in_order(function: Callable[[T], R], items: Sequence[T], num_threads: int) -> list[R]:
    """``function`` of each item; in threads, if they run side by side."""
    if not has_gil() and num_threads > 1 and len(items) > 1:
        from concurrent.futures import ThreadPoolExecutor

        try:
            with ThreadPoolExecutor(num_threads) as executor:
                return list(executor.map(function, items))
        except RuntimeError as error:
            if "start new thread" not in str(error):
                raise
    return list(map(function, items))


def worth_workers(texts: Sequence[object], num_threads: int) -> bool:
    """Whether worker processes would be done with some texts sooner than this one."""
    if not has_gil() or min(num_threads, len(texts), processors()) < 2:
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
    if not may_start():
        return None
    import pickle  # small batches need no workers, and so none of these
    from concurrent.futures import ThreadPoolExecutor

    shares = list(_shares(texts))
    results: list[list[list[int]]] = [[] for _ in shares]
    # An iterator in C, whose next() several threads may call.
    waiting = iter(enumerate(shares))
    workers = min(num_threads, len(shares), processors())
    try:
        set_up = pickle.dumps((arguments, allowed))
        with ThreadPoolExecutor(workers) as executor:
            jobs = [executor.submit(_feed, set_up, waiting, results) for _ in range(workers)]
        for job in jobs:
            job.result()
    except (OSError, EOFError, RuntimeError, pickle.PicklingError):
        return None
    return [ids for share in results for ids in share]


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
    import pickle

    with start_worker(__name__) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            write_message(process.stdin, set_up)
            for number, share in waiting:
                write_message(process.stdin, pickle.dumps(share))
                lengths, ids = array("I"), array("I")
                lengths.frombytes(read_message(process.stdout))
                ids.frombytes(read_message(process.stdout))
                flat = iter(ids)
                results[number] = [list(islice(flat, length)) for length in lengths]
        except BaseException:
            process.kill()
            raise
        # Closing its input, as leaving the block does, ends the worker.


def work() -> None:
    """A worker's life: texts in, ids out, until its input ends."""
    import pickle

    source, target = sys.stdin.buffer, sys.stdout.buffer
    from .encoding import Encoding
    from .tokenizer import Tokenizer

    arguments, allowed = pickle.loads(read_message(source))
    make: Callable[..., Encoding] = Tokenizer if "definition" in arguments else Encoding
    encoding = make(**arguments)
    while True:
        try:
            texts = pickle.loads(read_message(source))
        except EOFError:
            return
        found = [
            encoding.encode(text, allowed_special=allowed, disallowed_special=()) for text in texts
        ]
        write_message(target, array("I", map(len, found)).tobytes())
        write_message(target, b"".join(array("I", ids).tobytes() for ids in found))
