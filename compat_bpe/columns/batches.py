"""The functions of SQL on batches of rows, with an encoding named in each row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Callable

from ..encodings.encoding import Encoding
from ..encodings.registry import encoding_of
from ..encodings.resolve import UnresolvedError, resolve
from ..pipeline.cache import Cache
from .encoding_for_workers import TERMS, Carried
from .functions import each_once, splitting, truncating
from .texts import Errors, texts_of

#: The most texts that are remembered with the same other arguments, the length of the longest of
#: these, and the most such memories. One is 16 MiB of ASCII, or 64 MiB of the widest characters,
#: and as much for results that are texts.
_KEPT, _LONGEST = 1 << 14, 1024
_MEMOS = 4

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
    if name in own:
        return own[name].get()
    try:
        return encoding_of(resolve(name, files=False))
    except UnresolvedError as error:
        raise ValueError(error.message(TERMS)) from None


class Batches:
    """A function on batches of rows; a null anywhere in a row gives None.

    The encodings of a batch are looked up before its first text is read, and its texts before the
    first call. Equal rows of a batch are made once. What was made of short texts is remembered
    from batch to batch. Threads may share it.

    Args:
        function: the function.
        own: encodings of the caller's own, by their names.
        errors: as in ``texts_of``.
    """

    def __init__(self, function: RowFunction, own: Mapping[str, Carried], errors: Errors) -> None:
        self._function = function
        self._own = own
        self._errors = errors
        #: The results for texts, by the other arguments.
        self._memos: dict[Any, Cache[Any]] = {}

    def made(self, texts: Any, names: Any, *others: Any) -> list[Any]:
        """Return what the function makes of each row of Arrow arrays.

        Raises:
            ValueError: there is no such encoding; or as in ``texts_of``.
        """
        named = names.to_pylist()
        encodings = {name: encoding_named(name, self._own) for name in {*named} - {None}}

        def make(row: Any) -> Any:
            if None in row:
                return None
            text, name, *more = row
            return self._memo(encodings[name], *more)[text]

        rows = zip(
            texts_of(texts, self._errors, "'text'"), named, *(one.to_pylist() for one in others)
        )
        return each_once(make, rows)

    def _memo(self, encoding: Encoding, *more: Any) -> Cache[Any]:
        key = (encoding, more)
        memo = self._memos.get(key)
        if memo is None:
            memo = Cache(lambda text: self._function(encoding, text, *more), _KEPT, _LONGEST)
            if len(self._memos) < _MEMOS:  # else it is for this row alone
                self._memos[key] = memo
        return memo
