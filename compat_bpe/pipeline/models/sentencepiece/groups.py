"""The pieces of a vocabulary in groups by their first two characters, to find those in a text."""

from __future__ import annotations

from ....parallel.lazy import cached_property
from ...lookup import shareable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The greatest length in characters of a beginning in a group.
_LONGEST_BEGINNING = 32
_NEVER = float("-inf")


class PieceGroups:
    """The pieces and their scores.

    At a place of a text, its beginnings are looked up in the group of the first two characters,
    until one is no beginning of a piece. Pieces with more than ``_LONGEST_BEGINNING`` characters
    are compared with the text, since the beginnings of a piece take memory in proportion to the
    square of its length. A group is made when a text first has its two characters.

    Args:
        scores: each piece and its score.
        unknown_score: the score of a character that is no piece.

    >>> list(PieceGroups({"h": -1.0, "hug": -2.0, "u": -3.0}, -9.0).matches("hugs", 0))
    [(1, -1.0), (3, -2.0)]
    """

    def __init__(self, scores: Mapping[str, float], unknown_score: float) -> None:
        self.scores = shareable(scores)
        self._unknown_score = unknown_score
        #: By two characters that a text had, as of ``make_group``.
        self.groups: dict[str, tuple[float, dict[str, float]]] = shareable()

    @cached_property
    def members(self) -> dict[str, list[str]]:
        """By two characters, the pieces that begin with them."""
        members: dict[str, list[str]] = shareable()
        for piece in self.scores:
            if len(piece) > 1:
                members.setdefault(piece[:2], []).append(piece)
        return members

    @cached_property
    def long(self) -> dict[str, list[str]]:
        """By their first characters, the pieces that have more, the shortest first."""
        long: dict[str, list[str]] = shareable()
        for piece in sorted(self.scores, key=len):
            if len(piece) > _LONGEST_BEGINNING:
                long.setdefault(piece[:_LONGEST_BEGINNING], []).append(piece)
        return long

    def make_group(self, first: str) -> tuple[float, dict[str, float]]:
        """Return the group of two characters, and note it.

        Args:
            first: two characters, or a last one.

        Returns:
            The score of the first character; and the beginnings of pieces that begin with both
            characters, each with its score, which is minus infinity if it is no piece.
        """
        beginnings: dict[str, float] = shareable()
        for piece in self.members.get(first, ()):
            if len(piece) <= _LONGEST_BEGINNING:
                beginnings[piece] = self.scores[piece]
            for end in range(min(len(piece) - 1, _LONGEST_BEGINNING), 1, -1):
                beginning = piece[:end]
                if beginning in beginnings:
                    break
                beginnings[beginning] = self.scores.get(beginning, _NEVER)
        group = self.scores.get(first[0], self._unknown_score), beginnings
        self.groups[first] = group
        return group

    def matches(self, text: str, start: int) -> Iterator[tuple[int, float]]:
        """Yield the end and the score of each piece at a place of a text, the shortest first."""
        if text[start] in self.scores:
            yield start + 1, self.scores[text[start]]
        first = text[start : start + 2]
        if first not in self.members:
            return
        _, beginnings = self.groups.get(first) or self.make_group(first)
        for end in range(start + 2, len(text) + 1):
            score = beginnings.get(text[start:end])
            if score is None:
                break
            if score > _NEVER:
                yield end, score
        if self.long:
            yield from self.long_matches(text, start)

    def long_matches(self, text: str, start: int) -> Iterator[tuple[int, float]]:
        """Yield the end and the score of each long piece at a place, the shortest first."""
        for piece in self.long.get(text[start : start + _LONGEST_BEGINNING], ()):
            if text.startswith(piece, start):
                yield start + len(piece), self.scores[piece]
