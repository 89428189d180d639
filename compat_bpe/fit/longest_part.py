r"""The longest part of a text that fits in a number of tokens.

Counts are not monotonic: one more character may join two tokens into one, so that a longer text has
fewer tokens. So bisection over characters cannot find the longest part that fits. *Cut points*
(``Core.next_cut_point``) find it: the text between two of them adds the same number of tokens, no
matter what text is around it.

- From one cut point to the next, counts only grow. So the last cut point up to which the text fits
  is found by going over the text in portions, and by bisection in the portion in which the limit
  is exceeded. The text after the next cut point need not be looked at.
- Between these two cut points, which are mostly a word apart, every position is tried. If they are
  far apart, *joints* (``Core.next_joint``) are tried first: up to one of these, a text has no more
  tokens than any longer one.

If the length of the longest token is known, no more of the text is looked at than the limit allows.
So the cost grows with the kept part, not with the text.

Some tokenizers put something before each text. The text after a cut point continues a text, so
``continued`` counts it. Only the beginning of a text is counted by the encoding itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Callable, NamedTuple

from ..pattern.splitter import LONGEST_SEGMENT, SHORTEST_SEGMENT
from ..pipeline.cutter import TextEncoder, check_encoding, last_cut_point
from ..unicode.surrogates import has_surrogates, repair, repair_with_places
from .boundary import Boundary, rule_of
from .long_chunk import possible_ends, possible_starts


def fits(encoding: TextEncoder, text: str, limit: int) -> bool:
    """Return True if a text has at most ``limit`` tokens.

    Counting stops once the limit is exceeded, so the cost does not grow with the text.

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
    # Half of a surrogate pair at the edge of the trail may pair with the other half in the text.
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
        end: the end of the part; by default, the end of the text.
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


class LimitError(ValueError):
    """The error for a limit that is below the tokens of a part that cannot be cut.

    Args:
        *parts: the parts of the message; each integer is a number of tokens.
    """

    def __init__(self, *parts: str | int) -> None:
        super().__init__("".join(map(str, parts)))
        self.parts = parts


def message_of(error: ValueError, tokens: Callable[[int], int]) -> str:
    """Return the message of an error with other numbers of tokens, such as estimates.

    >>> message_of(LimitError("limit is ", 7, "; it must be more"), lambda number: number // 2)
    'limit is 3; it must be more'
    """
    if not isinstance(error, LimitError):
        return str(error)
    return "".join(str(tokens(part)) if isinstance(part, int) else part for part in error.parts)


def check_limit(limit: int) -> None:
    """Raise ``ValueError`` if a limit is negative, ``TypeError`` if it is not an integer."""
    if not isinstance(limit, int):
        raise TypeError(f"limit must be an int, not {type(limit).__name__}")
    if limit < 0:
        raise ValueError(f"limit is {limit}; it must be 0 or more")


#: The number of characters without a cut point above which not every position is tried.
_LONG = 256
#: The least length of a portion in characters.
_SHORTEST = 16
#: The largest number of characters between two joints at which each position is tried.
_FEW = 4
#: The characters that most cut points are before; of a run, the first one.
_BLANK = re.compile(r"(?<![ \n\t])[ \n\t]")
#: The characters per token in the first look ahead, more than in nearly all texts; and the number
#: of tokens beyond the limit for which it has space.
_FAR = 16
#: The most that a portion without a cut point grows at a time.
_GROWTH = 8


class _Known(NamedTuple):
    """A place in a text, and the tokens between it and the start of counting.

    Args:
        at: the place.
        tokens: the tokens from the origin; a lower bound at a joint.
        is_cut: True for a cut point, False for a joint.
    """

    at: int
    tokens: int
    is_cut: bool = True


