r"""Reading a corpus as a stream of parts of documents.

A document is a text file; or the text of one line of a file of JSON lines (``.jsonl``,
``.ndjson``); or that in one row of a table (``.parquet``, ``.pq``, ``.arrow``, ``.arrows``,
``.feather``). Texts and JSON lines may be compressed (``.gz``, ``.bz2``, ``.xz``, ``.zst``). A long
document comes in several parts, so a file of any size takes little memory; a line of JSON is held
as a whole, and so are the texts of some thousand rows.

The bytes are decoded as UTF-8 and not changed: no newline is translated, and a byte-order mark in a
text file is a character.
"""

from __future__ import annotations

import codecs
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, BinaryIO, Callable, Literal, NamedTuple, get_args

from ..files.compressed import kind_of_compression, read_blocks, read_lines, uncompressed_name
from ..files.documents import LARGEST_NOTEBOOK, NotebookError, is_notebook, notebook_source
from ..files.text import check_beginning, not_utf8, parts_of_path
from ..files.whole import json_message
from ..formats.checked_json import Json
from ..unicode.surrogates import repair
from ..unicode.text import StreamDecodeError, Utf8Decoder
from .tables import is_table, is_table_data, table_rows

#: The largest number of characters in a part.
PART = 1 << 16


class DocumentPart(NamedTuple):
    r"""A piece of a document.

    The parts of a document follow each other and, joined, are its text. Each has at least one
    character and at most ``PART``. A part that is not the last ends after a ``"\n"`` if it can; if
    not, it ends within a line longer than ``PART``. An empty document has no parts.
    """

    #: The text, without surrogates.
    text: str
    group: str
    #: The place in messages: ``corpus/a.txt``, or with the number of a line ``b.jsonl:17``.
    source: str
    #: True if its document ends with it.
    is_last: bool


#: The treatment of damaged data; see ``read_corpus``.
Errors = Literal["strict", "replace", "skip"]

#: The largest size in bytes of a line of JSON, which is held in memory several times over.
LINE_LIMIT = 1 << 28

#: The largest number of names of fields that a message lists.
_LISTED = 8


class CorpusFile(NamedTuple):
    """A file of a corpus."""

    #: The path of the file; ``-`` is standard input.
    path: str
    #: The group that its text is counted for, a language for instance; see ``group_of``.
    group: str


def read_corpus(
    files: Iterable[CorpusFile],
    *,
    field: str = "text",
    group_field: str | None = None,
    jsonl: bool = False,
    errors: Errors = "strict",
    advance: Callable[[int], None] = lambda size: None,
    skipped: Callable[[str, str], None] = lambda source, reason: None,
    not_notebook: Callable[[str, str], None] | None = None,
) -> Iterator[DocumentPart]:
    r"""Yield the documents of some files in parts, in the order of the files.

    The ending of a file's name decides its format, as above. Standard input has no name: it is not
    compressed, and a text unless ``jsonl`` is true. In JSON lines, blank lines are skipped, and
    lone surrogates (``"\ud800"``), which UTF-8 cannot hold, become U+FFFD.

    These count as damage:

    - binary data, that is, a NUL in the first 8,000 bytes;
    - bytes that are not UTF-8;
    - compressed data that is cut short, wrong, or in a file whose name has no such ending;
    - a line that is not a JSON object with a text in the field;
    - a row without a text in the column, and a table that is wrong or lacks a column.

    With ``errors="skip"``, a text file that is damaged anywhere gives no part at all. So it is
    read twice: once to check it, and once for its parts (a pipe waits in a temporary file). In
    JSON lines and tables, damaged lines or rows are left out, and so is everything after damaged
    compressed data. With other values of ``errors``, parts may come before the error is raised.

    Args:
        files: the files.
        field: the field of a JSON line, or the column of a table, that has a document's text.
        group_field: the field or the column that has a document's group. If None, and for text
            files, it is the file's group.
        jsonl: all files are JSON lines, regardless of their names.
        errors: the treatment of damage. ``"strict"`` raises ``ValueError``; ``"replace"`` does so,
            too, but replaces bytes that are not UTF-8 by U+FFFD; ``"skip"`` leaves damage out.
        advance: called with a number of bytes once their text has been worked on, that is, when the
            next part is asked for. They are bytes of the file on disk: of a compressed file,
            compressed ones.
        skipped: called with the place and the reason of everything that is left out.
        not_notebook: if given, only the source of notebooks (``.ipynb``) is read. It is called with
            the path of a damaged notebook, which is read as it is, and the reason.

    Raises:
        OSError: a file cannot be read, with any ``errors``; ``filename`` is its path.
        ValueError: data is damaged; the message gives the reason and the place.
        ImportError: a module that a file needs is not installed; the message names it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "b.jsonl")
    ...     with open(path, "w") as file:
    ...         _ = file.write('{"text": "One."}\n{"text": "Two.", "language": "en"}\n')
    ...     [part.text for part in read_corpus([CorpusFile(path, "b")])]
    ['One.', 'Two.']
    """
    if errors not in get_args(Errors):
        raise ValueError(f"errors is {errors!r}; it must be one of {', '.join(get_args(Errors))}")
    reader = _Reader(field, group_field, errors, _Progress(advance), skipped, not_notebook)
    return (part for file in files for part in reader.read(file, jsonl))


