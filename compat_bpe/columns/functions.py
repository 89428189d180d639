"""The functions on one text that columns are made with, their arguments checked beforehand."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Callable

from ..encodings.encoding import Encoding
from ..encodings.registry import get_encoding
from ..fit.boundary import Boundary
from ..fit.split import split_text
from ..fit.truncate import Keep
from ..unicode.surrogates import repair

#: The result of a function for one text.
Made = Callable[[str], Any]


def encoding_ids(encoding: Encoding, allowed_special: Collection[str] = ()) -> Made:
    """Return a function from a text to its ids; other special names are plain text."""
    if not allowed_special:
        return encoding.encode_ordinary
    allowed = frozenset(allowed_special)
    return lambda text: encoding.encode(text, allowed_special=allowed, disallowed_special=())


def truncating(
    encoding: Encoding,
    limit: int,
    keep: Keep = "head",
    boundary: Boundary = "char",
    marker: str | None = None,
) -> Made:
    """Return a function from a text to the most of it that fits in ``limit`` tokens."""
    return lambda text: (
        encoding.truncate(repair(text), limit, keep=keep, boundary=boundary, marker=marker).text
    )


def check_truncating(limit: int, keep: Keep, boundary: Boundary, marker: str | None) -> None:
    """Raise ``ValueError`` or ``TypeError`` if texts cannot be truncated so."""
    # An encoding that takes no time to load.
    get_encoding("bytes").truncate("", limit, keep=keep, boundary=boundary, marker=marker)


def splitting(
    encoding: Encoding, limit: int, overlap: int = 0, boundary: Boundary = "char"
) -> Made:
    """Return a function from a text to its parts that each fit in ``limit`` tokens."""
    return lambda text: [
        part.text for part in split_text(encoding, repair(text), limit, overlap, boundary)
    ]


def check_splitting(limit: int, overlap: int, boundary: Boundary) -> None:
    """Raise ``ValueError`` or ``TypeError`` if texts cannot be split so."""
    split_text(get_encoding("bytes"), "", limit, overlap, boundary)


def each_once(made: Callable[[Any], Any], texts: Iterable[Any]) -> list[Any]:
    """Return what a function makes of each text of a batch; it is asked once for equal texts.

    None stays None. What is remembered is forgotten with the batch.

    >>> each_once(len, ["ab", None, "ab", ""])
    [2, None, 2, 0]
    """
    known: dict[Any, Any] = {None: None}
    values = []
    for text in texts:
        if text not in known:
            known[text] = made(text)
        values.append(known[text])
    return values