@dataclass
class Forward:
    """The search for the longest part that begins at one offset, the origin.

    ``Backward`` overrides all that depends on the direction. Of two offsets, ``near`` is the one
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

    def count_to_joint(self, near: int, joint: int, origin: int) -> int:
        """Return the fewest tokens between a cut point and a joint, for any text after the joint.

        Tokens before a joint do not change, so these are the tokens of the text up to there.
        """
        return self.count_between(near, joint, origin)

    def count_last(self, near: int, far: int, origin: int, more: str) -> int:
        """Return the tokens of the text between a cut point and its far end, with ``more`` there.

        The cut point may also be the origin.
        """
        encoding = self.encoding if near == origin else self.continued
        return encoding.count(self.text[near:far] + more)

    @property
    def is_certain(self) -> bool:
        """True if known tokens are those of the text, and not only a lower bound."""
        return True

    def portion(self, near: int, stop: int, width: int) -> tuple[int, bool]:
        """Return the far side of a portion next to ``near``, and True if it is a cut point.

        If not, it is a joint. The portion is cut like a segment, soon after an empty line or the
        end of a line. So its count is more often in the cache.

        Args:
            near, stop: the near side, and the end of all portions.
            width: the least length in characters.
        """
        first, last = near + width, near + width * (LONGEST_SEGMENT // SHORTEST_SEGMENT)
        if last >= stop:
            return stop, True
        core = self.encoding.core
        line_end = _line_end(self.text.find, first, last)
        soon = min(line_end + width, stop)
        joint = self.joint_between(line_end, soon)
        if joint is not None:
            return joint, self.is_cut(joint)
        return core.next_cut_point(self.text, soon - 1, stop) or stop, True

    def is_cut(self, joint: int) -> bool:
        """Return True if a joint is a cut point, too."""
        core = self.encoding.core
        return core.next_cut_point(self.text, joint - 1, joint + 1, fine=True) is not None

    def joint_between(self, low: int, high: int) -> int | None:
        """Return a joint between two offsets, a cut point if there is one before a blank."""
        for blank in _BLANK.finditer(self.text, low + 1, high):
            cut = self.encoding.core.next_cut_point(self.text, blank.start() - 1, blank.end())
            if cut is not None:
                return cut
        return self.encoding.core.next_joint(self.text, low, high)

    def last_cut(self, near: int, far: int) -> int:
        """Return the cut point between two offsets that is closest to ``far``, or ``near``."""
        last = partial(last_cut_point, self.encoding, self.text[near:far], far - near)
        return near + (last() or last(fine=True))

    def longest(
        self,
        known: list[_Known],
        beyond: _Known,
        goal: int,
        may_cut: Callable[[str, int], bool],
        more: str,
    ) -> int | None:
        """Return the farthest allowed offset up to which the text, with ``more``, fits.

        Args:
            known, beyond: the result of ``go`` to the goal.
            goal, may_cut, more: the last offset, the rule for offsets, and the text added there.
        """
        text, count, limit = self.text, self.encoding.count, self.limit
        origin = known[0].at
        edges = (0, len(text))
        # Tokens at the junction may join, and nothing is put before a text that continues.
        for_more = max(self.continued.count(more) - 1, 0) if more else 0
        if known[-1].at != goal:
            beyond = self.narrow(known, beyond, limit - for_more)
        elif not more and self.is_certain and (goal in edges or may_cut(text, goal)):
            return goal
        for base, near, far in self.ranges(known, beyond):
            tokens = base.tokens + self.count_between(base.at, near, origin)
            places: Iterable[int] = range(far, near, -self.step)
            if abs(far - near) > _LONG:
                rest = limit - tokens - for_more
                possible = self.possible(self.encoding.core, self.part(near, far), rest)
                places = (min(near, far) + at for at in possible)
            for place in places:
                if place == near or not (place in edges or may_cut(text, place)):
                    continue
                if tokens + self.count_last(near, place, origin, more) <= limit:
                    return place
        return origin if count(more) <= limit else None

    def go(self, origin: int, goal: int) -> tuple[list[_Known], _Known]:
        """Return the cut points up to which the text fits, and the end of the next portion."""
        reach = abs(goal - origin)
        if self.encoding.core.longest_token is not None:
            reach = min(reach, self.limit * self.encoding.core.longest_token + 1)
        stop = origin + self.step * reach
        #: An end that cannot be nearer, as far as is known.
        sure: int | None = None
        known = [_Known(origin, 0)]
        beyond = known[0]
        width = 0
        while beyond.at != stop:
            near, tokens, _ = known[-1]
            rest = self.limit - tokens
            if not width:
                width = min(SHORTEST_SEGMENT, max(rest, _SHORTEST))
            soon = stop
            if stop != sure:
                soon = near + self.step * min(_FAR * (rest + _FAR), abs(stop - near))
            far, is_cut = self.portion(near, soon, width)
            if far == soon != stop:
                stop = sure = self.nearer_stop(near, stop, rest)
                far, is_cut = self.portion(near, stop, width)
            count = self.count_between if is_cut else self.count_to_joint
            more = count(near, far, origin)
            beyond = _Known(far, tokens + more, is_cut)
            if more > rest:
                break
            width = 0
            if is_cut:
                known.append(beyond)
            else:
                length = abs(far - near)
                width = max(length, min(length * rest // max(more, 1), length * _GROWTH))
                width += length // 8 + _SHORTEST
        return known, beyond

    def nearer_stop(self, near: int, stop: int, rest: int) -> int:
        """Return an end that may be nearer, by the longest tokens that the next characters allow.

        No part that goes further has at most ``rest`` tokens. The windows looked at grow from
        the limit on, so that the work does not depend on the longest token of the vocabulary.
        """
        whole = abs(stop - near)
        reach = 0
        needed: int | None = _FAR * (rest + _FAR)
        while needed is not None and reach < min(needed, whole):
            reach = min(max(needed, 2 * reach), whole)
            needed = self.most_characters(near, reach, rest)
        return stop if needed is None else near + self.step * min(needed, whole)

    def most_characters(self, near: int, reach: int, rest: int) -> int | None:
        """Return a number of characters that have more than ``rest`` tokens; None if not known.

        It is for a number up to ``reach``, since it depends on the characters up to there.
        """
        core = self.encoding.core
        window = self.part(near, near + self.step * reach)
        span = core.longest_span(window)
        if span is not None:
            # The first and the last token may reach beyond the part.
            return (rest + 1) * span + 2
        if core.longest_token is None:
            return None
        # The lowest character has the fewest bytes in UTF-8.
        narrowest = len(min(window).encode("utf-8", "surrogatepass"))
        # A token at the far edge may begin or end outside.
        beyond = max(0, near + self.step * (reach + core.longest_token))
        return rest * core.longest_in(self.part(near, beyond)) // narrowest + 1

    def narrow(self, known: list[_Known], beyond: _Known, limit: int) -> _Known:
        """Extend ``known`` to the last cut point that fits; return the place next to it.

        If ``beyond`` is a joint, there are few cut points or none before it, and they are not
        searched.

        Args:
            known: the known cut points.
            beyond: a place up to which the text does not fit.
            limit: the limit for joints that are far away.

        Returns:
            The next cut point, or a joint before it up to which the text does not fit either.
        """
        next_cut_point = partial(self.encoding.core.next_cut_point, self.text)
        fine = False
        while beyond.is_cut:
            near, tokens, _ = known[-1]
            low, high = sorted((near, beyond.at))
            middle = (low + high) // 2
            cut = None
            if high - low > _LONG:
                cut = self.joint_about(middle, low, high)
                if cut is not None and not self.is_cut(cut):
                    break
            if cut is None:
                cut = next_cut_point(middle, high, fine=fine)
                cut = cut or next_cut_point(low, middle + 1, fine=fine)
            if cut is None:
                if fine or high - low <= _LONG:
                    return beyond
                fine = True
                continue
            tokens += self.count_between(near, cut, known[0].at)
            if tokens > self.limit:
                beyond = _Known(cut, tokens)
            else:
                known.append(_Known(cut, tokens))
        if abs(beyond.at - known[-1].at) <= _LONG:
            # Tokens of ``more`` may join with the text: all that fits without it is tried.
            limit = self.limit
        return self.narrow_by_joints(known, beyond, limit)

    def narrow_by_joints(self, known: list[_Known], beyond: _Known, limit: int) -> _Known:
        """Return a place up to which the text does not fit, as near as can be found by joints.

        Tokens are spread over a text evenly enough to guess where the limit is exceeded. The aim is
        a little beyond the limit, on the side that moved less recently.
        """
        base, origin = known[-1], known[0].at
        near, far = base, beyond
        aim, tries = 1, 0
        while abs(far.at - near.at) > _FEW and near.tokens <= limit < far.tokens:
            tries += 1
            share = (limit + aim - near.tokens) / (far.tokens - near.tokens) if tries % 4 else 0.5
            joint = self.joint_about(near.at + int((far.at - near.at) * share), near.at, far.at)
            if joint is None:
                break
            tokens = base.tokens + self.count_to_joint(base.at, joint, origin)
            if tokens > limit:
                far, aim = _Known(joint, tokens, False), -1
            else:
                near, aim = _Known(joint, tokens, False), 1
        return far

    def joint_about(self, guess: int, near: int, far: int) -> int | None:
        """Return a joint between two offsets, close to a guess; None if there is none."""
        low, high = sorted((near, far))
        guess = min(max(guess - 1, low), high)
        return self.joint_between(guess, high) or self.joint_between(low, min(guess + 1, high))

    def ranges(self, known: list[_Known], beyond: _Known) -> Iterator[tuple[_Known, int, int]]:
        """Yield the ranges from ``beyond`` to the origin, each with a known cut point before it.

        Their near sides are cut points, and long ones have none inside, as far as is known.
        """
        far, is_cut = beyond.at, beyond.is_cut
        for base in reversed(known):
            while far != base.at:
                is_short = not is_cut or abs(far - base.at) <= _LONG
                near = base.at if is_short else self.last_cut(base.at, far)
                yield base, near, far
                far, is_cut = near, True


class Backward(Forward):
    """The search for the longest part that ends at the origin.

    The known counts are of text that continues. A part that begins at such a cut point is a text of
    its own, and may have other tokens, even fewer. But a longer part has at least these tokens.
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

    def count_to_joint(self, near: int, joint: int, origin: int) -> int:
        # With one character before the joint, the text after it has the same tokens as after any
        # other text, except for the slack.
        text = self.text[joint - 1 : near]
        least = self.continued.count(text) - self.continued.count(text[0])
        return max(least - self.encoding.core.slack(repair(text)), 0)

    def count_last(self, near: int, far: int, origin: int, more: str) -> int:
        return self.encoding.count(more + self.text[far:near])

    def portion(self, near: int, stop: int, width: int) -> tuple[int, bool]:
        last = near - width
        first = near - width * (LONGEST_SEGMENT // SHORTEST_SEGMENT)
        while first > stop:
            line_end = _line_end(self.text.rfind, first, last)
            joint = self.joint_between(line_end, last)
            if joint is not None:
                return joint, self.is_cut(joint)
            first, last = first - (near - first), first + 1
        return stop, True

    def last_cut(self, near: int, far: int) -> int:
        first = partial(self.encoding.core.next_cut_point, self.text, far, near)
        return first() or first(fine=True) or near


def _line_end(find: Callable[[str, int, int], int], first: int, last: int) -> int:
    """Return where ``find`` finds an empty line, or else the end of a line, or ``first``."""
    place = find("\n\n", first, last)
    if place < 0:
        place = find("\n", first, last)
    return max(place, first)
