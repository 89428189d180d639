r"""Files of counts: chunks, how often each occurs, and perhaps the group that it belongs to.

Three formats, told apart by the name:

- ``.tsv``: a line ``chunk<tab>count``, perhaps with ``<tab>group`` after it. In chunk and group,
  a tab is written ``\t``, a line feed ``\n``, a carriage return ``\r``, and a backslash ``\\``; no
  other escape is one. A first line ``chunk<tab>count`` (``<tab>group``) names the columns.
- ``.jsonl``, ``.ndjson``: a JSON object per line, with ``"chunk"``, ``"count"`` and perhaps
  ``"group"``.
- ``.parquet``: the columns ``chunk`` and ``count``, and perhaps ``group``. This needs ``pyarrow``.

The first two may be compressed (``.gz``, ``.bz2``, ``.xz``, ``.zst``), and are UTF-8. The order of
the rows makes no difference, and a chunk may have several.

``CountsMerger`` adds counts up in bounded memory and yields them in sorted order. When there are
too many for memory, they are written, sorted, to a temporary file: a *run*. In the end all runs are
read at once and merged. Whenever a level has ``_FAN`` runs, they are merged to one of the next
level, so that few files are open: of *n* rows, each is written about log(n) times.
"""

from __future__ import annotations

import codecs
import itertools
import json
import os
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from heapq import merge
from typing import IO, Any, BinaryIO, Callable

from ..files.compressed import read_lines, uncompressed_name
from ..files.text import STDIN, not_utf8
from ..formats.checked_json import is_unicode
from .chunk_counts import MOST, check_chunk, checked_count
from .documents import LINE_LIMIT, group_of, is_json_lines, json_of_line
from .tables import Column, is_parquet, parquet_batches, values

#: A row: a chunk, its count and its group.
Row = tuple[str, int, str]

#: The columns of a Parquet file.
_PARQUET_COLUMNS = (
    Column("chunk", "string"),
    Column("count", "integer"),
    Column("group", "string", False),
)
_NAMES = ".tsv, .tsv.gz, .jsonl, .jsonl.gz or .parquet"

#: The endings of the names of files that are written.
_WRITTEN = (".tsv", ".jsonl", ".ndjson")

#: The folder that Spark keeps in a folder that it writes, until that is complete.
_UNFINISHED = "_temporary"

_HEADERS = (b"chunk\tcount", b"chunk\tcount\tgroup")

_ESCAPED = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
_ESCAPES = {r"\\": "\\", r"\t": "\t", r"\n": "\n", r"\r": "\r"}

#: The most digits of a count.
_DIGITS = 18


def escape(text: str) -> str:
    r"""Return a text as it is written in a TSV file.

    >>> print(escape("a\tb\\"))
    a\tb\\
    """
    return text.translate(_ESCAPED)


def unescape(text: str) -> str:
    r"""Return the text that ``escape`` has written.

    Raises:
        ValueError: a backslash begins no escape.

    >>> unescape(r"\\n"), unescape(r"\n")
    ('\\n', '\n')
    """

    def replaced(escape: re.Match[str]) -> str:
        if escape[0] not in _ESCAPES:
            raise ValueError(f"unknown escape {escape[0]}; the escapes are \\t, \\n, \\r and \\\\")
        return _ESCAPES[escape[0]]

    return re.sub(r"\\.?", replaced, text) if "\\" in text else text


class CountsReader:
    """A reader of files of counts.

    Args:
        paths: the files; a folder stands for the files of counts in it, as Spark writes them; ``-``
            is standard input, which is TSV.
        advance: called with numbers of bytes that were read, of the files as they are on disk.

    Raises:
        OSError: a folder cannot be read.
        ValueError: a file's name has no known ending; a folder has no such file, or is not
            complete.
    """

    def __init__(
        self, paths: Iterable[str], advance: Callable[[int], None] = lambda size: None
    ) -> None:
        self.files = [file for path in paths for file in files_of(path)]
        self._advance = advance
        #: The place of the last row, for messages: ``counts.tsv:17``.
        self.place = ""
        #: The number of rows that were read, and the sum of their counts.
        self.rows = self.total = 0

    @property
    def size(self) -> int | None:
        """The size of all files in bytes; None if it is unknown."""
        if not all(map(os.path.isfile, self.files)):
            return None
        return sum(map(os.path.getsize, self.files))

    def read(self) -> Iterator[Row]:
        """Yield the rows of all files, without those whose count is 0.

        The group of a row without one is the name of its file up to the first dot.

        Raises:
            OSError: a file cannot be read.
            ValueError: a row is wrong, or the data is damaged; the message begins with the file and
                the line or row.
            ImportError: a package that a file needs is missing, such as ``pyarrow``.
        """
        for path in self.files:
            group = "" if path == STDIN else group_of(path, path)
            self.place = path
            if is_parquet(path):
                rows = _parquet_rows(path, self._advance)
            elif is_json_lines(path):
                rows = self._parsed(path, _json_row)
            else:
                rows = self._parsed(path, _tsv_row)
            try:
                for number, row in rows:
                    self.place = f"{path}:{number}"
                    chunk, count, own = row
                    if type(count) is not int or not 0 <= count <= MOST:
                        count = checked_count(chunk, count)
                    check_chunk(chunk)
                    own = group if own is None else own
                    if not isinstance(own, str):
                        raise ValueError(f"the group is {own!r:.60}; it must be a string")
                    if not is_unicode(own):
                        raise ValueError(f"the group {own!r:.60} has a surrogate")
                    self.rows += 1
                    self.total += count
                    if count:
                        yield chunk, count, own
            except (TypeError, ValueError) as error:
                raise ValueError(f"{self.place}: {error}") from None
            except ImportError as error:
                raise ImportError(f"{path}: {error}", name=error.name) from None
            except OSError as error:
                if error.filename is None:
                    error.filename = path
                raise

    def _parsed(
        self, path: str, parse: Callable[[bytes], Sequence[Any]]
    ) -> Iterator[tuple[int, Sequence[Any]]]:
        offset = 0
        for number, (line, size) in enumerate(read_lines(path, LINE_LIMIT, self._advance), 1):
            self.place = f"{path}:{number}"
            if len(line) > LINE_LIMIT:
                raise ValueError(f"a line of more than {LINE_LIMIT:,} bytes")
            if number == 1:
                bare = _without_mark(line)
                offset += len(line) - len(bare)
                size -= len(line) - len(bare)
                line = bare
            row = line.rstrip(b"\r\n")
            if row and not (number == 1 and row in _HEADERS):
                try:
                    yield number, parse(row)
                except UnicodeDecodeError as error:
                    raise not_utf8(error, offset) from None
            offset += size


