"""Texts of a column, as the workers get them."""

from __future__ import annotations

from typing import Any, Literal, get_args

#: The treatment of bytes that are not UTF-8; see ``texts_of``.
Errors = Literal["strict", "replace", "skip"]

#: The most bytes of a damaged text that a message shows.
_SHOWN = 40


def check_errors(errors: str) -> None:
    """Raise ``ValueError`` if there is no such treatment of errors.

    >>> check_errors("ignore")
    Traceback (most recent call last):
    ValueError: errors is 'ignore'; it must be one of strict, replace, skip
    """
    if errors not in get_args(Errors):
        raise ValueError(f"errors is {errors!r}; it must be one of {', '.join(get_args(Errors))}")


def texts_of(array: Any, errors: Errors, column: str) -> list[str | None]:
    """Return the texts of an Arrow array of strings or bytes.

    A string of Spark may hold any bytes, for instance those of a text file in Latin-1, so strings
    are treated as bytes are.

    Args:
        array: the array.
        errors: the treatment of bytes that are not UTF-8. ``"strict"`` raises ``ValueError``,
            ``"replace"`` replaces them by U+FFFD, and ``"skip"`` makes the text None.
        column: the name of the column, for messages.

    Raises:
        ValueError: a text is not UTF-8, and ``errors`` is ``"strict"``.
    """
    values = _values(array)
    if any(isinstance(value, bytes) for value in values):
        return [None if value is None else decoded(value, errors, column) for value in values]
    return values


def _values(array: Any) -> list[Any]:
    try:
        values: list[Any] = array.to_pylist()
    except UnicodeDecodeError:
        values = array.cast("large_binary" if "large" in str(array.type) else "binary").to_pylist()
    return values


def decoded(value: bytes, errors: Errors, column: str) -> str | None:
    """Return the text of bytes; the arguments are as in ``texts_of``."""
    try:
        return value.decode("utf-8", "replace" if errors == "replace" else "strict")
    except UnicodeDecodeError as error:
        if errors == "skip":
            return None
        shown = value[max(error.start - _SHOWN // 2, 0) :][:_SHOWN]
        raise ValueError(
            f"column {column}: a text is not UTF-8: byte 0x{value[error.start]:02x} at offset "
            f"{error.start}, in {shown!r}; errors='replace' or 'skip' goes on"
        ) from None
