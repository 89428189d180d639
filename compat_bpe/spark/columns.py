"""Columns of token counts, token ids, and texts that fit, made from a column of texts.

Each is an Arrow-based function of Python: a worker gets some thousand rows at a time as an Arrow
array.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Callable

from ..columns.batches import (
    AnyEncoding,
    Batches,
    Carried,
    Errors,
    Maker,
    RowFunction,
    check_errors,
    check_fixed_ids,
    count,
    each_once,
    making,
    making_ids,
    texts_of,
    truncated,
)
from ..columns.batches import split as split_row
from ..encodings.encoding import Encoding
from ..fit.boundary import Boundary
from ..fit.truncate import Keep
from .frames import needed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

    from pyspark.sql import Column, SparkSession


def count_tokens(
    column: Column | str, encoding: AnyEncoding, *, errors: Errors = "strict"
) -> Column:
    """Return a column with the number of tokens of each text, as ``Encoding.count`` gives it.

    Args:
        column: a column of strings or bytes, or its name. Null stays null.
        encoding: the encoding, its name, or the path of its file or folder, which the driver reads.
        errors: the treatment of bytes that are not UTF-8. ``"strict"`` fails the job,
            ``"replace"`` replaces them by U+FFFD, and ``"skip"`` gives null.

    Raises:
        ValueError: there is no such encoding, or no such treatment; the file is damaged.
        OSError: the file cannot be read.
        ImportError: PySpark or PyArrow is not installed.
    """
    carried = Carried(encoding)
    return _column_of("count_tokens", column, "bigint", errors, lambda: carried.get().count)


def encode(
    column: Column | str,
    encoding: AnyEncoding,
    *,
    allowed_special: Collection[str] = (),
    errors: Errors = "strict",
) -> Column:
    """Return a column with the token ids of each text, as an array of integers.

    Args:
        column, encoding, errors: as in ``count_tokens``.
        allowed_special: the names of special tokens that are tokens in the texts. All other names
            are plain text: a job does not fail because of one.

    Raises:
        ValueError: as in ``count_tokens``; also if the encoding is a baseline that numbers words as
            they come.
        OSError, ImportError: as in ``count_tokens``.
        TypeError: ``allowed_special`` is a single str.
    """
    return _column_of("encode", column, "array<int>", errors, making_ids(encoding, allowed_special))


def truncate(
    column: Column | str,
    encoding: AnyEncoding,
    limit: int,
    *,
    keep: Keep = "head",
    boundary: Boundary = "char",
    marker: str | None = None,
    errors: Errors = "strict",
) -> Column:
    """Return a column with as much of each text as fits in ``limit`` tokens.

    Args:
        column, encoding, errors: as in ``count_tokens``.
        limit, keep, boundary, marker: as in ``Encoding.truncate``.

    Raises:
        ValueError: the limit is negative, or there is no such ``keep`` or ``boundary``; as in
            ``count_tokens``.
        OSError, ImportError: as in ``count_tokens``.
    """
    make = making(truncated, encoding, limit, keep, boundary, marker)
    return _column_of("truncate", column, "string", errors, make)


def split(
    column: Column | str,
    encoding: AnyEncoding,
    limit: int,
    *,
    overlap: int = 0,
    boundary: Boundary = "char",
    errors: Errors = "strict",
) -> Column:
    """Return a column with the parts of each text that each fit in ``limit`` tokens, as an array.

    Args:
        column, encoding, errors: as in ``count_tokens``.
        limit, overlap, boundary: as in ``compat_bpe.fit.split_text``.

    Raises:
        ValueError: as in ``split_text`` and in ``count_tokens``.
        OSError, ImportError: as in ``count_tokens``.
    """
    make = making(split_row, encoding, limit, overlap, boundary)
    return _column_of("split", column, "array<string>", errors, make)


def arrow_function(function: Callable[..., Any], returns: str) -> Any:
    """Return a function on Arrow arrays as one on columns.

    Spark has such functions from version 4.1 on. In 4.0 it has only those on pandas, through which
    the arrays then go.
    """
    functions = needed("pyspark.sql.functions")
    needed("pyarrow")
    # Lambdas: Spark would interpret the type hints of a function.
    if _has_arrow_functions():
        return functions.arrow_udf(lambda *arrays: function(*arrays), returns)
    return functions.pandas_udf(lambda *series: _through_pandas(function, series), returns)


def _has_arrow_functions() -> bool:
    return hasattr(needed("pyspark.sql.functions"), "arrow_udf")


def text_column(column: Column | str) -> Column:
    """Return a column that Spark refuses, when it resolves it, unless it has strings or bytes.

    ``crc32`` takes only these, and Spark's message names the column. It is never computed, so the
    values stay as they are.
    """
    functions: Any = needed("pyspark.sql.functions")
    named = functions.col(column) if isinstance(column, str) else column
    never = functions.lit(False) & (functions.crc32(named) > 0)
    return functions.when(never, None).otherwise(named)


def shown(column: Column | str) -> str:
    """Return the name of a column, for messages."""
    return repr(column) if isinstance(column, str) else str(column)[len("Column<") : -1]


def _column_of(
    name: str, column: Column | str, returns: str, errors: Errors, make: Maker
) -> Column:
    """Return a column of a function's results for each text.

    Args:
        name: the name of the function; the column is named after it.
        column, errors: as in ``count_tokens``.
        returns: the type of the column.
        make: returns the function, on a worker.
    """
    check_errors(errors)
    place = shown(column)

    def apply(array: Any) -> Any:
        made = make()
        texts = texts_of(array, errors, place)
        return arrow_of(each_once(made, texts), returns)

    named = f"{name}({place[1:-1]})"
    texts: Any = text_column(column)
    if not _has_arrow_functions():  # pandas refuses strings that are not UTF-8
        texts = texts.cast("binary")
    return arrow_function(apply, returns)(texts).alias(named)


def arrow_of(values: list[Any], returns: str) -> Any:
    """Return values as an Arrow array of a type of Spark."""
    arrow = needed("pyarrow")
    types = {
        "bigint": arrow.int64(),
        "string": arrow.string(),
        "array<int>": arrow.list_(arrow.int32()),
        "array<string>": arrow.list_(arrow.string()),
    }
    return arrow.array(values, types[returns])


def _through_pandas(function: Callable[..., Any], series: tuple[Any, ...]) -> Any:
    arrow = needed("pyarrow")
    return function(*(arrow.Array.from_pandas(one) for one in series)).to_pandas()


def register(
    spark: SparkSession,
    encodings: Mapping[str, AnyEncoding] | None = None,
    *,
    errors: Errors = "strict",
) -> list[str]:
    """Give SQL the functions on columns.

    - ``count_tokens(text, encoding)``
    - ``encode_tokens(text, encoding)``
    - ``truncate_tokens(text, encoding, limit)``
    - ``split_tokens(text, encoding, limit)``

    The last three have longer names than in Python, since Spark's own ``encode`` and ``split`` take
    precedence in SQL. An encoding is named by a string.

    Args:
        spark: the session.
        encodings: other encodings, by their names in SQL.
        errors: as in ``count_tokens``.

    Returns:
        The names of the functions.

    Raises:
        ValueError, OSError: as in ``count_tokens``.
    """
    check_errors(errors)
    own = {name: Carried(encoding) for name, encoding in (encodings or {}).items()}
    for name, (function, returns) in _FUNCTIONS.items():
        apply = partial(_apply, function, own, errors, returns)
        spark.udf.register(name, arrow_function(apply, returns))
    return list(_FUNCTIONS)


def _apply(
    function: RowFunction, own: Mapping[str, Carried], errors: Errors, returns: str, *arrays: Any
) -> Any:
    return arrow_of(Batches(function, own, errors).apply(*arrays), returns)


def _encoded(encoding: Encoding, text: str) -> list[int]:
    check_fixed_ids(encoding)
    return encoding.encode_ordinary(text)


#: The functions and the types of their columns, by name.
_FUNCTIONS: dict[str, tuple[RowFunction, str]] = {
    "count_tokens": (count, "bigint"),
    "encode_tokens": (_encoded, "array<int>"),
    "truncate_tokens": (truncated, "string"),
    "split_tokens": (split_row, "array<string>"),
}
