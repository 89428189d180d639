"""The choice and the order of the counted files that are shown."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..files.text import parts_of_path
from ..files.walk import Found
from .counting import Counts
from .output import plural

#: The orders that files can be sorted by.
ORDERS = ("name", "path", "tokens")


class Counted(NamedTuple):
    """A file and its counts."""

    found: Found
    counts: Counts


class Rest(NamedTuple):
    """Files that are not shown."""

    files: int
    counts: Counts


def more_files(number: int) -> str:
    """Return a line for files that are not shown.

    >>> more_files(2)
    '(2 more files)'
    """
    return f"({plural(number, 'more file')})"


def total(counts: Iterable[Counts]) -> Counts:
    """Return the sum of some counts.

    >>> total([Counts(1, 2, 3), Counts(10, 20, 30)])
    Counts(tokens=11, bytes=22, characters=33)
    """
    tokens = size = characters = 0
    for one in counts:
        tokens += one.tokens
        size += one.bytes
        characters += one.characters
    return Counts(tokens, size, characters)


def largest(counted: Sequence[Counted], number: int) -> tuple[list[Counted], Rest]:
    """Return the files with the most tokens, in their given order, and the sum of the others."""
    by_size = sorted(range(len(counted)), key=lambda index: -counted[index].counts.tokens)
    shown = sorted(by_size[:number])
    hidden = [counted[index].counts for index in by_size[number:]]
    return [counted[index] for index in shown], Rest(len(hidden), total(hidden))


def in_order(counted: Sequence[Counted], order: str | None) -> list[Counted]:
    """Return the files sorted by one of ``ORDERS``, or in their given order.

    Sorted by tokens, the file with the most comes first.
    """
    if order == "tokens":
        return sorted(counted, key=lambda one: -one.counts.tokens)
    if order == "name":
        return sorted(counted, key=lambda one: (os.path.basename(one.found.path), one.found.path))
    if order == "path":
        # Sorted by parts, so that the files of a directory stay together.
        return sorted(counted, key=lambda one: parts_of_path(one.found.path))
    return list(counted)
