"""Columns of Parquet files, read by ``pyarrow`` in bounded memory.

A small file may stand for terabytes: a text that is stored once may be that of millions of rows,
and a page of one letter compresses well. So texts are read as dictionaries, and equal ones are one
``str``. The file tells the decompressed size of each group of rows, and one that is too large is
refused. ``pyarrow`` has no bound for a page that is larger than the file tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple

from .arrow import import_pyarrow

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
    """Yield batches of the columns of a Parquet file that it has, and the share of rows so far.

    Args:
        source: the file, at any place; it can be sought in.
        columns: the columns.

    Raises:
        ImportError: ``pyarrow`` is not installed, or not in a version that is safe.
        OSError: the file cannot be read.
        ValueError: it is no Parquet file, or a column is missing or of another type.
    """
    import_pyarrow("Parquet is read by pyarrow: pip install 'compat-bpe[parquet]'")
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
    """Return the values of a column; equal texts are one object if there is much of them.

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