def is_json_lines(path: str) -> bool:
    """Return True if a file is JSON lines by its name.

    >>> is_json_lines("wiki/aa.jsonl.gz"), is_json_lines("wiki/aa.json")
    (True, False)
    """
    return uncompressed_name(path).lower().endswith((".jsonl", ".ndjson"))


def group_of(path: str, root: str) -> str:
    """Return the group of a file: the name of the first folder below ``root``.

    If the file is directly in ``root``, or is ``root`` itself, the group is the file's name up to
    the first dot.

    Args:
        path: the path of the file; it begins with ``root``.
        root: the path that the file was found by: that of a folder, or of the file itself.

    >>> group_of("corpus/zh/news/a.txt", "corpus"), group_of("corpus/zh.txt.gz", "corpus")
    ('zh', 'zh')
    """
    below = os.path.basename(path) if path == root else path[len(os.path.join(root, "")) :]
    first, *rest = parts_of_path(below)
    name = first if rest else first.split(".", 1)[0] or first
    # A file's name may have bytes that are not text, but a group's name goes into reports.
    return os.fsencode(name).decode("utf-8", "replace")


def parts_of(pieces: Iterable[str], group: str, source: str) -> Iterator[DocumentPart]:
    r"""Yield the parts of a document.

    Args:
        pieces: its text in pieces of any length, without surrogates.
        group, source: the group and the source of the parts.

    >>> parts = parts_of(["a line\n" * 20_000], "", "")
    >>> [(len(part.text), part.is_last) for part in parts]
    [(65534, False), (65534, False), (8932, True)]
    """
    rest = ""
    for piece in pieces:
        text = rest + piece
        start = 0
        while len(text) - start > PART:
            end = text.rfind("\n", start, start + PART) + 1 or start + PART
            yield DocumentPart(text[start:end], group, source, False)
            start = end
        rest = text[start:]
    if rest:
        yield DocumentPart(rest, group, source, True)


class _Progress:
    """Progress in bytes that have been worked on, not only read.

    The last block is held back, since some of its text is in parts that have not been taken yet.
    """

    def __init__(self, advance: Callable[[int], None]) -> None:
        self._advance = advance
        self._earlier = 0
        self._last = 0

    def read(self, size: int) -> None:
        """Note a block that was read, by its size."""
        if size:  # else it is the end of the file
            self._earlier += self._last
            self._last = size

    def worked(self) -> None:
        """Report all but the last block; called when a part has been worked on."""
        if self._earlier:
            self._advance(self._earlier)
            self._earlier = 0

    def finish(self) -> None:
        """Report the rest of a file."""
        self.read(0)
        if self._earlier + self._last:
            self._advance(self._earlier + self._last)
        self._earlier = self._last = 0


