"""The pieces of a vocabulary in groups by their first two characters, to find those in a text."""

from __future__ import annotations

from ....parallel.lazy import cached_property
from ...cache import shareable
from ..unigram.table import LONGEST_SHORT, LongPieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    #: The length and the score of each of some pieces, the shortest first.
    Found = tuple[tuple[int, float], ...]

#: The greatest length in characters of a beginning in a group.
LONGEST_BEGINNING = LONGEST_SHORT


class PieceGroups:
    """The pieces and their scores.

    At a place of a text, its beginnings are looked up in the group of the first two characters,
    until one is no beginning of a piece. The longest one has all pieces with it that it begins
    with. Pieces with more than ``LONGEST_BEGINNING`` characters are compared with the text, since
    the beginnings of a piece take memory in proportion to the square of its length. A group is
    made when a text first has its two characters.

    Args:
        scores: each piece and its score.
        unknown_score: the score of a character that is no piece.

    >>> PieceGroups({"h": -1.0, "hug": -2.0, "u": -3.0}, -9.0).matches("hugs", 0)
    ((1, -1.0), (3, -2.0))
    """

    def __init__(self, scores: Mapping[str, float], unknown_score: float) -> None:
        self.scores = shareable(scores)
        self._unknown_score = unknown_score
        #: By two characters that a text had, as of ``make_group``.
        self.groups: dict[str, tuple[Found, dict[str, Found]]] = shareable()

    @cached_property
    def members(self) -> dict[str, list[str]]:
        """By two characters, the pieces that begin with them."""
        members: dict[str, list[str]] = shareable()
        for piece in self.scores:
            if len(piece) > 1:
                members.setdefault(piece[:2], []).append(piece)
        return members

    @cached_property
    def longest(self) -> int:
        """The length of the longest piece."""
        return max(map(len, self.scores), default=1)

    @cached_property
    def long(self) -> LongPieces:
        """The pieces that have more characters than a group has."""
        return LongPieces(self.scores)

    def make_group(self, first: str) -> tuple[Found, dict[str, Found]]:
        """Return the group of two characters, and note it.

        Args:
            first: two characters, or a last one.

        Returns:
            The pieces that ``first`` begins with, and its first character in any case; and for
            each longer beginning of a piece that begins with ``first``, the pieces that this
            beginning begins with.
        """
        scores = self.scores
        found: Found = ((1, scores.get(first[0], self._unknown_score)),)
        if len(first) > 1 and first in scores:
            found = (*found, (2, scores[first]))
        beginnings: dict[str, Found] = shareable()
        for piece in self.members.get(first, ()):
            longest = end = min(len(piece), LONGEST_BEGINNING)
            while end > 2 and piece[:end] not in beginnings:
                end -= 1
            before = beginnings[piece[:end]] if end > 2 else found
            for length in range(end + 1, longest + 1):
                beginning = piece[:length]
                if beginning in scores:
                    before = (*before, (length, scores[beginning]))
                beginnings[beginning] = before
        group = self.groups[first] = found, beginnings
        return group

    def matches(self, text: str, start: int) -> Found:
        """Return the length and the score of each piece at a place of a text, the shortest first.

        The first one is the character there, a piece or not.
        """
        first = text[start : start + 2]
        found, beginnings = self.groups.get(first) or self.make_group(first)
        for end in range(start + 3, len(text) + 1) if beginnings else ():
            more = beginnings.get(text[start:end])
            if more is None:
                break
            found = more
        return (*found, *self.long.matches(text, start))
