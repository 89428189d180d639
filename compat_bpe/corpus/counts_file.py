r"""Files of counts: chunks, how often each occurs, and perhaps the group that it belongs to.

Three formats, told apart by the name:

- ``.tsv``: a line ``chunk<tab>count``, perhaps with ``<tab>group`` after it. In chunk and group,
  a tab is written ``\t``, a line feed ``\n``, a carriage return ``\r``, and a backslash ``\\``; no
  other escape is one. A first line ``chunk<tab>count`` (``<tab>group``) names the columns.
- ``.jsonl``, ``.ndjson``: a JSON object a line, with ``"chunk"``, ``"count"`` and perhaps
  ``"group"``.
- ``.parquet``: the columns ``chunk`` and ``count``, and perhaps ``group``. This needs ``pyarrow``.

The first two may be compressed (``.gz``, ``.bz2``, ``.xz``, ``.zst``), and are UTF-8. The order of
the rows makes no difference, and a chunk may have several.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Callable

from ..files.compressed import read_lines, uncompressed_name
from ..files.text import STDIN, not_utf8
from ..files.whole import json_message
from ..formats.checked_json import is_unicode
from .counted import MOST, check_chunk, checked_count
from .documents import LINE_LIMIT, group_of, is_json_lines

#: A row: a chunk, its count and its group.
Row = tuple[str, int, str]

_PARQUET = (".parquet", ".pq")
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
        ValueError: a file's name tells no format; a folder has no such file, or is not complete.
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
            ImportError: what a file needs is not there, such as ``pyarrow``.
        """
        for path in self.files:
            group = "" if path == STDIN else group_of(path, path)
            self.place = path
            if _is_parquet(path):
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
        self, path: str, parse: Callable[[bytes, int], Sequence[Any]]
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
                    yield number, parse(row, offset)
                except UnicodeDecodeError as error:
                    raise not_utf8(error, offset) from None
            offset += size


def files_of(path: str) -> list[str]:
    """Return the files of counts that a path stands for.

    Raises:
        OSError: a folder cannot be read.
        ValueError: the file's name tells no format; a folder has no such file, or is not complete.
    """
    if path == STDIN:
        return [path]
    if not os.path.isdir(path):
        if not _has_format(path):
            raise ValueError(f"{path}: the name of a file of counts ends in {_NAMES}")
        return [path]
    entries = os.listdir(path)
    if _UNFINISHED in entries:
        raise ValueError(f"{path}: a job of Spark is writing it, or has stopped: run it again")
    names = sorted(name for name in entries if name[0] not in "._" and _has_format(name))
    if not names:
        raise ValueError(f"{path}: no file in it ends in {_NAMES}")
    return [os.path.join(path, name) for name in names]


def _has_format(path: str) -> bool:
    return (
        uncompressed_name(path).lower().endswith(".tsv") or is_json_lines(path) or _is_parquet(path)
    )


def _is_parquet(path: str) -> bool:
    return path.lower().endswith(_PARQUET)


def _without_mark(line: bytes) -> bytes:
    """Return the first line without a byte-order mark, unless that may belong to a chunk."""
    rest = line[len(codecs.BOM_UTF8) :]
    is_mark = line.startswith(codecs.BOM_UTF8) and (
        rest.rstrip(b"\r\n") in _HEADERS or rest.startswith(b"{")
    )
    return rest if is_mark else line


def _tsv_row(line: bytes, offset: int) -> Sequence[Any]:
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


def _json_row(line: bytes, offset: int) -> Sequence[Any]:
    try:
        row = json.loads(line.decode())
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: column {error.colno}: {json_message(error.msg)}") from None
    except RecursionError:
        raise ValueError("not JSON that can be read: nested too deeply") from None
    if not isinstance(row, dict):
        raise ValueError('must be an object with "chunk" and "count"')
    for name in ("chunk", "count"):
        if name not in row:
            raise ValueError(f"no field {name!r}")
    return row["chunk"], row["count"], row.get("group")


def _parquet_rows(path: str, advance: Callable[[int], None]) -> Iterator[tuple[int, Sequence[Any]]]:
    from .counts_parquet import parquet_rows  # which needs pyarrow

    yield from enumerate(parquet_rows(path), 1)
    advance(os.path.getsize(path))


def write_rows(file: BinaryIO, rows: Iterable[Row], path: str, *, with_groups: bool) -> None:
    """Write rows into an open file.

    Args:
        file: the file.
        rows: the rows, in their order.
        path: the file's name, which tells the format.
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
    """Raise ``ValueError`` if the name of a file to be written tells no format of text."""
    if path != STDIN and not path.lower().removesuffix(".gz").endswith(_WRITTEN):
        raise ValueError(f"{path}: the name must end in .tsv, .tsv.gz, .jsonl or .jsonl.gz")