@dataclass
class _Reader:
    """A reader of files, with the arguments of ``read_corpus``."""

    field: str
    group_field: str | None
    errors: Errors
    progress: _Progress
    skipped: Callable[[str, str], None]
    not_notebook: Callable[[str, str], None] | None

    @property
    def _decoding(self) -> str:
        return "replace" if self.errors == "replace" else "strict"

    def read(self, file: CorpusFile, jsonl: bool) -> Iterator[DocumentPart]:
        try:
            for part in self._parts(file, jsonl):
                yield part
                self.progress.worked()
        except ImportError as error:
            raise ImportError(f"{file.path}: {error}", name=error.name) from None
        except OSError as error:
            if error.errno is not None and error.filename is None:
                error.filename = file.path
            raise
        self.progress.finish()

    def _parts(self, file: CorpusFile, jsonl: bool) -> Iterator[DocumentPart]:
        if jsonl or is_json_lines(file.path):
            yield from self._json_lines(file)
            return
        if is_table(file.path):
            yield from self._table(file)
            return
        try:
            yield from self._undamaged(file) if self.errors == "skip" else self._text(file)
        except ValueError as error:
            self._refuse(file.path, error)

    def _refuse(self, source: str, error: ValueError) -> None:
        if self.errors != "skip":
            raise ValueError(f"{source}: {error}") from None
        self.skipped(source, str(error))

    def _undamaged(self, file: CorpusFile) -> Iterator[DocumentPart]:
        """Yield the parts of a text file, after all of it has been checked."""
        with Spool() as held:
            if os.path.isfile(file.path):
                try:
                    for _ in self._decoded(file.path, lambda size: None):
                        pass
                except ValueError:
                    self.progress.read(os.path.getsize(file.path))
                    raise
                yield from self._text(file)
            else:  # it can be read only once
                for part in self._text(file):
                    held.add(part)
                yield from held.take()

    def _text(self, file: CorpusFile) -> Iterator[DocumentPart]:
        pieces = self._decoded(file.path, self.progress.read)
        if self.not_notebook is not None and is_notebook(uncompressed_name(file.path)):
            pieces = self._source(pieces, file.path, self.not_notebook)
        return parts_of(pieces, file.group, file.path)

    def _source(
        self, pieces: Iterator[str], path: str, not_notebook: Callable[[str, str], None]
    ) -> Iterator[str]:
        """Yield the source of a notebook; for another file, its pieces."""
        held: list[str] = []
        size = 0
        for piece in pieces:
            held.append(piece)
            size += len(piece)
            if size > LARGEST_NOTEBOOK:
                break
        try:
            held = [notebook_source("".join(held))]
        except NotebookError as error:
            not_notebook(path, str(error))
        yield from held
        yield from pieces

    def _decoded(self, path: str, advance: Callable[[int], None]) -> Iterator[str]:
        decoder = Utf8Decoder(self._decoding)
        is_first = True
        try:
            for block in read_blocks(path, advance):
                if is_first:
                    self._check_beginning(block)
                    is_first = False
                yield decoder.feed(block)
            yield decoder.finish()
        except StreamDecodeError as error:
            raise not_utf8(error, error.offset - error.start) from None

    def _check_beginning(self, data: bytes) -> None:
        compression = kind_of_compression(data)
        if compression is not None:
            name, ending = compression
            raise ValueError(
                f"binary: {name} data; decompress it, or let the name of the file end in {ending}"
            )
        if is_table_data(data):
            raise ValueError("binary: a table; let the name of the file end in .parquet or .arrow")
        check_beginning(data, any_bytes=self.errors == "replace")

    def _json_lines(self, file: CorpusFile) -> Iterator[DocumentPart]:
        number = offset = 0
        lines = read_lines(file.path, LINE_LIMIT, self.progress.read)
        while True:
            number += 1
            source = f"{file.path}:{number}"
            try:
                line, size = next(lines, (b"", 0))
                if number == 1:
                    self._check_beginning(line)
            except ValueError as error:  # reading cannot go on after it
                self._refuse(source, error)
                return
            if not line:
                return
            if number == 1 and line.startswith(codecs.BOM_UTF8):  # JSON has no byte-order mark
                line = line[len(codecs.BOM_UTF8) :]
                offset += len(codecs.BOM_UTF8)
                size -= len(codecs.BOM_UTF8)
            if line and not line.isspace():
                try:
                    text, group = self._document(line, offset, file.group)
                except ValueError as error:
                    self._refuse(source, error)
                else:
                    yield from parts_of([text], group, source)
            offset += size

    def _table(self, file: CorpusFile) -> Iterator[DocumentPart]:
        rows = table_rows(file.path, self.field, self.group_field, self.progress.read)
        for number in count(1):
            source = f"{file.path}:{number}"
            try:
                row = next(rows, None)
            except ValueError as error:  # reading cannot go on after it
                self._refuse(file.path if number == 1 else source, error)
                return
            if row is None:
                return
            names = self.field, self.group_field
            missing = next((name for name, value in zip(names, row) if value is None), None)
            if missing is not None:
                self._refuse(source, ValueError(f"the column {missing!r} is null"))
                continue
            text, group = row
            yield from parts_of([text], file.group if self.group_field is None else group, source)

    def _document(self, line: bytes, offset: int, group: str) -> tuple[str, str]:
        """Return the text and the group of a line; ``offset`` is that of its first byte."""
        if len(line) > LINE_LIMIT:
            raise ValueError(f"a line of more than {LINE_LIMIT:,} bytes")
        try:
            members = Json(json_of_line(line.decode("utf-8", self._decoding)), "").mapping()
        except UnicodeDecodeError as error:
            raise not_utf8(error, offset) from None
        text = _member(members, self.field)
        return text, group if self.group_field is None else _member(members, self.group_field)


