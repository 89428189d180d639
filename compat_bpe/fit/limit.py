r"""How much of a text fits in a number of tokens.

Counts are not monotonic: one character more may join two tokens to one, so that a longer text has
fewer tokens.  The longest part that fits can therefore not be found by bisection over characters.
It is found by way of *safe cuts* (``Core.next_cut``), since what lies between two of them adds
to the count whatever stands around it:

- From one safe cut to the next, counts only grow.  So the last safe cut up to which the text fits
  is found by going over the text in portions, and by bisection in the portion in which the limit
  is passed.  What comes after the next safe cut need not be looked at.
- Between these two safe cuts, mostly the length of a word apart, every place is tried.

Where the vocabulary says how long a token can be at most, no more of the text is looked at than
that allows.  So the cost grows with what is kept, not with the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from ..pattern.splitter import LONGEST_PASSAGE, SHORTEST_PASSAGE
from ..pipeline.core import Core
from .boundary import Boundary, rule_of
from .long_stretch import possible_ends, possible_starts
from .text_encoder import TextEncoder

#: In a stretch of more characters than this without a safe cut not every place is tried.
_LONG = 256


#: Characters at the end in which a safe cut is looked for first.
_WINDOW = 16


class _Known(NamedTuple):
    """A place in a text, and the tokens between it and where counting began."""

    place: int
    tokens: int


def fits(encoding: TextEncoder, text: str, limit: int) -> bool:
    """Whether a text has at most ``limit`` tokens.

    It stops as soon as the limit is passed, so the cost does not grow with the text.

    Args:
        encoding: by which tokens are counted; special tokens' names count as plain text.
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
    return known[-1].place == len(text)


