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
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from ..pattern.splitter import LONGEST_SEGMENT, SHORTEST_SEGMENT
from ..pipeline.core import Core
from .boundary import Boundary, rule_of
from .long_stretch import possible_ends, possible_starts
from .text_encoder import TextEncoder

#: The number of characters without a cut point above which not every position is tried.
_LONG = 256


#: The number of characters at the end in which a cut point is looked for first.
_WINDOW = 16


class _Known(NamedTuple):
    """A cut point in a text, and the tokens between it and the start of counting."""

    at: int
    tokens: int


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
    known, _ = _go_forward(encoding, text, 0, limit)
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
    known, top = _go_forward(encoding, text, start, limit)
    if known[-1].at == len(text):
        if not trail:
            return len(text)
    else:
        top = _narrow(encoding, text, known, top, limit)
    for base, low, high in _ranges_down(encoding, text, known, top):
        positions = range(high, low, -1)
        allowed = [end for end in positions if end == len(text) or may_cut(text, end)]
        if not allowed:
            continue
        tokens = base.tokens + encoding.count(text[base.at : low])
        ends: Iterable[int] = allowed
        if high - low > _LONG:
            rest = limit - tokens - encoding.count(trail) + bool(trail)
            found = possible_ends(encoding.core, text[low:high], rest)
            ends = filter(set(allowed).__contains__, (low + end for end in found))
        for end in ends:
            if tokens + encoding.count(text[low:end] + trail) <= limit:
                return end
    return start if encoding.count(trail) <= limit else None


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
    known, bottom = _go_backward(encoding, text, start, end, limit)
    if known[-1].at == start:
        if not lead and (start in (0, end) or may_cut(text, start)):
            return start
    else:
        bottom = _narrow(encoding, text, known, bottom, limit)
    for base, low, high in _ranges_up(encoding, text, known, bottom):
        allowed = [begin for begin in range(low, high) if begin == 0 or may_cut(text, begin)]
        if not allowed:
            continue
        tokens = base.tokens + encoding.count(text[high : base.at])
        begins: Iterable[int] = allowed
        if high - low > _LONG:
            rest = limit - tokens - encoding.count(lead) + bool(lead)
            found = possible_starts(encoding.core, text[low:high], rest)
            begins = filter(set(allowed).__contains__, (low + begin for begin in found))
        for begin in begins:
            if tokens + encoding.count(lead + text[begin:high]) <= limit:
                return begin
    return end if encoding.count(lead) <= limit else None


def last_cut_point(
    encoding: TextEncoder,
    text: str,
    end: int,
    *,
    names: frozenset[str] = frozenset(),
    fine: bool = False,
) -> int:
    """Return the last cut point before ``end`` in a text, or 0 if there is none.

    Args:
        encoding: the encoding that defines the cut points.
        text: any string.
        end: an offset in the text.
        names, fine: as in ``Core.next_cut_point``.

    >>> from compat_bpe import get_encoding
    >>> last_cut_point(get_encoding("gpt2"), "one two three", 12)
    7
    """
    next_cut_point = partial(encoding.core.next_cut_point, names=names, fine=fine)
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


# These functions go over a text from cut point to cut point.  Each returns, or extends, the list
# of the cut points that fit, with their counts, and returns the first one that does not.


def _go_forward(
    encoding: TextEncoder, text: str, start: int, limit: int
) -> tuple[list[_Known], int]:
    """Return the cut points up to which ``text[start:]`` fits, and the end of the next portion."""
    core = encoding.core
    stop = len(text)
    if core.longest_token is not None:
        stop = min(stop, start + limit * core.longest_token + 1)
    known = [_Known(start, 0)]
    at, total, following = start, 0, start
    while at < stop:
        following = _portion_end(core, text, at, stop)
        total += encoding.count(text[at:following])
        if total > limit:
            break
        at = following
        known.append(_Known(at, total))
    return known, following


def _portion_end(core: Core, text: str, at: int, stop: int) -> int:
    """Return the end of the portion, some hundred characters long, that begins at ``at``.

    It ends like a segment, soon after an empty line or the end of a line.  So its count is more
    often in the cache.
    """
    first, last = at + SHORTEST_SEGMENT, at + LONGEST_SEGMENT
    if last >= stop:
        return stop
    line_end = text.find("\n\n", first, last)
    if line_end < 0:
        line_end = text.find("\n", first, last)
    cut = core.next_cut_point(text, first if line_end < 0 else line_end, stop)
    return stop if cut is None else cut


def _narrow(encoding: TextEncoder, text: str, known: list[_Known], far: int, limit: int) -> int:
    """Extend ``known`` to the last cut point that fits; return the next one towards ``far``."""
    next_cut_point = encoding.core.next_cut_point
    near, total = known[-1]
    fine = False
    while True:
        low, high = sorted((near, far))
        middle = (low + high) // 2
        cut = next_cut_point(text, middle, high, fine=fine) or next_cut_point(
            text, low, middle + 1, fine=fine
        )
        if cut is None:
            if fine or high - low <= _LONG:
                return far
            fine = True
            continue
        tokens = encoding.count(text[slice(*sorted((near, cut)))])
        if total + tokens > limit:
            far = cut
        else:
            near, total = cut, total + tokens
            known.append(_Known(near, total))


def _ranges_down(
    encoding: TextEncoder, text: str, known: list[_Known], high: int
) -> Iterator[tuple[_Known, int, int]]:
    """Yield the ranges from ``high`` down, each with a known cut point before it.

    They begin at cut points, and long ones have no cut point inside.
    """
    for base in reversed(known):
        while base.at < high:
            low = base.at
            if high - low > _LONG:
                part = text[low:high]
                low += last_cut_point(encoding, part, len(part)) or last_cut_point(
                    encoding, part, len(part), fine=True
                )
            yield base, low, high
            high = low


def _go_backward(
    encoding: TextEncoder, text: str, start: int, end: int, limit: int
) -> tuple[list[_Known], int]:
    """Return the cut points from which ``text[:end]`` fits, and the start of the next portion."""
    core = encoding.core
    stop = start
    if core.longest_token is not None:
        stop = max(stop, end - limit * core.longest_token - 1)
    known = [_Known(end, 0)]
    at, total, following = end, 0, end
    while at > stop:
        following = _portion_start(core, text, at, stop)
        total += encoding.count(text[following:at])
        if total > limit:
            break
        at = following
        known.append(_Known(at, total))
    return known, following


def _portion_start(core: Core, text: str, at: int, stop: int) -> int:
    """Return the start of the portion, some hundred characters long, that ends at ``at``."""
    first, last = at - LONGEST_SEGMENT, at - SHORTEST_SEGMENT
    while first > stop:
        line_end = text.rfind("\n\n", first, last)
        if line_end < 0:
            line_end = text.rfind("\n", first, last)
        cut = core.next_cut_point(text, first if line_end < 0 else line_end, at)
        if cut is not None:
            return cut
        first -= at - first
    return stop


def _ranges_up(
    encoding: TextEncoder, text: str, known: list[_Known], low: int
) -> Iterator[tuple[_Known, int, int]]:
    """Yield the ranges from ``low`` up, each with a known cut point after it.

    They end at cut points, and long ones have no cut point inside.
    """
    next_cut_point = encoding.core.next_cut_point
    for base in reversed(known):
        while low < base.at:
            high = base.at
            if high - low > _LONG:
                cut = next_cut_point(text, low, high) or next_cut_point(text, low, high, fine=True)
                high = high if cut is None else cut
            yield base, low, high
            low = high
