"""DataFrames: the columns that a job needs, checked on the driver, and functions on their batches.

A batch is an Arrow ``RecordBatch``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Callable

from ..columns.texts import Errors, texts_of
from .needs import needed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The types of columns that have texts.
_TEXTS = ("string", "binary")

#: The most columns that a message lists.
_LISTED = 12


def check_text_column(df: DataFrame, column: str) -> None:
    """Raise an error unless a column of a DataFrame has texts.

    Raises:
        TypeError: the column has values of another type.
        ValueError: there is no such column.
    """
    type_name = column_type(df, column)
    if type_name.partition(" ")[0] not in _TEXTS:
        raise TypeError(
            f"the column {column!r} is of type {type_name}; it must be string or binary"
        )


def column_type(df: DataFrame, column: str) -> str:
    """Return the type of a column.

    Raises:
        TypeError: ``column`` is not a str.
        ValueError: there is no such column; the message lists those that there are.
    """
    if not isinstance(column, str):
        raise TypeError(f"a column is given by its name, a str, not {type(column).__name__}")
    types: dict[str, str] = dict(df.dtypes)
    if column not in types:
        names = ", ".join(map(repr, [*types][:_LISTED])) + (", …" if len(types) > _LISTED else "")
        raise ValueError(f"there is no column {column!r}; the columns are {names}")
    return types[column]


def quoted(column: str) -> str:
    """Return the name of a column as Spark reads it, whatever is in it.

    >>> print(quoted("a.b"), quoted("a`b"))
    `a.b` `a``b`
    """
    return "`" + column.replace("`", "``") + "`"


def picked(df: DataFrame, column: str, group: str | None, *others: Any) -> DataFrame:
    """Return the texts and the groups of a DataFrame, as its first two columns.

    Args:
        df: the DataFrame.
        column: the column of texts.
        group: the column of groups; None if all texts are of the group "".
        others: columns that follow.

    Raises:
        TypeError: the texts are none, or a name is not a str.
        ValueError: a column is not there.
    """
    functions = needed("pyspark.sql.functions")
    needed("pyarrow")
    check_text_column(df, column)
    groups = functions.lit("")
    if group is not None:
        if column_type(df, group).startswith(("array", "map", "struct")):
            raise TypeError(f"the column {group!r} of groups is of type {column_type(df, group)}")
        named = functions.col(quoted(group)).cast("string")
        groups = functions.coalesce(named, functions.lit(""))
    text = functions.col(quoted(column)).alias("text")
    return df.select(text, groups.alias("group"), *others)


def rows_of(
    batches: Iterable[Any],
    errors: Errors,
    column: str,
    skipped: Callable[[int], None] = lambda texts: None,
) -> Iterator[tuple[str, str, tuple[Any, ...]]]:
    """Yield the text, the group and the rest of the rows of ``picked`` that have a text.

    Args:
        batches: the batches of a partition.
        errors: as in ``count_tokens``.
        column: the name of the column, for messages.
        skipped: called with the number of texts of a batch that are left out because of errors.
    """
    for batch in batches:
        texts = texts_of(batch.column(0), errors, repr(column))
        if errors == "skip":
            skipped(texts.count(None) - batch.column(0).null_count)
        others = [one.to_pylist() for one in batch.columns[1:]]
        for text, group, *rest in zip(texts, *others):
            if text:
                yield text, group, tuple(rest)


def mapped(
    df: DataFrame, function: Callable[[Iterator[Any]], Iterator[Any]], schema: Any
) -> DataFrame:
    """Return what a function makes of the batches of each partition."""
    return df.mapInArrow(lambda batches: function(batches), schema)


def batch_of(names: Sequence[str], types: Sequence[str], columns: Sequence[list[Any]]) -> Any:
    """Return a batch of some columns.

    Args:
        names: their names.
        types: their types, each the name of a function of PyArrow.
        columns: their values.
    """
    arrow = needed("pyarrow")
    arrays = [arrow.array(values, getattr(arrow, kind)()) for kind, values in zip(types, columns)]
    return arrow.RecordBatch.from_arrays(arrays, list(names))
