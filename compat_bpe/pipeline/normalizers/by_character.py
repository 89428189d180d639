"""Changes of each character by itself, as tables for ``str.translate``."""

from __future__ import annotations

from collections.abc import Callable

from ...unicode.code_points import CodePoints


class CharacterTable(dict[int, str]):
    """A table of what becomes of each character, which is found out when it first occurs.

    A plain table for ``str.translate`` that lacks a character raises a ``KeyError`` for it each
    time, and takes several times as long.

    Args:
        change: returns what becomes of a character.

    >>> "abba".translate(CharacterTable(str.upper))
    'ABBA'
    """

    def __init__(self, change: Callable[[str], str]) -> None:
        super().__init__()
        self._change = change

    def __missing__(self, point: int) -> str:
        changed = self[point] = self._change(chr(point))
        return changed


def members(points: CodePoints) -> frozenset[str]:
    """Return the characters of a set that is not large.

    >>> sorted(members(CodePoints.of("ac")))
    ['a', 'b', 'c']
    """
    return frozenset(chr(p) for first, last in points.ranges() for p in range(first, last + 1))


def beside(left: str, right: str) -> tuple[str, str] | None:
    """Return the characters beside a position between two changed characters; None if removed.

    >>> beside("ab", "cd"), beside("", "c")
    (('b', 'c'), None)
    """
    return (left[-1], right[0]) if left and right else None
