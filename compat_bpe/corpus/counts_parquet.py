"""Counts in Parquet files, read by ``pyarrow``.

A small file may stand for terabytes: a text that is stored once may be that of millions of rows,
and a page of one letter compresses well. So texts are read as dictionaries, and equal ones are one
``str``. The file tells the decompressed size of each group of rows, and one that is too large is
refused. ``pyarrow`` has no bound for a page that is larger than the file tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .arrow import import_pyarrow

#: The greatest number of rows that are held in memory at a time.
_ROWS = 1 << 16
#: The greatest number of bytes of text in them, where equal texts share one ``str``.
_BYTES = 1 << 26
#: The greatest number of bytes of a column of text in one group of rows. Spark begins a new group
#: at 128 MB, and pyarrow after a million rows.
_GROUP_BYTES = 1 << 29


def parquet_rows(path: str) -> Iterator[tuple[Any, Any, Any]]:
    """Yield chunk, count and group (None if there is none) of each row; see ``counts_file``.

    Raises:
        ImportError: ``pyarrow`` is not installed, or not in a version that is safe.
        OSError: the file cannot be read.
        ValueError: it is no Parquet file, or a column is missing or of another type.
    """
    pyarrow = import_pyarrow(
        f"{path}: Parquet is read by pyarrow: pip install 'compat-bpe[parquet]'"
    )
    from pyarrow import parquet, types

    with open(path, "rb") as source:
        try:
            file = parquet.ParquetFile(source)
            fields = {field.name: field.type for field in file.schema_arrow}
            for name, is_one, kind in (
                ("chunk", lambda one: types.is_string(one) or types.is_large_string(one), "string"),
                ("count", types.is_integer, "integer"),
                ("group", lambda one: types.is_string(one) or types.is_large_string(one), "string"),
            ):
                if name not in fields and name != "group":
                    known = ", ".join(map(repr, fields))
                    raise ValueError(f"no column {name!r}; the columns are {known}")
                own = fields.get(name)
                value = own.value_type if own is not None and types.is_dictionary(own) else own
                if value is not None and not is_one(value):
                    raise ValueError(f"the column {name!r} is {own}; it must be of type {kind}")
            names = [name for name in ("chunk", "count", "group") if name in fields]
            texts = [name for name in names if name != "count"]
            file = parquet.ParquetFile(source, metadata=file.metadata, read_dictionary=texts)
            for batch in _batches(file, names):
                columns = [_values(batch.column(name)) for name in names]
                if len(columns) == 2:
                    columns.append([None] * batch.num_rows)
                yield from zip(*columns)
        except (pyarrow.ArrowException, UnicodeDecodeError) as error:
            raise ValueError(f"damaged Parquet: {error}") from None
        except OSError as error:
            if error.errno is not None:
                raise
            raise ValueError(f"damaged Parquet: {error}") from None  # cut short, for instance


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
        rows = max(1, min(_ROWS, _BYTES * group.num_rows // max(size, 1)))
        yield from file.iter_batches(rows, row_groups=[number], columns=names)


def _values(column: Any) -> list[Any]:
    """Return the values of a column; equal texts are one object if there is much of them."""
    if not hasattr(column, "dictionary"):
        cells: list[Any] = column.to_pylist()
        return cells
    from pyarrow import compute

    texts, numbers = column.dictionary, column.indices
    size = compute.sum(compute.binary_length(texts).take(numbers)).as_py() or 0
    if size <= _BYTES:
        return _values(column.dictionary_decode())
    used = numbers.unique().drop_null()
    values = dict(zip(used.to_pylist(), texts.take(used).to_pylist()))
    return list(map(values.get, numbers.to_pylist()))
