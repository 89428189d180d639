"""Adding up counts in bounded memory, and giving them back in sorted order.

Counts are added up in memory until they are many. Then they are written, sorted, to a temporary
file: a *run*. In the end all runs are read at once and merged. Each time there are ``_FAN`` runs
of a level, they are merged to one of the next, so that few files are open: of *n* rows, each is
written about log(n) times.
"""

from __future__ import annotations

import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from heapq import merge
from typing import IO, Any

from .counts_file import Row, escape, unescape

#: The most rows in memory: some 200 MB of words.
MOST_ROWS = 1 << 20

#: The most characters in memory for each of these rows, on average: chunks may be long.
_LENGTH = 128

#: The number of runs that are merged to one.
_FAN = 16


class CountsMerger:
    """A sum of counts by chunk and group, to be used in a ``with`` block.

    Args:
        most: the most rows that are held in memory.

    >>> with CountsMerger(most=2) as merger:
    ...     for chunk in ("b", "a", "c", "a"):
    ...         merger.add({chunk: 1})
    ...     list(merger.rows())
    [('a', 2, ''), ('b', 1, ''), ('c', 1, '')]
    """

    def __init__(self, most: int = MOST_ROWS) -> None:
        self._most = max(most, 1)
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._size = 0
        #: The characters that were added since the last run, an upper bound of those in memory.
        self._characters = 0
        #: The runs by level.
        self._runs: list[list[IO[bytes]]] = []

    def __enter__(self) -> CountsMerger:
        return self

    def __exit__(self, *_: object) -> None:
        for file in [file for level in self._runs for file in level]:
            with suppress(OSError):  # of a write that failed
                file.close()
        self._runs.clear()
        self._counts.clear()

    def add(self, counts: Mapping[str, int], group: str = "") -> None:
        """Add the counts of some chunks; each must be 1 or more.

        Raises:
            OSError: there is no room for a temporary file; ``filename`` is its folder.
        """
        for chunk, count in counts.items():
            self.add_row(chunk, count, group)

    def add_row(self, chunk: str, count: int, group: str = "") -> None:
        """Add the count of one chunk; otherwise as ``add``."""
        known = self._counts[group]
        if chunk in known:
            known[chunk] += count
            return
        known[chunk] = count
        self._size += 1
        self._characters += len(chunk)
        if self._size >= self._most or self._characters >= self._most * _LENGTH:
            self._add_run(0, self._taken())

    def rows(self) -> Iterator[Row]:
        """Yield each chunk and group once, with their count, in the order of code points.

        Nothing is left afterwards.

        Raises:
            OSError: a temporary file cannot be read.
        """
        runs = [_read(file) for level in self._runs for file in level]
        yield from _added_up(merge(*runs, self._taken()) if runs else self._taken())
        self.__exit__()

    def _taken(self) -> Iterator[Row]:
        """Yield the rows in memory in sorted order, and forget them."""
        counts = dict(self._counts)
        self._counts.clear()
        self._size = self._characters = 0
        if len(counts) == 1:
            return next(_sorted(own, group) for group, own in counts.items())
        return merge(*(_sorted(own, group) for group, own in counts.items()))

    def _add_run(self, level: int, rows: Iterable[Row]) -> None:
        """Write a run, and merge the runs of its level if they are many."""
        if len(self._runs) == level:
            self._runs.append([])
        self._runs[level].append(_write(rows))
        if len(self._runs[level]) == _FAN:
            files, self._runs[level] = self._runs[level], []
            try:
                self._add_run(level + 1, _added_up(merge(*map(_read, files))))
            finally:
                for file in files:
                    file.close()


def _sorted(counts: Counter[str], group: str) -> Iterator[Row]:
    # Pairs are compared, not triples: the group is the same.
    return ((chunk, counts[chunk], group) for chunk in sorted(counts))


def _added_up(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield sorted rows, those of the same chunk and group as one."""
    # The rows of a chunk come together, but its groups in any order, so the rows of one group may
    # have others between them.
    last: str | None = None
    sums: dict[str, int] = {}
    for chunk, count, group in rows:
        if chunk != last:
            if last is not None:
                yield from ((last, sums[one], one) for one in sorted(sums))
            last = chunk
            sums = {}
        sums[group] = sums.get(group, 0) + count
    if last is not None:
        yield from ((last, sums[one], one) for one in sorted(sums))


def _write(rows: Iterable[Row]) -> IO[bytes]:
    file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the caller
    try:
        for chunk, count, group in rows:
            file.write(f"{escape(chunk)}\t{count}\t{escape(group)}\n".encode())
        file.flush()  # so that no other call can fail
    except BaseException as error:
        with suppress(OSError):
            file.close()
        if isinstance(error, OSError):
            error.filename = tempfile.gettempdir()
        raise
    return file


def _read(file: IO[bytes]) -> Iterator[Row]:
    file.seek(0)
    for line in file:
        chunk, count, group = line.decode()[:-1].split("\t")
        yield unescape(chunk), int(count), unescape(group)


def collapsed(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield sorted rows, all groups of a chunk as one without a name.

    >>> list(collapsed([("a", 1, "x"), ("a", 2, "y"), ("b", 1, "x")]))
    [('a', 3, ''), ('b', 1, '')]
    """
    return _added_up((chunk, count, "") for chunk, count, _ in rows)


def frequent(rows: Iterable[Row], least: int, dropped: dict[str, Any]) -> Iterator[Row]:
    """Yield the rows of chunks that occur often enough in all groups together.

    Args:
        rows: sorted rows.
        least: the lowest count of a chunk that is kept.
        dropped: gets the number of dropped ``"chunks"``, and the sum of their ``"counts"``.
    """
    dropped.update(chunks=0, counts=0)
    waiting: list[Row] = []

    def decided() -> Iterator[Row]:
        total = sum(count for _, count, _ in waiting)
        if total >= least:
            yield from waiting
        elif waiting:
            dropped["chunks"] += 1
            dropped["counts"] += total

    for row in rows:
        if waiting and waiting[0][0] != row[0]:
            yield from decided()
            waiting = []
        waiting.append(row)
    yield from decided()
