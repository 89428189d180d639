"""Texts in the columns of tables: Parquet, and Arrow files and streams, read by ``pyarrow``.

Columns of Parquet files are read in bounded memory. A small file may hold terabytes: a text that is
stored once may be that of millions of rows, and a page of one letter compresses well. So texts are
read as dictionaries, and equal ones are one ``str``. The file gives the decompressed size of each
group of rows, and a group that is too large is refused. ``pyarrow`` has no bound for a page that is
larger than the file says.

An Arrow file (Feather, version 2) and an Arrow stream are told apart by their first bytes: files of
both kinds are called ``.arrow``. A stream may come through a pipe. A record batch is held in memory
at a time; ``pyarrow`` has no bound for the decompressed size of a compressed one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, Callable, NamedTuple

from ..files.text import open_bytes

_PARQUET = (".parquet", ".pq")
_ARROW = (".arrow", ".arrows", ".feather")

_ARROW_MAGIC, _FEATHER_1_MAGIC = b"ARROW1\0\0", b"FEA1"
#: The message without pyarrow.
_NEEDED = "{} is read by pyarrow: pip install '.[parquet]' in a checkout of compat-bpe"
#: Parquet's magic, and the first byte of the header of a page: a text may begin with the former.
_PARQUET_MAGIC = b"PAR1\x15"


def is_table(path: str) -> bool:
    """Return True if a file is a table by its name.

    >>> is_table("wiki/aa.parquet"), is_table("wiki/aa.csv")
    (True, False)
    """
    return path.lower().endswith((*_PARQUET, *_ARROW))


def is_parquet(path: str) -> bool:
    """Return True if a file is Parquet by its name."""
    return path.lower().endswith(_PARQUET)


def is_table_data(beginning: bytes) -> bool:
    """Return True if a file is a table by its first bytes, regardless of its name."""
    return beginning.startswith((_PARQUET_MAGIC, _ARROW_MAGIC))


def table_rows(
    path: str, text: str, group: str | None, advance: Callable[[int], None]
) -> Iterator[tuple[Any, Any]]:
    """Yield the text and the group of each row, None where there is none.

    Args:
        path: the path of the file.
        text: the name of the column of texts.
        group: the name of the column of groups; None if there is none.
        advance: called with numbers of bytes: the share of the file that has been read.

    Raises:
        ImportError: ``pyarrow`` is not installed, or not in a version that is safe.
        OSError: the file cannot be read.
        ValueError: it is not a table, or is damaged; a column is missing or has no texts.
    """
    columns = [Column(text, "string")]
    if group is not None and group != text:
        columns.append(Column(group, "string"))
    read = _parquet_batches if is_parquet(path) else _arrow
    with open_bytes(path) as source:
        size, told = os.fstat(source.fileno()).st_size, 0
        for batch, share in read(source, columns):
            own = [values(batch.column(column.name)) for column in columns]
            yield from zip(own[0], own[-1])
            advance(int(size * share) - told)
            told = int(size * share)
        if told < size:
            advance(size - told)


def _parquet_batches(source: Any, columns: list[Column]) -> Iterator[tuple[Any, float]]:
    if not source.seekable():
        raise ValueError(
            "Parquet cannot be read from a pipe, since its index is at the end; save it as a file"
        )
    yield from parquet_batches(source, columns)


def _arrow(source: Any, columns: list[Column]) -> Iterator[tuple[Any, float]]:
    """Yield batches of an Arrow file or stream, and the share of it that is read."""
    import_pyarrow(_NEEDED.format("Arrow"))
    beginning = source.peek(8)[:8]
    if beginning.startswith(_FEATHER_1_MAGIC):
        raise ValueError("Feather version 1 is not supported; write version 2")
    with reading("Arrow"):
        if beginning.startswith(_ARROW_MAGIC):
            if not source.seekable():
                raise ValueError(
                    "an Arrow file cannot be read from a pipe, since its index is at the end; "
                    "write a stream"
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
        yield from ((part, (at + share) / number) for part, share in _slices(file.get_batch(at)))


def _of_stream(source: Any, columns: list[Column]) -> Iterator[tuple[Any, float]]:
    from pyarrow import ipc

    size = os.fstat(source.fileno()).st_size
    stream = ipc.open_stream(source)
    check_columns(stream.schema, columns)
    for batch in stream:
        # The size is 0 for a pipe.
        at = min(source.tell() / size, 1.0) if size else 0.0
        yield from ((part, at) for part, _ in _slices(batch))


def _slices(batch: Any) -> Iterator[tuple[Any, float]]:
    """Yield a batch in parts of as many rows as fit, each with the share of the rows so far."""
    batch.validate(full=True)  # the places of texts in a hostile file may lead outside
    number = batch.num_rows
    rows = max(1, min(ROWS, BYTES * number // max(batch.nbytes, 1)))
    for start in range(0, number, rows):
        yield batch.slice(start, rows), min(start + rows, number) / number


#: The greatest number of rows that are held in memory at a time.
ROWS = 1 << 16
#: The greatest number of bytes of text in them, where equal texts share one ``str``.
BYTES = 1 << 26
#: The greatest number of bytes of a column of text in one group of rows. Spark begins a new group
#: at 128 MB, and pyarrow after a million rows.
_GROUP_BYTES = 1 << 29


class Column(NamedTuple):
    """A column that is read.

    Args:
        name: its name.
        kind: ``"string"`` or ``"integer"``.
        is_needed: True if the file must have it.
    """

    name: str
    kind: str
    is_needed: bool = True


def check_columns(fields: Any, columns: Sequence[Column]) -> list[str]:
    """Return the names of those columns that a schema has.

    Args:
        fields: the fields of the schema.
        columns: the columns.

    Raises:
        ValueError: a column is missing, or of another type.
    """
    known = {field.name: field.type for field in fields}
    for column in columns:
        if column.name not in known:
            if column.is_needed:
                names = ", ".join(map(repr, known)) or "none"
                raise ValueError(f"no column {column.name!r}; the columns are {names}")
            continue
        own = known[column.name]
        if not _is_of_kind(own, column.kind):
            raise ValueError(
                f"the column {column.name!r} is {own}; it must be of type {column.kind}"
            )
    return [column.name for column in columns if column.name in known]


def _is_of_kind(own: Any, kind: str) -> bool:
    from pyarrow import types

    value = own.value_type if types.is_dictionary(own) else own
    if kind == "integer":
        return bool(types.is_integer(value))
    is_view = getattr(types, "is_string_view", lambda _: False)  # since pyarrow 16
    return bool(types.is_string(value) or types.is_large_string(value) or is_view(value))


@contextmanager
def reading(kind: str) -> Iterator[None]:
    """Turn the errors of ``pyarrow`` for a damaged file into ``ValueError``.

    Args:
        kind: the name of the format.
    """
    import pyarrow

    try:
        yield
    except pyarrow.ArrowException as error:
        raise ValueError(f"damaged {kind}: {error}") from None
    except OSError as error:
        if error.errno is not None:
            raise
        raise ValueError(f"damaged {kind}: {error}") from None  # cut short, for instance


def parquet_batches(source: BinaryIO, columns: Sequence[Column]) -> Iterator[tuple[Any, float]]:
    """Yield batches of those columns that a Parquet file has, and the share of rows so far.

    Args:
        source: the file, at any place; it is seekable.
        columns: the columns.

    Raises:
        ImportError: ``pyarrow`` is not installed, or not in a version that is safe.
        OSError: the file cannot be read.
        ValueError: it is not a Parquet file, or a column is missing or of another type.
    """
    import_pyarrow(_NEEDED.format("Parquet"))
    from pyarrow import parquet

    with reading("Parquet"):
        file = parquet.ParquetFile(source)
        names = check_columns(file.schema_arrow, columns)
        texts = [one.name for one in columns if one.kind == "string" and one.name in names]
        file = parquet.ParquetFile(source, metadata=file.metadata, read_dictionary=texts)
        rows, done = file.metadata.num_rows, 0
        for batch in _batches(file, names):
            done += batch.num_rows
            yield batch, done / max(rows, done, 1)


def _batches(file: Any, names: list[str]) -> Iterator[Any]:
    """Yield the batches of all groups of rows, each of as many rows as fit."""
    for number in range(file.num_row_groups):
        group = file.metadata.row_group(number)
        columns = [group.column(at) for at in range(group.num_columns)]
        sizes = [one.total_uncompressed_size for one in columns if one.path_in_schema in names]
        size = max(sizes, default=0)
        if size > _GROUP_BYTES:
            raise ValueError(
                f"a group of rows has {size:,} bytes of a column; write groups of fewer rows, "
                f"with at most {_GROUP_BYTES:,} bytes"
            )
        rows = max(1, min(ROWS, BYTES * group.num_rows // max(size, 1)))
        yield from file.iter_batches(rows, row_groups=[number], columns=names)


def values(column: Any) -> list[Any]:
    """Return the values of a column; in a large one, equal texts are one object.

    Raises:
        ValueError: a text is not UTF-8.
    """
    try:
        if not hasattr(column, "dictionary"):
            cells: list[Any] = column.to_pylist()
            return cells
        from pyarrow import compute

        texts, numbers = column.dictionary, column.indices
        size = compute.sum(compute.binary_length(texts).take(numbers)).as_py() or 0
        if size <= BYTES:
            return values(column.dictionary_decode())
        used = numbers.unique().drop_null()
        own = dict(zip(used.to_pylist(), texts.take(used).to_pylist()))
        return list(map(own.get, numbers.to_pylist()))
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(f"damaged text, not UTF-8: byte 0x{byte:02x}") from None


#: Versions before this one run code from a Parquet file: CVE-2023-47248.
_FIRST_SAFE = (14, 0, 1)


def import_pyarrow(needed_for: str) -> Any:
    """Return the module ``pyarrow``.

    Args:
        needed_for: the message if it is missing: its purpose, and how to install it.

    Raises:
        ImportError: it is not installed, or only in an old version.
    """
    try:
        import pyarrow
    except ImportError:
        raise ImportError(needed_for, name="pyarrow") from None
    version = str(pyarrow.__version__)
    if tuple(map(int, re.findall(r"\d+", version)[:3])) < _FIRST_SAFE:
        least = ".".join(map(str, _FIRST_SAFE))
        raise ImportError(
            f"pyarrow {version} runs code from a Parquet file (CVE-2023-47248): "
            f"pip install 'pyarrow>={least}'",
            name="pyarrow",
        )
    return pyarrow
