r"""The longest part of a text that fits in a number of tokens.

Counts are not monotonic: one more character may join two tokens into one, so that a longer text has
fewer tokens. So bisection over characters cannot find the longest part that fits. It is found by
way of *cut points* (``Core.next_cut_point``): the text between two of them adds the same number of
tokens, whatever is around it.

- From one cut point to the next, counts only grow. So the last cut point up to which the text fits
  is found by going over the text in portions, and by bisection in the portion in which the limit
  is passed. The text after the next cut point need not be looked at.
- Between these two cut points, which are mostly a word apart, every position is tried. If they are
  far apart, *joints* (``Core.next_joint``) are tried first: up to one of these, a text has no more
  tokens than any longer one.

If the length of the longest token is known, no more of the text is looked at than the limit allows.
So the cost grows with the kept part, not with the text.

Some tokenizers put something before each text. The text after a cut point goes on, so it is
counted by ``continued``; only what begins a text is counted by the encoding itself.
"""

from __future__ import annotations

from bisect import bisect_left

from ..unicode.surrogates import has_surrogates, repair, repair_with_places
from .boundary import Boundary, rule_of
from .longest_part_search import Backward, Forward
from .text_encoder import TextEncoder, check_encoding


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
    check_encoding(encoding)
    check_limit(limit)
    known, beyond = Forward(encoding, text, limit).go(0, len(text))
    if has_surrogates(text[: beyond.at]):
        text = repair(text)
        known, _ = Forward(encoding, text, limit).go(0, len(text))
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
        The end, or None if not even ``trail`` alone fits. With a ``trail``, it may not quite be
        the largest, but only within more than 256 characters without a cut point.

    Raises:
        ValueError: the limit is negative, ``start`` is not in the text, or the boundary is not
            known.

    >>> from compat_bpe import get_encoding
    >>> longest_prefix(get_encoding("gpt2"), "hello world again", 2)
    11
    """
    check_encoding(encoding)
    check_limit(limit)
    may_cut = rule_of(boundary)
    if not 0 <= start <= len(text):
        raise ValueError(f"start is {start}; it must be from 0 to {len(text)}")
    search = Forward(encoding, text, limit)
    known, beyond = search.go(start, len(text))
    # A half at the edge of the trail may make one character with another in the text.
    if not has_surrogates(text[start : beyond.at]) or has_surrogates(trail[:1]):
        return search.longest(known, beyond, len(text), may_cut, trail)
    # Surrogates are repaired once, not in each part that is tried.
    repaired, places = repair_with_places(text[start:])
    search = Forward(encoding, repaired, limit)
    place = search.longest(*search.go(0, len(repaired)), len(repaired), may_cut, trail)
    return None if place is None else start + places[place]


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
        The beginning, or None if not even ``lead`` alone fits. With a ``lead``, it may not quite
        be the smallest, but only within more than 256 characters without a cut point.

    Raises:
        ValueError: the limit is negative, ``start`` and ``end`` are not in the text or not in this
            order, or the boundary is not known.

    >>> from compat_bpe import get_encoding
    >>> longest_suffix(get_encoding("gpt2"), "hello world again", 2)
    5
    """
    check_encoding(encoding)
    check_limit(limit)
    may_cut = rule_of(boundary)
    if end is None:
        end = len(text)
    if not 0 <= start <= end <= len(text):
        raise ValueError(
            f"start is {start} and end is {end}; it must be 0 <= start <= end <= {len(text)}"
        )
    search = Backward(encoding, text, limit)
    known, beyond = search.go(end, start)
    if not has_surrogates(text[beyond.at : end]) or has_surrogates(lead[-1:]):
        return search.longest(known, beyond, start, may_cut, lead)
    repaired, places = repair_with_places(text[:end])
    goal = bisect_left(places, start)
    search = Backward(encoding, repaired, limit)
    place = search.longest(*search.go(len(repaired), goal), goal, may_cut, lead)
    return None if place is None else places[place]


def check_limit(limit: int) -> None:
    """Raise ``ValueError`` if a limit is negative, ``TypeError`` if it is not an integer."""
    if not isinstance(limit, int):
        raise TypeError(f"limit must be an int, not {type(limit).__name__}")
    if limit < 0:
        raise ValueError(f"limit is {limit}; it must be 0 or more")
