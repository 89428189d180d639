"""Counts in Parquet files, read by ``pyarrow``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .parquet import Column, parquet_batches, values

_COLUMNS = (Column("chunk", "string"), Column("count", "integer"), Column("group", "string", False))


def parquet_rows(path: str) -> Iterator[tuple[Any, Any, Any]]:
    """Yield chunk, count and group (None if there is none) of each row; see ``counts_file``.

    Raises:
        ImportError: ``pyarrow`` is not installed, or not in a version that is safe.
        OSError: the file cannot be read.
        ValueError: it is no Parquet file, or a column is missing or of another type.
    """
    with open(path, "rb") as source:
        for batch, _ in parquet_batches(source, _COLUMNS):
            columns = [values(column) for column in batch.columns]
            if len(columns) == 2:
                columns.append([None] * batch.num_rows)
            yield from zip(*columns)
