"""The base class of normalizers, sequences of them, and tables of characters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_

from ..aligned import Aligned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...unicode.properties import CodePoints

    #: Pairs of characters.
    Pairs = Sequence[tuple[str, str]]


class Normalizer:
    """A normalizer of text.

    By default it treats the beginning of a text like any other place, and allows no cuts.
    """

    #: False if ``across`` never returns a pair.
    is_local = True

    def __call__(self, text: str) -> str:
        """Return the normalized text."""
        raise NotImplementedError

    def align(self, text: Aligned) -> Aligned:
        """Return the normalized text, with the places in the original."""
        raise NotImplementedError

    @property
    def continued(self) -> Normalizer | None:
        """The normalizer for a text that continues after a cut, usually itself.

        It does nothing special at the beginning of a text. None if it would change nothing.
        """
        return self

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the characters beside a position after normalization, if a cut is allowed there.

        A cut is allowed if the left side, normalized by this or by ``continued``, and the right
        side, normalized by ``continued``, always join to the whole, normalized as the left side.
        If the normalized right side is not empty, the characters are those beside the cut. None if
        any of this is uncertain.

        Args:
            left, right: the characters beside the position; neither is a surrogate.
        """
        return None

    def all_across(self, left: str, right: str) -> Pairs:
        """Return the characters that may be beside a position, if a cut is allowed there.

        Like ``across``, but the two may depend on the text around them: they are one of these
        pairs. Without pairs, no cut is allowed.
        """
        pair = self.across(left, right)
        return () if pair is None else (pair,)


#: A text may become this many times as long, and this many characters longer. In a Unicode form,
#: written in bytes, a character becomes at most 33.
MOST_TIMES, MOST_MORE = 64, 1 << 16


def check_growth(before: int, after: int) -> None:
    """Refuse a text that becomes far longer.

    Normalizers in a file may double a text any number of times. Without a bound, a short file and
    a short text would take all memory.

    Args:
        before: the length of the text.
        after: the length of the normalized text.

    Raises:
        ValueError: the new length is more than ``MOST_TIMES`` the old one and ``MOST_MORE`` more.
    """
    if after > MOST_TIMES * before + MOST_MORE:
        raise ValueError(
            f"the normalizer turns {before} characters into {after} or more: "
            f"at most {MOST_TIMES} for each are allowed"
        )


class InOrder(Normalizer):
    """Normalizers that are applied one after the other.

    >>> from .simple import Lowercase, Prepend
    >>> InOrder([Lowercase(), Prepend("x")])("A")
    'xa'
    """

    def __init__(self, steps: Sequence[Normalizer]) -> None:
        self._steps = tuple(steps)
        self.is_local = all(step.is_local for step in steps)
        #: True if a step may insert characters without a place at the beginning. Some of those
        #: are doubled by the next step (see ``Aligned.changed``).
        self._may_double = any(getattr(step, "may_insert", False) for step in steps[:-1])

    def __call__(self, text: str) -> str:
        """Return the normalized text."""
        if self._may_double:
            return self.align(Aligned.of(text)).text
        before = len(text)
        for step in self._steps:
            text = step(text)
            if len(text) > MOST_MORE:
                check_growth(before, len(text))
        return text

    def align(self, text: Aligned) -> Aligned:
        """Return the normalized text, with the places in the original."""
        before = len(text.text)
        for step in self._steps:
            text = step.align(text)
            check_growth(before, len(text.text))
        return text

    @property
    def continued(self) -> Normalizer | None:
        """The steps for a text that continues after a cut."""
        steps = [step.continued for step in self._steps]
        if all(map(is_, steps, self._steps)):
            return self
        return one_after_the_other([step for step in steps if step is not None])

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the characters beside a position after normalization, if a cut is allowed."""
        pairs = self.all_across(left, right)
        return pairs[0] if len(pairs) == 1 else None

    def all_across(self, left: str, right: str) -> Pairs:
        """Return the characters that may be beside a position, if it may be cut there."""
        before = [(left, right)]
        for step in self._steps:
            after = [step.all_across(*pair) for pair in before]
            if not all(after):
                return ()
            before = list(dict.fromkeys(pair for pairs in after for pair in pairs))
        return before


def one_after_the_other(steps: Sequence[Normalizer]) -> Normalizer | None:
    """Return one normalizer that applies all of them in order; None for an empty list."""
    if len(steps) < 2:
        return steps[0] if steps else None
    return InOrder(steps)


class CharacterTable(dict[int, str]):
    """A table for ``str.translate`` that computes the entry of a character when it first occurs.

    A plain table that lacks a character raises a ``KeyError`` for it each time, and takes several
    times as long.

    Args:
        change: returns the text that replaces a character.

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

    >>> from compat_bpe.unicode.properties import CodePoints
    >>> sorted(members(CodePoints.of("ac")))
    ['a', 'b', 'c']
    """
    return frozenset(map(chr, points))


def beside(left: str, right: str) -> tuple[str, str] | None:
    """Return the characters beside a position between two replacements; None if one is empty.

    >>> beside("ab", "cd"), beside("", "c")
    (('b', 'c'), None)
    """
    return (left[-1], right[0]) if left and right else None
