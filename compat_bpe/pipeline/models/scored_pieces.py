"""The pieces of a vocabulary with scores, and look-ups of the pieces at a place of a text."""

from __future__ import annotations

from bisect import bisect_right

from ...caches import cached_property, shareable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    #: The length and the score of each piece at a place, the shortest first.
    Matches = tuple[tuple[int, float], ...]

#: The greatest length in characters of a piece that is found by a look-up of every length.
LONGEST_SHORT = 32
#: The most longer pieces of which each begins with the piece before: all of them may match at one
#: place. The trainers here and in SentencePiece make no piece of more than 1,024 characters.
MOST_NESTED = 1024


class LongPieces:
    """The pieces of more than ``LONGEST_SHORT`` characters, to find those at a place of a text.

    In sorted order, everything between a piece and a text that begins with the piece also begins
    with it. So the last piece that is not after a text begins with all pieces that the text begins
    with.

    Args:
        scores: each piece and its score.

    Raises:
        ValueError: more than ``MOST_NESTED`` pieces begin with each other.
    """

    def __init__(self, scores: Mapping[str, float]) -> None:
        self._scores = scores
        #: By their first characters, the pieces in order.
        self._pieces: dict[str, list[str]] = shareable()
        #: For a piece, the longest other piece that it begins with, if there is one.
        self._shorter: dict[str, str] = shareable()
        pieces = sorted(piece for piece in scores if len(piece) > LONGEST_SHORT)
        self._longest = max(map(len, pieces), default=0)
        nested: list[str] = []
        for piece in pieces:
            while nested and not piece.startswith(nested[-1]):
                nested.pop()
            if nested:
                self._shorter[piece] = nested[-1]
            nested.append(piece)
            if len(nested) > MOST_NESTED:
                raise ValueError(
                    f"more than {MOST_NESTED:,} pieces that begin with each other, "
                    f"as {piece[:LONGEST_SHORT]!r}… does"
                )
            self._pieces.setdefault(piece[:LONGEST_SHORT], []).append(piece)

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def matches(self, text: str, start: int) -> list[tuple[int, float]]:
        """Return the length and the score of each piece at a place, the shortest first."""
        pieces = self._pieces.get(text[start : start + LONGEST_SHORT])
        if pieces is None:
            return []
        before = 1
        if len(pieces) > 1:
            before = bisect_right(pieces, text[start : start + self._longest])
        piece = pieces[before - 1] if before else None
        found: list[tuple[int, float]] = []
        while piece is not None:
            if found or text.startswith(piece, start):
                found.append((len(piece), self._scores[piece]))
            piece = self._shorter.get(piece)
        return found[::-1]


class UnigramTable:
    """The pieces of a vocabulary, found by looking up slices of a text.

    At a place of a text, slices of all lengths are looked up, up to the longest piece that begins
    with the same two characters, which is short in most places. Pieces longer than
    ``LONGEST_SHORT`` characters are compared with the text (``LongPieces``), since that stops at
    the first difference. So one long piece does not slow down the others, and the memory is
    proportional to the vocabulary. It would be more if all prefixes were kept.

    Args:
        scores: each piece and its score. The empty piece never matches.

    >>> list(UnigramTable({"h": -1.0, "hug": -2.0, "u": -3.0}).matches("hugs", 0))
    [(1, -1.0), (3, -2.0)]
    """

    def __init__(self, scores: Mapping[str, float]) -> None:
        self.scores = shareable(scores)
        #: For two characters, the greatest length of a piece that begins with them, but at most
        #: ``LONGEST_SHORT``.
        self.longest: dict[str, int] = shareable()
        self.long = LongPieces(self.scores)
        longest = self.longest
        for piece in scores:
            length = min(len(piece), LONGEST_SHORT)
            start = piece[:2]
            if longest.get(start, 0) < length:
                longest[start] = length

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
        for length, score in self.long.matches(text, start):
            yield start + length, score


class PieceGroups:
    """The pieces of a vocabulary in groups by their first two characters.

    At a place of a text, longer and longer parts of it are looked up in the group of the first two
    characters, until a part is not the beginning of a piece. The entry of the longest part has all
    pieces that it begins with. Pieces with more than ``LONGEST_SHORT`` characters are compared with
    the text, since the memory for all beginnings of a piece grows with the square of its length. A
    group is made when a text first has its two characters.

    Args:
        scores: each piece and its score.
        unknown_score: the score of a character that is not a piece.

    >>> PieceGroups({"h": -1.0, "hug": -2.0, "u": -3.0}, -9.0).matches("hugs", 0)
    ((1, -1.0), (3, -2.0))
    """

    def __init__(self, scores: Mapping[str, float], unknown_score: float) -> None:
        self.scores = shareable(scores)
        self._unknown_score = unknown_score
        #: The groups that were needed so far; see ``make_group``.
        self.groups: dict[str, tuple[Matches, dict[str, Matches]]] = shareable()

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
        """The pieces that are too long for a group."""
        return LongPieces(self.scores)

    def make_group(self, first: str) -> tuple[Matches, dict[str, Matches]]:
        """Make the group of two characters, keep it, and return it.

        Args:
            first: two characters, or the last character of a text.

        Returns:
            The pieces that ``first`` begins with, and always its first character. Also, for each
            longer beginning of a piece that begins with ``first``, the pieces that this beginning
            begins with.
        """
        scores = self.scores
        found: Matches = ((1, scores.get(first[0], self._unknown_score)),)
        if len(first) > 1 and first in scores:
            found = (*found, (2, scores[first]))
        beginnings: dict[str, Matches] = shareable()
        for piece in self.members.get(first, ()):
            longest = end = min(len(piece), LONGEST_SHORT)
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

    def matches(self, text: str, start: int) -> Matches:
        """Return the length and the score of each piece at a place of a text, the shortest first.

        The first one is the character there, even if it is not a piece.
        """
        first = text[start : start + 2]
        found, beginnings = self.groups.get(first) or self.make_group(first)
        for end in range(start + 3, len(text) + 1) if beginnings else ():
            more = beginnings.get(text[start:end])
            if more is None:
                break
            found = more
        return (*found, *self.long.matches(text, start))