def files_of(path: str) -> list[str]:
    """Return the files of counts that a path stands for.

    Raises:
        OSError: a folder cannot be read.
        ValueError: the file's name has no known ending; a folder has no such file, or is not
            complete.
    """
    if path == STDIN:
        return [path]
    if not os.path.isdir(path):
        if not _has_format(path):
            raise ValueError(f"{path}: the name of a file of counts ends in {_NAMES}")
        return [path]
    entries = os.listdir(path)
    if _UNFINISHED in entries:
        raise ValueError(
            f"{path}: a Spark job is writing this folder, or has failed; if it has failed, run it "
            "again"
        )
    names = sorted(name for name in entries if name[0] not in "._" and _has_format(name))
    if not names:
        raise ValueError(f"{path}: no file in it ends in {_NAMES}")
    return [os.path.join(path, name) for name in names]


def _has_format(path: str) -> bool:
    return (
        uncompressed_name(path).lower().endswith(".tsv") or is_json_lines(path) or is_parquet(path)
    )


def _without_mark(line: bytes) -> bytes:
    """Return the first line without a byte-order mark, unless that may belong to a chunk."""
    rest = line[len(codecs.BOM_UTF8) :]
    is_mark = line.startswith(codecs.BOM_UTF8) and (
        rest.rstrip(b"\r\n") in _HEADERS or rest.startswith(b"{")
    )
    return rest if is_mark else line


def _tsv_row(line: bytes) -> Sequence[Any]:
    fields = line.decode().split("\t")
    if not 2 <= len(fields) <= 3:
        raise ValueError(
            f"{len(fields)} columns; a line is chunk, tab and count, and perhaps tab and group "
            "(a tab in a chunk is \\t)"
        )
    chunk = unescape(fields[0])
    count: Any = fields[1]
    if count.isascii() and count.isdigit():
        if len(count) > _DIGITS:
            raise ValueError(f"the count {count:.30} has more than {_DIGITS} digits")
        count = int(count)
    elif count[:1] == "-" and count[1:].isascii() and count[1:].isdigit():
        raise ValueError(f"the count is {count:.30}; it must be 0 or more")
    else:
        raise ValueError(f"the count is {count!r:.60}; it must be an integer")
    return chunk, count, unescape(fields[2]) if len(fields) == 3 else None


def _json_row(line: bytes) -> Sequence[Any]:
    row = json_of_line(line.decode())
    if not isinstance(row, dict):
        raise ValueError('must be an object with "chunk" and "count"')
    for name in ("chunk", "count"):
        if name not in row:
            raise ValueError(f"no field {name!r}")
    return row["chunk"], row["count"], row.get("group")


def _parquet_rows(path: str, advance: Callable[[int], None]) -> Iterator[tuple[int, Sequence[Any]]]:
    with open(path, "rb") as source:
        numbers = itertools.count(1)
        for batch, _ in parquet_batches(source, _PARQUET_COLUMNS):
            columns = [values(column) for column in batch.columns]
            if len(columns) == 2:
                columns.append([None] * batch.num_rows)
            yield from zip(numbers, zip(*columns))
    advance(os.path.getsize(path))


def write_rows(file: BinaryIO, rows: Iterable[Row], path: str, *, with_groups: bool) -> None:
    """Write rows into an open file.

    Args:
        file: the file.
        rows: the rows, in their order.
        path: the file's name, whose ending decides the format.
        with_groups: True to write the groups, too.

    Raises:
        OSError: the file cannot be written.
    """
    if is_json_lines(path):
        for chunk, count, group in rows:
            row: dict[str, Any] = {"chunk": chunk, "count": count}
            if with_groups:
                row["group"] = group
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        return
    file.write(_HEADERS[with_groups] + b"\n")
    for chunk, count, group in rows:
        end = f"\t{escape(group)}\n" if with_groups else "\n"
        file.write(f"{chunk.translate(_ESCAPED)}\t{count}{end}".encode())


def check_output(path: str) -> None:
    """Raise ``ValueError`` if the name of a file to be written has no ending of a text format."""
    if path != STDIN and not path.lower().removesuffix(".gz").endswith(_WRITTEN):
        raise ValueError(f"{path}: the name must end in .tsv, .tsv.gz, .jsonl or .jsonl.gz")


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


def frequent_rows(rows: Iterable[Row], least: int, dropped: dict[str, Any]) -> Iterator[Row]:
    """Yield the rows of chunks that occur often enough in all groups together; count the others.

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
