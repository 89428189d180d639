"""Values of a column that Python holds, such as those of SQLite, Polars and pandas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .functions import Made, each_once
from .texts import Errors, decoded


def text_of(value: Any, errors: Errors, column: str) -> str | None:
    """Return the text of a str, of bytes or of None.

    Raises:
        ValueError: bytes are not UTF-8, and ``errors`` is ``"strict"``.
        TypeError: it is a value of another type.

    >>> text_of(b"caf\\xc3\\xa9", "strict", "'text'"), text_of(None, "strict", "'text'")
    ('café', None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return decoded(bytes(value), errors, column)
    raise TypeError(
        f"column {column}: a value is of type {type(value).__name__}; texts are strings or bytes"
    )


def made_of(made: Made, values: Iterable[Any], errors: Errors, column: str) -> list[Any]:
    """Return what a function makes of each value; None gives None.

    Raises:
        ValueError, TypeError: as in ``text_of``.
    """
    return each_once(made, [text_of(value, errors, column) for value in values])
