"""Chunks that come with their counts, made by another program or on other machines.

A row is a pair of a chunk and its count, or a triple of these and the group that it belongs to.
The same chunk may come in several rows, in any order: its counts are added up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import index
from typing import Any, Union

from ..formats.checked_json import is_unicode

#: Chunks with their counts: a mapping, or rows.
Counted = Union[Mapping[str, int], Iterable[Union["tuple[str, int]", "tuple[str, int, str]"]]]

#: The highest count of a row: Parquet files and SentencePiece keep it in 64 bits with a sign.
MOST = (1 << 63) - 1

#: The most characters of a chunk that a message shows.
_SHOWN = 60


class NotAChunkError(ValueError):
    """The error for a counted text that training would not take as one chunk."""


def rows_of(counts: Counted, group: str = "") -> Iterator[tuple[str, int, str]]:
    """Yield checked rows, without those whose count is 0.

    Args:
        counts: the chunks and their counts.
        group: the group of rows without one.

    Raises:
        TypeError: a chunk is not a str, or ``counts`` is neither a mapping nor made of rows.
        ValueError: a chunk is empty or has a surrogate; a count is negative, beyond
            ``MOST``, or no integer.

    >>> list(rows_of({"the": 3, " dog": 2})), list(rows_of([("the", 3, "en"), (" le", 0)]))
    ([('the', 3, ''), (' dog', 2, '')], [('the', 3, 'en')])
    >>> list(rows_of([("the", 3), ("dog", -1)]))
    Traceback (most recent call last):
    ValueError: row 2: the count of 'dog' is -1; it must be 0 or more
    """
    rows: Iterable[Any] = counts.items() if isinstance(counts, Mapping) else counts
    if isinstance(rows, (str, bytes)):
        raise TypeError("counts is a text; pass a mapping of chunks to counts, or pairs of them")
    for number, row in enumerate(rows, 1):
        own = group
        try:
            if len(row) == 2:
                chunk, count = row
            else:
                chunk, count, own = row
        except (TypeError, ValueError):
            raise TypeError(
                f"row {number} must be a chunk and a count, perhaps with a group, not {row!r:.99}"
            ) from None
        if type(count) is not int or not 0 < count <= MOST or not chunk or not is_chunk_text(chunk):
            try:
                count = checked_count(chunk, count)
                check_chunk(chunk)
            except (TypeError, ValueError) as error:
                raise type(error)(f"row {number}: {error}") from None
            if not count:
                continue
        yield chunk, count, own


def is_chunk_text(chunk: object) -> bool:
    """Return True if a value is a text without surrogates."""
    return isinstance(chunk, str) and is_unicode(chunk)


def check_chunk(chunk: object) -> None:
    """Raise ``TypeError`` or ``ValueError`` if a value cannot be a chunk.

    >>> check_chunk("")
    Traceback (most recent call last):
    ValueError: the chunk is empty
    """
    if not isinstance(chunk, str):
        raise TypeError(f"a chunk must be a str, not {type(chunk).__name__}")
    if not chunk:
        raise ValueError("the chunk is empty")
    if not is_unicode(chunk):
        raise ValueError(f"the chunk {shown(chunk)} has a surrogate, which UTF-8 cannot hold")


def checked_count(chunk: object, count: Any) -> int:
    """Return a count as an ``int``; those of numpy, for instance, are of other types.

    Raises:
        ValueError: it is negative, beyond ``MOST``, or no integer.

    >>> checked_count("a", 2.5)
    Traceback (most recent call last):
    ValueError: the count of 'a' is 2.5; it must be an integer
    """
    try:
        if isinstance(count, bool):
            raise TypeError
        number = index(count)
    except TypeError:
        raise ValueError(
            f"the count of {shown(chunk)} is {count!r:.60}; it must be an integer"
        ) from None
    if abs(number) > MOST:
        raise ValueError(f"the count of {shown(chunk)} is beyond {MOST:,}, the most that there are")
    if number < 0:
        raise ValueError(f"the count of {shown(chunk)} is {number}; it must be 0 or more")
    return number


def shown(chunk: object) -> str:
    """Return a chunk for a message, cut if it is long."""
    if isinstance(chunk, str) and len(chunk) > _SHOWN:
        return f"{chunk[:_SHOWN]!r}…"
    return repr(chunk)
