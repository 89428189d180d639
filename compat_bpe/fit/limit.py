r"""The longest part of a text that fits in a number of tokens.

Counts are not monotonic: one more character may join two tokens into one, so that a longer text has
fewer tokens.  So bisection over characters cannot find the longest part that fits.  It is found by
way of *cut points* (``Core.next_cut_point``): the text between two of them adds the same number of
tokens, whatever is around it.

- From one cut point to the next, counts only grow.  So the last cut point up to which the text fits
  is found by going over the text in portions, and by bisection in the portion in which the limit
  is passed.  The text after the next cut point need not be looked at.
- Between these two cut points, which are mostly a word apart, every position is tried.

If the length of the longest token is known, no more of the text is looked at than the limit allows.
So the cost grows with the kept part, not with the text.

Some tokenizers put something before each text.  The text after a cut point goes on, so it is
counted by ``continued``; only what begins a text is counted by the encoding itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Callable, NamedTuple

from ..pattern.splitter import LONGEST_SEGMENT, SHORTEST_SEGMENT
from .boundary import Boundary, rule_of
from .long_stretch import possible_ends, possible_starts
from .text_encoder import TextEncoder

#: The number of characters without a cut point above which not every position is tried.
_LONG = 256

#: The number of characters at the end in which a cut point is looked for first.
_WINDOW = 16


def fits(encoding: TextEncoder, text: str, limit: int) -> bool:
    """Return True if a text has at most ``limit`` tokens.

    It stops as soon as the limit is passed, so the cost does not grow with the text.

    Args:
        encoding: the encoding to count by; names of special tokens count as plain text.
        text: any string.
        limit: a number of tokens.

    Raises:
        ValueError: the limit is negative.

    >>> from compat_bpe import get_encoding
    >>> fits(get_encoding("gpt2"), "hello world " * 1_000_000, 1000)
    False
    """
    check_limit(limit)
    known, _ = _Forward(encoding, text, limit).go(0, len(text))
    return known[-1].at == len(text)


def longest_prefix(
    encoding: TextEncoder,
    text: str,
    limit: int,
    *,
    start: int = 0,
    boundary: Boundary = "char",
    trail: str = "",
) -> int | None:
    """Return the largest ``end`` for which ``text[start:end] + trail`` fits in ``limit`` tokens.

    Args:
        encoding: the encoding to count by; names of special tokens count as plain text.
        text: any string.
        limit: a number of tokens.
        start: the beginning of the part.
        boundary: the allowed ends of the part; ``start`` and the end of the text are always
            allowed.
        trail: a text that follows the part and is counted with it.

    Returns:
        The end, or None if not even ``trail`` alone fits.  With a ``trail``, it may not quite be
        the largest, but only within more than 256 characters without a cut point.

    Raises:
        ValueError: the limit is negative, ``start`` is not in the text, or the boundary is not
            known.

    >>> from compat_bpe import get_encoding
    >>> longest_prefix(get_encoding("gpt2"), "hello world again", 2)
    11
    """
    check_limit(limit)
    may_cut = rule_of(boundary)
    if not 0 <= start <= len(text):
        raise ValueError(f"start is {start}; it must be from 0 to {len(text)}")
    return _Forward(encoding, text, limit).longest(start, len(text), may_cut, trail)


def longest_suffix(
    encoding: TextEncoder,
    text: str,
    limit: int,
    *,
    end: int | None = None,
    boundary: Boundary = "char",
    lead: str = "",
    start: int = 0,
) -> int | None:
    """Return the smallest ``begin`` for which ``lead + text[begin:end]`` fits in ``limit`` tokens.

    Args:
        encoding, text, limit: as in ``longest_prefix``.
        end: the end of the part; the end of the text unless given.
        boundary: the allowed beginnings of the part; ``end`` and the beginning of the text are
            always allowed.
        lead: a text that precedes the part and is counted with it.
        start: the smallest beginning to consider.

    Returns:
        The beginning, or None if not even ``lead`` alone fits.  With a ``lead``, it may not quite
        be the smallest, but only within more than 256 characters without a cut point.

    Raises:
        ValueError: the limit is negative, ``start`` and ``end`` are not in the text or not in this
            order, or the boundary is not known.

    >>> from compat_bpe import get_encoding
    >>> longest_suffix(get_encoding("gpt2"), "hello world again", 2)
    5
    """
    check_limit(limit)
    may_cut = rule_of(boundary)
    if end is None:
        end = len(text)
    if not 0 <= start <= end <= len(text):
        raise ValueError(
            f"start is {start} and end is {end}; it must be 0 <= start <= end <= {len(text)}"
        )
    return _Backward(encoding, text, limit).longest(end, start, may_cut, lead)


def last_cut_point(
    encoding: TextEncoder,
    text: str,
    end: int,
    *,
    names: frozenset[str] = frozenset(),
    fine: bool = False,
    whole_chunks: bool = False,
) -> int:
    """Return the last cut point before ``end`` in a text, or 0 if there is none.

    Args:
        encoding: the encoding that defines the cut points.
        text: any string.
        end: an offset in the text.
        names, fine, whole_chunks: as in ``Core.next_cut_point``.

    >>> from compat_bpe import get_encoding
    >>> last_cut_point(get_encoding("gpt2"), "one two three", 12)
    7
    """
    next_cut_point = partial(
        encoding.core.next_cut_point, names=names, fine=fine, whole_chunks=whole_chunks
    )
    # Search windows from the end backwards, each larger than the one before.
    start, width = end, _WINDOW
    while start:
        start = max(0, start - width)
        cut = next_cut_point(text, start, end)
        if cut is not None:
            following: int | None = cut
            while following is not None:
                cut = following
                following = next_cut_point(text, cut, end)
            return cut
        # Cut points are found after `start` and before `end`, so the windows overlap.
        end = start + 1
        width *= 2
    return 0


def check_limit(limit: int) -> None:
    """Raise ``ValueError`` if a limit is negative, ``TypeError`` if it is not an integer."""
    if not isinstance(limit, int):
        raise TypeError(f"limit must be an int, not {type(limit).__name__}")
    if limit < 0:
        raise ValueError(f"limit is {limit}; it must be 0 or more")


class _Known(NamedTuple):
    """A cut point in a text, and the tokens between it and the start of counting."""

    at: int
    tokens: int


@dataclass
class _Forward:
    """The search for the longest part that begins at one offset, the origin.

    ``_Backward`` overrides all that depends on the direction.  Of two offsets, ``near`` is the one
    closer to the origin, and ``far`` the other one.
    """

    encoding: TextEncoder
    text: str
    limit: int

    def __post_init__(self) -> None:
        self.continued = self.encoding.continued

    step = 1
    possible = staticmethod(possible_ends)

    def part(self, near: int, far: int) -> str:
        """Return the text between two offsets."""
        return self.text[near:far]

    def count_between(self, near: int, far: int, origin: int) -> int:
        """Return the tokens of the text between two cut points, or from the origin to one."""
        encoding = self.encoding if near == origin else self.continued
        return encoding.count(self.text[near:far])

    def count_last(self, near: int, far: int, origin: int, more: str) -> int:
        """Return the tokens of the text between a cut point and its far end, with ``more`` there.

        The cut point may also be the origin.
        """
        encoding = self.encoding if near == origin else self.continued
        return encoding.count(self.text[near:far] + more)

    @property
    def is_certain(self) -> bool:
        """True if a text up to a cut point has as many tokens as is known."""
        return True

    def portion(self, near: int, stop: int) -> int:
        """Return the far side of a portion, some hundred characters long, next to ``near``.

        It is cut like a segment, soon after an empty line or the end of a line.  So its count is
        more often in the cache.
        """
        first, last = near + SHORTEST_SEGMENT, near + LONGEST_SEGMENT
        if last >= stop:
            return stop
        line_end = _line_end(self.text.find, first, last)
        return self.encoding.core.next_cut_point(self.text, line_end, stop) or stop

    def last_cut(self, near: int, far: int) -> int:
        """Return the cut point between two offsets that is closest to ``far``, or ``near``."""
        last = partial(last_cut_point, self.encoding, self.text[near:far], far - near)
        return near + (last() or last(fine=True))

    def longest(
        self, origin: int, goal: int, may_cut: Callable[[str, int], bool], more: str
    ) -> int | None:
        """Return the farthest allowed offset up to which the text, with ``more``, fits."""
        text, count, limit = self.text, self.encoding.count, self.limit
        edges = (0, len(text))
        known, beyond = self.go(origin, goal)
        if known[-1].at != goal:
            beyond = self.narrow(known, beyond)
        elif not more and self.is_certain and (goal in edges or may_cut(text, goal)):
            return goal
        for base, near, far in self.ranges(known, beyond):
            offsets = range(far, near, -self.step)
            allowed = [at for at in offsets if at in edges or may_cut(text, at)]
            if not allowed:
                continue
            tokens = base.tokens + self.count_between(base.at, near, origin)
            places: Iterable[int] = allowed
            if len(offsets) > _LONG:
                rest = limit - tokens - count(more) + bool(more)
                found = self.possible(self.encoding.core, self.part(near, far), rest)
                places = filter(set(allowed).__contains__, (min(near, far) + at for at in found))
            for place in places:
                if tokens + self.count_last(near, place, origin, more) <= limit:
                    return place
        return origin if count(more) <= limit else None

    def go(self, origin: int, goal: int) -> tuple[list[_Known], int]:
        """Return the cut points up to which the text fits, and the end of the next portion."""
        reach = abs(goal - origin)
        if self.encoding.core.longest_token is not None:
            reach = min(reach, self.limit * self.encoding.core.longest_token + 1)
        stop = origin + self.step * reach
        known = [_Known(origin, 0)]
        far = origin
        while far != stop:
            near, tokens = known[-1]
            far = self.portion(near, stop)
            tokens += self.count_between(near, far, origin)
            if tokens > self.limit:
                break
            known.append(_Known(far, tokens))
        return known, far

    def narrow(self, known: list[_Known], far: int) -> int:
        """Extend ``known`` to the last cut point that fits; return the next one towards ``far``."""
        next_cut_point = partial(self.encoding.core.next_cut_point, self.text)
        fine = False
        while True:
            near, tokens = known[-1]
            low, high = sorted((near, far))
            middle = (low + high) // 2
            cut = next_cut_point(middle, high, fine=fine)
            cut = cut or next_cut_point(low, middle + 1, fine=fine)
            if cut is None:
                if fine or high - low <= _LONG:
                    return far
                fine = True
                continue
            tokens += self.count_between(near, cut, known[0].at)
            if tokens > self.limit:
                far = cut
            else:
                known.append(_Known(cut, tokens))

    def ranges(self, known: list[_Known], far: int) -> Iterator[tuple[_Known, int, int]]:
        """Yield the ranges from ``far`` back to the origin, each with a known cut point before it.

        Their near sides are cut points, and long ones have no cut point inside.
        """
        for base in reversed(known):
            while far != base.at:
                near = base.at if abs(far - base.at) <= _LONG else self.last_cut(base.at, far)
                yield base, near, far
                far = near


class _Backward(_Forward):
    """The search for the longest part that ends at the origin.

    What is known are counts of text that goes on.  A part that begins at such a cut point is a text
    of its own, which may have other tokens, even fewer.  But a longer part has at least these.
    """

    step = -1
    possible = staticmethod(possible_starts)

    def part(self, near: int, far: int) -> str:
        return self.text[far:near]

    @property
    def is_certain(self) -> bool:
        return self.continued is self.encoding

    def count_between(self, near: int, far: int, origin: int) -> int:
        return self.continued.count(self.text[far:near])

    def count_last(self, near: int, far: int, origin: int, more: str) -> int:
        return self.encoding.count(more + self.text[far:near])

    def portion(self, near: int, stop: int) -> int:
        first, last = near - LONGEST_SEGMENT, near - SHORTEST_SEGMENT
        while first > stop:
            line_end = _line_end(self.text.rfind, first, last)
            cut = self.encoding.core.next_cut_point(self.text, line_end, near)
            if cut is not None:
                return cut
            first -= near - first
        return stop

    def last_cut(self, near: int, far: int) -> int:
        first = partial(self.encoding.core.next_cut_point, self.text, far, near)
        return first() or first(fine=True) or near


def _line_end(find: Callable[[str, int, int], int], first: int, last: int) -> int:
    """Return where ``find`` finds an empty line, or else the end of a line, or ``first``."""
    place = find("\n\n", first, last)
    if place < 0:
        place = find("\n", first, last)
    return max(place, first)
