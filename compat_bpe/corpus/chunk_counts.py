"""Counting of the chunks of a corpus.

Text arrives in pieces, and only the text after the last cut point is held back (see
``CoreBPE.next_cut``).  So memory grows with the number of distinct chunks, not with the corpus.
Splitting keeps one processor busy; if there are more, worker processes share it.
"""

from __future__ import annotations

import pickle
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import suppress
from queue import Full, Queue
from subprocess import Popen
from threading import Thread
from typing import Any, Callable

from ..encodings.encoding import Encoding
from ..encodings.tokenizer import Tokenizer
from ..fit.stream import PORTION, Cutter, portions
from ..parallel.processes import may_start, processors, read_message, start_worker, write_message
from ..pattern.splitter import repair
from ..pipeline.chunks import texts_of_chunks

#: The number of characters counted at a time.
_SHARE = 1 << 18
#: The number of characters from which workers save more time than starting them takes.
_WORTH_WORKERS = 4_000_000

#: The frequency of each chunk, by group.
Counts = dict[str, Counter[str]]


class ChunkCounter:
    """A counter of the chunks, by group, of texts that arrive in pieces.

    Args:
        encoding: the encoding that splits the text.
        workers: the most worker processes to use for a large corpus.  1 uses none.  None uses as
            many as there are processors.

    Raises:
        ValueError: ``workers`` is not positive.

    >>> from compat_bpe import get_encoding
    >>> counter = ChunkCounter(get_encoding("gpt2"))
    >>> counter.feed("a do", is_last=False)
    >>> counter.feed("g and a dog")
    >>> counter.finish()
    {'': Counter({' dog': 2, 'a': 1, ' and': 1, ' a': 1})}
    """

    def __init__(self, encoding: Encoding, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise ValueError(f"workers is {workers}; it must be 1 or more")
        self._encoding = encoding
        self._cutter = Cutter(encoding, frozenset())
        self._is_within = False
        self._waiting: defaultdict[str, list[str]] = defaultdict(list)
        self._waiting_size = 0
        self._size = 0
        self._counts: Counts = defaultdict(Counter)
        self._most_workers = processors() if workers is None else workers
        self._workers: _Workers | None = None

    def __enter__(self) -> ChunkCounter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._workers is not None:
            self._workers.stop()

    def feed(self, text: str, group: str = "", *, is_last: bool = True) -> None:
        """Take a text, or a piece of one.

        Args:
            text: any text; surrogates are repaired as in ``Encoding.encode_ordinary``.
            group: the group to count it for.
            is_last: True if the text ends with this piece; False if the next piece continues it.

        Raises:
            TypeError: ``text`` is not a str.
            OSError: a worker process has been killed.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be a str, not {type(text).__name__}")
        if is_last and not self._is_within and len(text) <= PORTION:
            self._add(text, group)
            return
        for portion in portions(text):
            self._add(self._cutter.feed(portion), group)
        self._is_within = not is_last
        if is_last:
            self._add(self._cutter.finish(), group)

    def finish(self) -> Counts:
        """Return the counts of everything fed.

        Raises:
            OSError: a worker process has been killed.
        """
        self._pass_on()
        if self._workers is not None:
            for counts in self._workers.finish():
                _add_counts(self._counts, counts)
            self._workers = None
        return dict(self._counts)

    def _add(self, text: str, group: str) -> None:
        if not text:
            return
        self._waiting[group].append(text)
        self._waiting_size += len(text)
        if self._waiting_size >= _SHARE:
            self._pass_on()

    def _pass_on(self) -> None:
        """Have the waiting texts counted, here or by a worker."""
        waiting = dict(self._waiting)
        self._waiting.clear()
        self._size += self._waiting_size
        self._waiting_size = 0
        if self._size > _WORTH_WORKERS and self._workers is None and self._most_workers > 1:
            self._workers = _Workers.start(self._encoding, self._most_workers)
            if self._workers is None:
                self._most_workers = 1
        if self._workers is None:
            count(self._encoding, waiting, self._counts)
        else:
            self._workers.give(waiting)


def count(encoding: Encoding, texts: Mapping[str, list[str]], counts: Counts) -> None:
    """Count the chunks of the texts of each group."""
    for group, some in texts.items():
        counter = counts.setdefault(group, Counter())
        for text in some:
            for chunks in texts_of_chunks(encoding.core, repair(text)):
                counter.update(chunks)


def _add_counts(counts: Counts, others: Counts) -> None:
    for group, other in others.items():
        known = counts.setdefault(group, Counter())
        if known:
            known.update(other)
        else:
            counts[group] = other


class _Workers:
    """Processes that count, each with a thread that feeds it."""

    def __init__(self) -> None:
        # Short, so that texts wait where they are read.
        self._shares: Queue[bytes | None] = Queue(maxsize=2)
        self._processes: list[Popen[bytes]] = []
        self._threads: list[Thread] = []
        self._results: list[Counts] = []
        self._failed = False

    @classmethod
    def start(cls, encoding: Encoding, number: int) -> _Workers | None:
        """So many workers, or fewer; None if there can be none."""
        if not may_start():
            return None
        workers = cls()
        set_up = pickle.dumps(encoding._by_value())
        try:
            for _ in range(number):
                process = start_worker(__name__)
                workers._processes.append(process)
                thread = Thread(target=workers._feed, args=(process, set_up), daemon=True)
                thread.start()
                workers._threads.append(thread)
        except (OSError, RuntimeError):  # no more processes or threads
            if not workers._threads:
                workers.stop()
                return None
        return workers

    def give(self, texts: Mapping[str, list[str]]) -> None:
        """Have texts counted; waits while all are busy."""
        self._put(pickle.dumps(texts, pickle.HIGHEST_PROTOCOL))

    def finish(self) -> list[Counts]:
        """What they have counted; then they are gone."""
        for _ in self._threads:
            self._put(None)
        for thread in self._threads:
            while thread.is_alive():
                thread.join(0.2)  # Windows lets nobody interrupt a longer wait.
        self.stop()
        self._check()
        return self._results

    def stop(self) -> None:
        """End them, whatever they do."""
        for process in self._processes:
            process.kill()
        while any(thread.is_alive() for thread in self._threads):
            with suppress(Full):
                self._shares.put(None, timeout=0.05)  # for one that waits for more
        for process in self._processes:
            process.wait()
            for stream in (process.stdin, process.stdout):
                with suppress(OSError):
                    assert stream is not None
                    stream.close()

    def _put(self, share: bytes | None) -> None:
        while True:
            self._check()
            with suppress(Full):
                self._shares.put(share, timeout=0.2)
                return

    def _check(self) -> None:
        if self._failed:
            raise ChildProcessError(
                "a process that counts chunks has been killed: is there enough memory? "
                "fewer of them need less"
            )

    def _feed(self, process: Popen[bytes], set_up: bytes) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            write_message(process.stdin, set_up)
            while (share := self._shares.get()) is not None:
                write_message(process.stdin, share)
            write_message(process.stdin, b"")
            self._results.append(pickle.loads(read_message(process.stdout)))
        except (OSError, EOFError, ValueError):
            self._failed = True


def work() -> None:
    """A worker's life: texts in, and at the end the counts of their chunks out."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    try:
        arguments: dict[str, Any] = pickle.loads(read_message(source))
        make: Callable[..., Encoding] = Tokenizer if "definition" in arguments else Encoding
        encoding = make(**arguments)
        counts: Counts = {}
        while share := read_message(source):
            count(encoding, pickle.loads(share), counts)
        write_message(target, pickle.dumps(counts, pickle.HIGHEST_PROTOCOL))
    except (OSError, EOFError):
        return  # Nobody waits for it.
