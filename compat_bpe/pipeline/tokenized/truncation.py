"""Truncation: a text or a pair of texts cut to a number of tokens."""

from __future__ import annotations

from typing import NamedTuple

from .tokenized import Tokenized, check_direction

STRATEGIES = ("longest_first", "only_first", "only_second")


class Truncation(NamedTuple):
    """The settings of truncation, by the names of tokenizers' ``enable_truncation``.

    Args:
        max_length: the largest number of tokens, those that the post-processor adds included.
        stride: the number of tokens that an overflowing part has in common with the one before.
        strategy: the text of a pair that is cut: ``"longest_first"``, ``"only_first"`` or
            ``"only_second"``.
        direction: the end that is cut off, ``"right"`` or ``"left"``.
    """

    max_length: int
    stride: int = 0
    strategy: str = "longest_first"
    direction: str = "right"

    def check(self) -> None:
        """Raise ``ValueError`` if a setting is wrong."""
        check_direction(self.direction)
        if self.strategy not in STRATEGIES:
            raise ValueError(
                f"strategy is {self.strategy!r}; it must be one of {', '.join(STRATEGIES)}"
            )
        for name, value in (("max_length", self.max_length), ("stride", self.stride)):
            if value < 0:
                raise ValueError(f"{name} is {value}; it must be 0 or more")

    def applied(
        self, first: Tokenized, second: Tokenized | None = None, added: int = 0
    ) -> tuple[Tokenized, Tokenized | None]:
        """Return the texts, cut.

        Args:
            first, second: a text, and the second one of a pair.
            added: the number of tokens that the post-processor will add. If it is more than
                ``max_length``, nothing is cut, as in tokenizers.

        Raises:
            ValueError: a setting is wrong; the second text is to be cut, but there is none; a text
                is shorter than what must be cut off; the stride is too large.

        >>> def text(name, count):
        ...     return Tokenized([1] * count, [name] * count, [(0, 1)] * count, [0] * count)
        >>> Truncation(5).applied(text("a", 9), text("b", 2))
        (Tokenized(['a', 'a', 'a']), Tokenized(['b', 'b']))
        """
        self.check()
        room = self.max_length - added
        count = len(first) + (0 if second is None else len(second))
        if room < 0 or (room and count <= room):
            return first, second
        if room == 0:
            lengths = 0, 0
        elif self.strategy == "longest_first":
            lengths = (room, 0) if second is None else _shared(len(first), len(second), room)
        else:
            lengths = self._only_one(first, second, count - room)
        first = self._cut(first, lengths[0])
        return first, None if second is None else self._cut(second, lengths[1])

    def _only_one(
        self, first: Tokenized, second: Tokenized | None, surplus: int
    ) -> tuple[int, int]:
        cuts_first = self.strategy == "only_first"
        if not cuts_first and second is None:
            raise ValueError("truncation is 'only_second', but there is no second text")
        left = (len(first) if cuts_first else len(second or ())) - surplus
        if left <= 0:
            raise ValueError(
                f"truncation is {self.strategy!r}, but that text is too short: it has not more "
                f"than the {surplus} tokens that must be cut off"
            )
        return (left, len(second or ())) if cuts_first else (len(first), left)

    def _cut(self, part: Tokenized, length: int) -> Tokenized:
        return part.truncated(length, stride=self.stride, direction=self.direction)


def _shared(first: int, second: int, room: int) -> tuple[int, int]:
    """Return the lengths of two texts in a room that is too small for both.

    The shorter one stays if it takes no more than half; else each gets half, and the longer one
    what is left over.
    """
    short = min(first, second)
    if 2 * short > room:
        short = room // 2
    long = room - short
    return (short, long) if first <= second else (long, short)
