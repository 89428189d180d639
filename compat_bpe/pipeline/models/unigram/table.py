"""The pieces of a vocabulary with scores, and which of them begin at a place of a text."""

from __future__ import annotations

from ...lookup import shareable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The greatest length in characters of a piece that is found by looking up every length.
LONGEST_SHORT = 32


class UnigramTable:
    """The pieces of a vocabulary and their scores.

    At a place of a text, slices of all lengths are looked up, up to the longest piece that begins
    with the same two characters; in most places that is a short one. Longer pieces than
    ``LONGEST_SHORT`` characters are compared with the text, since that stops at the first
    difference. So one long piece makes nothing slow, and the memory is in proportion to the
    vocabulary, which it would not be if all prefixes were kept.

    Args:
        scores: each piece and its score. The empty piece is nowhere in a text.

    >>> list(UnigramTable({"h": -1.0, "hug": -2.0, "u": -3.0}).matches("hugs", 0))
    [(1, -1.0), (3, -2.0)]
    """

    def __init__(self, scores: Mapping[str, float]) -> None:
        self.scores = shareable(scores)
        #: For two characters, the greatest length of a piece that begins with them, and
        #: ``LONGEST_SHORT`` if that is longer.
        self.longest: dict[str, int] = shareable()
        #: For the first characters of longer pieces, these pieces, the shortest first.
        self.long: dict[str, list[str]] = shareable()
        longest = self.longest
        for piece in scores:
            length = len(piece)
            if length > LONGEST_SHORT:
                self.long.setdefault(piece[:LONGEST_SHORT], []).append(piece)
                length = LONGEST_SHORT
            start = piece[:2]
            if longest.get(start, 0) < length:
                longest[start] = length
        for pieces in self.long.values():
            pieces.sort(key=len)

    def matches(self, text: str, start: int) -> Iterator[tuple[int, float]]:
        """Yield the end and the score of each piece at a place of a text, the shortest first."""
        scores = self.scores
        score = scores.get(text[start])
        if score is not None:
            yield start + 1, score
        longest = self.longest.get(text[start : start + 2], 0)
        for end in range(start + 2, min(start + longest, len(text)) + 1):
            score = scores.get(text[start:end])
            if score is not None:
                yield end, score
        if self.long:
            yield from self.long_matches(text, start)

    def long_matches(self, text: str, start: int) -> Iterator[tuple[int, float]]:
        """Yield the end and the score of each long piece at a place, the shortest first."""
        for piece in self.long.get(text[start : start + LONGEST_SHORT], ()):
            if text.startswith(piece, start):
                yield start + len(piece), self.scores[piece]
