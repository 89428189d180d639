"""The functions on columns, for SQL."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Callable

from ..columns.encoding_for_workers import AnyEncoding, Carried, check_fixed_ids
from ..columns.functions import splitting, truncating
from ..columns.texts import Errors, check_errors, texts_of
from ..encodings.encoding import Encoding
from ..encodings.registry import get_encoding
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
    function: Callable[..., Any], own: Mapping[str, Carried], errors: Errors, returns: str
) -> Callable[..., Any]:
    return partial(_apply, function, own, errors, returns)


def _apply(
    function: Callable[..., Any],
    own: Mapping[str, Carried],
    errors: Errors,
    returns: str,
    texts: Any,
    names: Any,
    *others: Any,
) -> Any:
    """Apply a function to the rows of Arrow arrays; a row with a null anywhere gives null."""
    encodings: dict[str, Encoding] = {}
    values: list[Any] = []
    rows = zip(texts_of(texts, errors, "'text'"), names.to_pylist(), *map(_listed, others))
    for text, name, *more in rows:
        if text is None or name is None or None in more:
            values.append(None)
            continue
        if name not in encodings:
            encodings[name] = own[name].get() if name in own else get_encoding(name)
        values.append(function(encodings[name], text, *more))
    return arrow_of(values, returns)


def _listed(array: Any) -> list[Any]:
    listed: list[Any] = array.to_pylist()
    return listed


# An encoding of a class of its own has its own methods.


def _count(encoding: Encoding, text: str) -> int:
    return encoding.count(text)


def _encoded(encoding: Encoding, text: str) -> list[int]:
    check_fixed_ids(encoding)
    return encoding.encode_ordinary(text)


def _truncated(encoding: Encoding, text: str, limit: int) -> str:
    return str(truncating(encoding, limit)(text))


def _split(encoding: Encoding, text: str, limit: int) -> list[str]:
    return list(splitting(encoding, limit)(text))


#: The functions and the types of their columns, by name.
_FUNCTIONS: dict[str, tuple[Callable[..., Any], str]] = {
    "count_tokens": (_count, "bigint"),
    "encode_tokens": (_encoded, "array<int>"),
    "truncate_tokens": (_truncated, "string"),
    "split_tokens": (_split, "array<string>"),
}
