"""Texts in the columns of tables: Parquet, and Arrow files and streams, read by ``pyarrow``.

An Arrow file (Feather, version 2) and an Arrow stream are told apart by their first bytes: files of
both kinds are called ``.arrow``. A stream may come through a pipe. A record batch is held in memory
at a time; ``pyarrow`` has no bound for what a compressed one decompresses to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Callable

from ..files.text import open_bytes
from .arrow import import_pyarrow
from .parquet import BYTES, ROWS, Column, check_columns, parquet_batches, reading, values

_PARQUET = (".parquet", ".pq")
_ARROW = (".arrow", ".arrows", ".feather")

_ARROW_MAGIC, _FEATHER_1_MAGIC = b"ARROW1\0\0", b"FEA1"
#: Parquet's magic, and the first byte of the header of a page: a text may begin with the former.
_PARQUET_MAGIC = b"PAR1\x15"


def is_table(path: str) -> bool:
    """Return True if a file is a table by its name.

    >>> is_table("wiki/aa.parquet"), is_table("wiki/aa.csv")
    (True, False)
    """
    return path.lower().endswith((*_PARQUET, *_ARROW))


def is_table_data(beginning: bytes) -> bool:
    """Return True if a file is a table by its first bytes, whatever its name."""
    return beginning.startswith((_PARQUET_MAGIC, _ARROW_MAGIC))


def table_rows(
    path: str, text: str, group: str | None, advance: Callable[[int], None]
) -> Iterator[tuple[Any, Any]]:
    """Yield the text and the group of each row, None where there is none.

    Args:
        path: the path of the file.
        text: the name of the column of texts.
        group: the name of the column of groups; None if there is none.
        advance: called with numbers of bytes of the file, the share that the rows so far are.

    Raises:
        ImportError: ``pyarrow`` is not installed, or not in a version that is safe.
        OSError: the file cannot be read.
        ValueError: it is no such file, or is damaged; a column is missing or has no texts.
    """
    columns = [Column(text, "string")]
    if group is not None and group != text:
        columns.append(Column(group, "string"))
    read = _parquet if path.lower().endswith(_PARQUET) else _arrow
    with open_bytes(path) as source:
        size, told = os.fstat(source.fileno()).st_size, 0
        for batch, share in read(source, columns):
            own = [values(batch.column(column.name)) for column in columns]
            yield from zip(own[0], own[-1])
            advance(int(size * share) - told)
            told = int(size * share)
        if told < size:
            advance(size - told)


def _parquet(source: Any, columns: list[Column]) -> Iterator[tuple[Any, float]]:
    if not source.seekable():
        raise ValueError("Parquet cannot be read from a pipe: its end says where its columns are")
    yield from parquet_batches(source, columns)


def _arrow(source: Any, columns: list[Column]) -> Iterator[tuple[Any, float]]:
    """Yield batches of an Arrow file or stream, and the share of it that is read."""
    import_pyarrow("Arrow is read by pyarrow: pip install 'compat-bpe[parquet]'")
    beginning = source.peek(8)[:8]
    if beginning.startswith(_FEATHER_1_MAGIC):
        raise ValueError("Feather of version 1; write it as version 2")
    with reading("Arrow"):
        if beginning.startswith(_ARROW_MAGIC):
            if not source.seekable():
                raise ValueError(
                    "an Arrow file cannot be read from a pipe: its end says where its batches "
                    "are; write a stream"
                )
            yield from _of_file(source, columns)
        else:
            yield from _of_stream(source, columns)


def _of_file(source: Any, columns: list[Column]) -> Iterator[tuple[Any, float]]:
    from pyarrow import ipc

    schema = ipc.open_file(source).schema
    names = check_columns(schema, columns)
    own = [schema.get_field_index(name) for name in names]
    file = ipc.open_file(source, options=ipc.IpcReadOptions(included_fields=own))
    number = file.num_record_batches
    for at in range(number):
        yield from ((part, (at + share) / number) for part, share in _parts(file.get_batch(at)))


def _of_stream(source: Any, columns: list[Column]) -> Iterator[tuple[Any, float]]:
    from pyarrow import ipc

    size = os.fstat(source.fileno()).st_size
    stream = ipc.open_stream(source)
    check_columns(stream.schema, columns)
    for batch in stream:
        # The size is 0 for a pipe.
        at = min(source.tell() / size, 1.0) if size else 0.0
        yield from ((part, at) for part, _ in _parts(batch))


def _parts(batch: Any) -> Iterator[tuple[Any, float]]:
    """Yield a batch in parts of as many rows as fit, each with the share of the rows so far."""
    batch.validate(full=True)  # the places of texts in a hostile file may lead outside
    number = batch.num_rows
    rows = max(1, min(ROWS, BYTES * number // max(batch.nbytes, 1)))
    for start in range(0, number, rows):
        yield batch.slice(start, rows), min(start + rows, number) / number
