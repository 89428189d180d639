"""Sets of Unicode code points, and their spelling as classes of stdlib ``re``.

A set is kept as an *inversion list* (the Unicode Standard's name for it): the sorted code
points at which membership changes. ``(0x41, 0x5B, 0x61, 0x7B)`` are the ASCII letters.
The complement is the same list with 0 added or removed at the front. A union or an
intersection is one sorted walk over both lists.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain

#: One more than the highest code point.
END = 0x110000


class CodePoints:
    """An immutable set of code points, 0 to 0x10FFFF.

    >>> letters = CodePoints.of("az")
    >>> ord("m") in letters, ord("M") in letters, ord("M") in ~letters
    (True, False, True)
    >>> (letters | CodePoints.of("AZ")).bounds
    (65, 91, 97, 123)
    """

    __slots__ = ("bounds",)

    #: Code points at which membership changes, ascending; an odd length leaves the last range open.
    bounds: tuple[int, ...]

    def __init__(self, bounds: Iterable[int] = ()) -> None:
        self.bounds = tuple(bounds)

    @classmethod
    def of(cls, *ranges: str) -> CodePoints:
        """Return the set of the ranges, each given by its first and last character, or by one.

        >>> CodePoints.of("09", "_").bounds
        (48, 58, 95, 96)
        """
        return cls.from_ranges((ord(item[0]), ord(item[-1])) for item in ranges)

    @classmethod
    def from_ranges(cls, ranges: Iterable[tuple[int, int]]) -> CodePoints:
        """Return the set of the ``(first, last)`` ranges, both ends included, in any order.

        >>> CodePoints.from_ranges([(97, 99), (98, 122), (123, 123)]).bounds
        (97, 124)
        """
        bounds: list[int] = []
        for first, last in sorted(ranges):
            if bounds and first <= bounds[-1]:
                bounds[-1] = max(bounds[-1], last + 1)
            else:
                bounds += (first, last + 1)
        return cls(bounds[:-1] if bounds[-1:] == [END] else bounds)

    def ranges(self) -> Iterator[tuple[int, int]]:
        """Return the ``(first, last)`` ranges, ascending, both ends included.

        >>> list(CodePoints.of("az", "_").ranges())
        [(95, 95), (97, 122)]
        """
        bounds = self.bounds
        if len(bounds) % 2:
            bounds = (*bounds, END)
        return zip(bounds[::2], (after - 1 for after in bounds[1::2]))

    def clip(self, start: int, end: int) -> CodePoints:
        """Return the members from ``start`` up to, but not including, ``end``.

        >>> CodePoints.of("az").clip(ord("b"), ord("d")) == CodePoints.of("bc")
        True
        """
        if start >= end:
            return CodePoints()
        low, high = bisect_right(self.bounds, start), bisect_left(self.bounds, end)
        opened = (start,) if low % 2 else ()
        closed = (end,) if high % 2 and end < END else ()
        return CodePoints((*opened, *self.bounds[low:high], *closed))

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(range(first, last + 1) for first, last in self.ranges())

    def __contains__(self, code_point: int) -> bool:
        return bisect_right(self.bounds, code_point) % 2 == 1

    def __bool__(self) -> bool:
        return bool(self.bounds)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CodePoints) and self.bounds == other.bounds

    def __hash__(self) -> int:
        return hash(self.bounds)

    def __invert__(self) -> CodePoints:
        bounds = self.bounds
        return CodePoints(bounds[1:] if bounds[:1] == (0,) else (0, *bounds))

    def __or__(self, other: CodePoints) -> CodePoints:
        return CodePoints.union(self, other)

    def __and__(self, other: CodePoints) -> CodePoints:
        return ~(~self | ~other)

    def __sub__(self, other: CodePoints) -> CodePoints:
        return ~(~self | other)

    def __xor__(self, other: CodePoints) -> CodePoints:
        # At a code point where both sets change, membership in exactly one of them does not.
        return CodePoints(sorted({*self.bounds} ^ {*other.bounds}))

    @staticmethod
    @lru_cache(maxsize=64)
    def union(*sets: CodePoints) -> CodePoints:
        """Return the union of any number of sets; cached, since patterns repeat their classes.

        >>> CodePoints.union(CodePoints.of("a"), CodePoints.of("b"), CodePoints.of("d")).bounds
        (97, 99, 100, 101)
        """
        return CodePoints.from_ranges(chain.from_iterable(points.ranges() for points in sets))

    def __repr__(self) -> str:
        return f"CodePoints({self.to_re()})"

    def to_re(self) -> str:
        """Return the set as a class for stdlib ``re``; an empty set is an assertion that fails.

        >>> CodePoints.of("az", "09").to_re()
        '[0-9a-z]'
        """
        if not self.bounds:
            return "(?!)"
        parts = [
            _escaped(first) if first == last else f"{_escaped(first)}-{_escaped(last)}"
            for first, last in self.ranges()
        ]
        lone = len(self.bounds) == 2 and self.bounds[1] == self.bounds[0] + 1
        return parts[0] if lone else f"[{''.join(parts)}]"


def _escaped(code_point: int) -> str:
    char = chr(code_point)
    # Escape every ASCII sign, not just the special ones: `re` warns about `--` in a class.
    return char if char.isalnum() or code_point > 0x7E else f"\\x{code_point:02x}"


def kinds_of(bits: Mapping[CodePoints, int]) -> Iterator[tuple[int, int]]:
    """Yield the first code point of each range in which all are in the same sets, and these sets.

    Args:
        bits: the sets, with a bit for each; the sets that a range is in are the sum of their bits.

    >>> list(kinds_of({CodePoints.of("az"): 1, CodePoints.of("ac"): 2}))
    [(0, 0), (97, 3), (100, 1), (123, 0)]
    """
    changes = {0: 0}
    for points, bit in bits.items():
        for bound in points.bounds:
            changes[bound] = changes.get(bound, 0) ^ bit
    kind = 0
    for start in sorted(changes):
        kind ^= changes[start]
        if changes[start] or not start:
            yield start, kind


#: The set of all code points, and the empty set.
ALL = CodePoints((0,))
NONE = CodePoints()
