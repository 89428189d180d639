"""The functions of SQL on batches of rows, with an encoding named in each row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

from ..encodings.encoding import Encoding
from ..encodings.registry import get_encoding
from .encoding_for_workers import Carried
from .functions import each_once, splitting, truncating
from .texts import Errors, texts_of

#: A function of an encoding, a text, and perhaps a limit.
RowFunction = Callable[..., Any]


def count(encoding: Encoding, text: str) -> Any:
    """Return the number of tokens of a text."""
    return encoding.count(text)


def truncated(encoding: Encoding, text: str, limit: int) -> Any:
    """Return the most of a text that fits in ``limit`` tokens."""
    return truncating(encoding, limit)(text)


def split(encoding: Encoding, text: str, limit: int) -> Any:
    """Return the parts of a text that each fit in ``limit`` tokens."""
    return splitting(encoding, limit)(text)


def encoding_named(name: str, own: Mapping[str, Carried]) -> Encoding:
    """Return an encoding by its name: one of the caller's own, or one that ships.

    Raises:
        ValueError: there is none of that name.
    """
    return own[name].get() if name in own else get_encoding(name)


def made_of_batch(
    function: RowFunction,
    own: Mapping[str, Carried],
    errors: Errors,
    texts: Any,
    names: Any,
    *others: Any,
) -> list[Any]:
    """Return what a function makes of each row of Arrow arrays; a null anywhere gives None.

    The encodings are looked up before the first text is read, and the texts before the first call.
    Equal rows are made once.

    Args:
        function: the function.
        own: encodings of the caller's own, by their names.
        errors: as in ``texts_of``.
        texts, names, others: the arrays.

    Raises:
        ValueError: there is no such encoding; or as in ``texts_of``.
    """
    named = names.to_pylist()
    encodings = {
        name: encoding_named(name, own) for name in dict.fromkeys(named) if name is not None
    }

    def make(row: Any) -> Any:
        if None in row:
            return None
        text, name, *more = row
        return function(encodings[name], text, *more)

    rows = zip(texts_of(texts, errors, "'text'"), named, *(one.to_pylist() for one in others))
    return each_once(make, rows)