def json_of_line(line: str) -> Any:
    """Return the value that a line of JSON has.

    Raises:
        ValueError: it is not JSON; the message says the column.
    """
    try:
        return json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: column {error.colno}: {json_message(error.msg)}") from None
    except RecursionError:
        raise ValueError("not JSON that can be read: nested too deeply") from None


def _member(members: dict[str, object], field: str) -> str:
    """Return the text in a field of an object.

    Raises:
        ValueError: there is no such field, or its value is not text.
    """
    if field not in members:
        names = ", ".join(map(repr, islice(members, _LISTED)))
        known = f"the fields are {names}" if names else "there are none"
        raise ValueError(f"no field {field!r}; {known}")
    value = members[field]
    return repair(value) if isinstance(value, str) else Json(value, "", repr(field)).text()


#: Characters that are held in memory; the rest waits in a temporary file.
_IN_MEMORY = 1 << 23


class Spool:
    """Parts that are held back, to be used in a ``with`` block.

    After some megabytes, they go into a temporary file, in the folder that ``tempfile`` chooses
    (``TMPDIR``): memory stays bounded, and the disk has to have room. Most documents are short:
    ``tempfile.SpooledTemporaryFile`` would have each of their parts encoded and decoded.
    """

    def __init__(self) -> None:
        self._parts: list[DocumentPart] = []
        self._characters = 0
        # Parts without their text, and how many bytes of the file that has.
        self._filed: list[tuple[DocumentPart, int]] = []
        self._file: BinaryIO | None = None

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def add(self, part: DocumentPart) -> None:
        """Hold one more part.

        Raises:
            OSError: there is no room for it; its ``filename`` is the folder.
        """
        if self._file is None and self._characters + len(part.text) <= _IN_MEMORY:
            self._characters += len(part.text)
            self._parts.append(part)
            return
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - `clear` closes it
            size = self._file.write(part.text.encode())
            self._file.flush()  # so that no other call can fail
        except OSError as error:
            error.filename = tempfile.gettempdir()
            raise
        self._filed.append((part._replace(text=""), size))

    def take(self) -> Iterator[DocumentPart]:
        """Yield the parts that are held, in their order; then drop them."""
        yield from self._parts
        if self._file is not None:
            self._file.seek(0)
            for part, size in self._filed:
                yield part._replace(text=self._file.read(size).decode())
        self.clear()

    def clear(self) -> None:
        """Drop all parts that are held."""
        self._parts.clear()
        self._characters = 0
        self._filed.clear()
        if self._file is not None:
            with suppress(OSError):  # of the write that failed
                self._file.close()
            self._file = None