def longest_prefix(
    encoding: TextEncoder,
    text: str,
    limit: int,
    *,
    start: int = 0,
    boundary: Boundary = "char",
    trail: str = "",
) -> int | None:
    """The largest ``end`` for which ``text[start:end] + trail`` fits in ``limit`` tokens.

    Args:
        encoding: by which tokens are counted; special tokens' names count as plain text.
        text: any string.
        limit: a number of tokens.
        start: where the part begins.
        boundary: where it may end; it always may at ``start`` and at the end of the text.
        trail: what follows it.

    Returns:
        None if not even ``trail`` alone fits.  With a ``trail``, and only within a stretch of more
        than 256 characters without a safe cut, it may not quite be the largest.

    Raises:
        ValueError: the limit is negative, ``start`` is not in the text, or there is no such
            boundary.

    >>> from compat_bpe import get_encoding
    >>> longest_prefix(get_encoding("gpt2"), "hello world again", 2)
    11
    """
    check_limit(limit)
    may_cut = rule_of(boundary)
    if not 0 <= start <= len(text):
        raise ValueError(f"start is {start}; it must be from 0 to {len(text)}")
    known, top = _go_forward(encoding, text, start, limit)
    if known[-1].place == len(text):
        if not trail:
            return len(text)
    else:
        top = _narrow(encoding, text, known, top, limit)
    for base, low, high in _stretches_down(encoding, text, known, top):
        places = range(high, low, -1)
        allowed = [end for end in places if end == len(text) or may_cut(text, end)]
        if not allowed:
            continue
        tokens = base.tokens + encoding.count(text[base.place : low])
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
    """The smallest ``begin`` for which ``lead + text[begin:end]`` fits in ``limit`` tokens.

    Args:
        encoding, text, limit: as in ``longest_prefix``.
        end: where the part ends; the end of the text unless given.
        boundary: where it may begin; it always may at ``end`` and at the beginning of the text.
        lead: what comes before it.
        start: the smallest beginning.

    Returns:
        None if not even ``lead`` alone fits.  With a ``lead``, and only within a stretch of more
        than 256 characters without a safe cut, it may not quite be the smallest.

    Raises:
        ValueError: the limit is negative, ``start`` and ``end`` are not in the text or not in this
            order, or there is no such boundary.

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
    if known[-1].place == start:
        if not lead and (start in (0, end) or may_cut(text, start)):
            return start
    else:
        bottom = _narrow(encoding, text, known, bottom, limit)
    for base, low, high in _stretches_up(encoding, text, known, bottom):
        allowed = [begin for begin in range(low, high) if begin == 0 or may_cut(text, begin)]
        if not allowed:
            continue
        tokens = base.tokens + encoding.count(text[high : base.place])
        begins: Iterable[int] = allowed
        if high - low > _LONG:
            rest = limit - tokens - encoding.count(lead) + bool(lead)
            found = possible_starts(encoding.core, text[low:high], rest)
            begins = filter(set(allowed).__contains__, (low + begin for begin in found))
        for begin in begins:
            if tokens + encoding.count(lead + text[begin:high]) <= limit:
                return begin
    return end if encoding.count(lead) <= limit else None


def last_cut(
    encoding: TextEncoder,
    text: str,
    end: int,
    *,
    names: frozenset[str] = frozenset(),
    fine: bool = False,
) -> int:
    """The last safe cut before a place in a text; 0 if there is none.

    Args:
        encoding, text: as elsewhere.
        end: the place.
        names, fine: as in ``Core.next_cut``.

    >>> from compat_bpe import get_encoding
    >>> last_cut(get_encoding("gpt2"), "one two three", 12)
    7
    """
    next_cut = partial(encoding.core.next_cut, names=names, fine=fine)
    # By windows from the end, each larger than those after it.
    start, width = end, _WINDOW
    while start:
        start = max(0, start - width)
        cut = next_cut(text, start, end)
        if cut is not None:
            following: int | None = cut
            while following is not None:
                cut = following
                following = next_cut(text, cut, end)
            return cut
        # A cut is after `start` and before `end`.
        end = start + 1
        width *= 2
    return 0


def check_limit(limit: int) -> None:
    """Raise ``ValueError`` if a limit is negative, ``TypeError`` if it is not an integer."""
    if not isinstance(limit, int):
        raise TypeError(f"limit must be an int, not {type(limit).__name__}")
    if limit < 0:
        raise ValueError(f"limit is {limit}; it must be 0 or more")


# Over a text from safe cut to safe cut. Each of these gives, or adds to, the list of the cuts up
# to which the text fits, with the tokens up to them. What lies beyond the last one's next, the
# place that is returned, does not fit.


def _go_forward(
    encoding: TextEncoder, text: str, start: int, limit: int
) -> tuple[list[_Known], int]:
    """The places up to which ``text[start:]`` fits, and the end of the next portion."""
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
    """Where the portion of some hundred characters ends that begins at a place.

    It ends as passages do, soon after an empty line or the end of a line: then its count is more
    often one that is remembered.
    """
    first, last = at + SHORTEST_PASSAGE, at + LONGEST_PASSAGE
    if last >= stop:
        return stop
    line_end = text.find("\n\n", first, last)
    if line_end < 0:
        line_end = text.find("\n", first, last)
    cut = core.next_cut(text, first if line_end < 0 else line_end, stop)
    return stop if cut is None else cut


def _narrow(encoding: TextEncoder, text: str, known: list[_Known], far: int, limit: int) -> int:
    """Add places up to the last safe cut that fits; the safe cut next to it towards ``far``."""
    next_cut = encoding.core.next_cut
    near, total = known[-1]
    fine = False
    while True:
        low, high = sorted((near, far))
        middle = (low + high) // 2
        cut = next_cut(text, middle, high, fine=fine) or next_cut(text, low, middle + 1, fine=fine)
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


def _stretches_down(
    encoding: TextEncoder, text: str, known: list[_Known], high: int
) -> Iterator[tuple[_Known, int, int]]:
    """The stretches from ``high`` down, each with a known place before it.

    They begin at safe cuts, and long ones have none inside.
    """
    for base in reversed(known):
        while base.place < high:
            low = base.place
            if high - low > _LONG:
                part = text[low:high]
                low += last_cut(encoding, part, len(part)) or last_cut(
                    encoding, part, len(part), fine=True
                )
            yield base, low, high
            high = low


def _go_backward(
    encoding: TextEncoder, text: str, start: int, end: int, limit: int
) -> tuple[list[_Known], int]:
    """The places from which ``text[start:end]`` fits, and the beginning of the next portion."""
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
    """Where the portion of some hundred characters begins that ends at a place."""
    first, last = at - LONGEST_PASSAGE, at - SHORTEST_PASSAGE
    while first > stop:
        line_end = text.rfind("\n\n", first, last)
        if line_end < 0:
            line_end = text.rfind("\n", first, last)
        cut = core.next_cut(text, first if line_end < 0 else line_end, at)
        if cut is not None:
            return cut
        first -= at - first
    return stop


def _stretches_up(
    encoding: TextEncoder, text: str, known: list[_Known], low: int
) -> Iterator[tuple[_Known, int, int]]:
    """The same from ``low`` up, each with a known place after it."""
    next_cut = encoding.core.next_cut
    for base in reversed(known):
        while low < base.place:
            high = base.place
            if high - low > _LONG:
                cut = next_cut(text, low, high) or next_cut(text, low, high, fine=True)
                high = high if cut is None else cut
            yield base, low, high
            low = high
