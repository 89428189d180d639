"""The functions on columns, for SQL."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Callable

from ..columns.batches import Batches, Errors, RowFunction, check_errors, count, split, truncated
from ..columns.encoding_for_workers import AnyEncoding, Carried, check_fixed_ids
from ..encodings.encoding import Encoding
from .columns import arrow_function, arrow_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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

    The last three have longer names than in Python, since SQL has an ``encode`` and a ``split`` of
    its own, which Spark takes first. An encoding is named by a string.

    Args:
        spark: the session.
        encodings: other encodings, by the names that they shall have in SQL.
        errors: as in ``count_tokens``.

    Returns:
        The names of the functions.

    Raises:
        ValueError, OSError: as in ``count_tokens``.
    """
    check_errors(errors)
    own = {name: Carried(encoding) for name, encoding in (encodings or {}).items()}
    for name, (function, returns) in _FUNCTIONS.items():
        spark.udf.register(name, arrow_function(_applied(function, own, errors, returns), returns))
    return list(_FUNCTIONS)


def _applied(
    function: RowFunction, own: Mapping[str, Carried], errors: Errors, returns: str
) -> Callable[..., Any]:
    return partial(_apply, function, own, errors, returns)


def _apply(
    function: RowFunction, own: Mapping[str, Carried], errors: Errors, returns: str, *arrays: Any
) -> Any:
    return arrow_of(Batches(function, own, errors).made(*arrays), returns)


def _encoded(encoding: Encoding, text: str) -> list[int]:
    check_fixed_ids(encoding)
    return encoding.encode_ordinary(text)


#: The functions and the types of their columns, by name.
_FUNCTIONS: dict[str, tuple[RowFunction, str]] = {
    "count_tokens": (count, "bigint"),
    "encode_tokens": (_encoded, "array<int>"),
    "truncate_tokens": (truncated, "string"),
    "split_tokens": (split, "array<string>"),
}
