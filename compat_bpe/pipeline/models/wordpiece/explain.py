"""WordPiece: the pieces that are tried at each place, the longest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..explain.base import Item, Row, explain
from .model import WordPiece


class Tried(NamedTuple):
    """The pieces that are tried at a place of a word.

    Args:
        place: the place, in characters.
        pieces: the pieces, the longest first; the last one is taken if it is in the vocabulary.
        id: the id of the last one; None if none is in the vocabulary.
    """

    place: int
    pieces: Sequence[str]
    id: int | None


def tried(model: WordPiece, chunk: str) -> Iterator[Tried]:
    """Yield the pieces that are tried at each place of a word that is not too long.

    >>> model = WordPiece({"hug": 0, "##s": 1, "[UNK]": 2}, "[UNK]")
    >>> for found in tried(model, "hugs"):
    ...     print(*found)
    0 ['hugs', 'hug'] 0
    3 ['##s'] 1
    """
    start = 0
    while start < len(chunk):
        prefix = model.prefix if start else ""
        pieces: list[str] = []
        token_id = None
        end = len(chunk)
        while end > start and token_id is None:
            pieces.append(prefix + chunk[start:end])
            token_id = model.vocabulary.get(pieces[-1])
            end -= 1
        yield Tried(start, pieces, token_id)
        if token_id is None:
            return
        start = end + 1


class LongestPieces:
    """The explanation of a word.

    Args:
        model: the model.
        chunk: the word.

    Raises:
        ValueError: it is unknown, and there is no token for that.
    """

    def __init__(self, model: WordPiece, chunk: str) -> None:
        self.chunk = chunk.encode()
        self.ids = model.encode(chunk)
        self._text = chunk
        self._is_too_long = len(chunk) > model.longest_word
        self._tried = [] if self._is_too_long else list(tried(model, chunk))
        self._is_unknown = self._is_too_long or any(step.id is None for step in self._tried)
        self.note = ""
        if self._is_too_long:
            self.note = f"unknown: it has more than {model.longest_word} characters"
        elif self._is_unknown:
            self.note = "unknown: at some place no piece of the vocabulary fits"

    @property
    def widest(self) -> Sequence[bytes]:
        """The last parts: they have the most prefixes."""
        return [step.pieces[-1 if step.id is not None else 0].encode() for step in self._tried]

    def rows(self) -> Iterator[Row]:
        """Yield the pieces that are tried at each place."""
        taken: list[bytes] = []
        for step in self._tried:
            items = [Item([piece.encode()]) for piece in step.pieces]
            if step.id is None:
                items.append(Item([], "none is in the vocabulary", ": "))
            else:
                items[-1] = items[-1]._replace(figure=str(step.id))
            parts = [*taken, self._text[step.place :].encode()]
            last = len(items) - 1
            yield Row(parts, (len(taken), len(parts)), items, None if step.id is None else last)
            taken.append(step.pieces[-1].encode())
        if not self._is_unknown and len(taken) > 1:
            yield Row(taken)

    def members(self, show: Callable[[bytes], str]) -> dict[str, Any]:
        """Return the pieces that are tried; "id" is that of the last one, null if none fits."""
        return {
            "is_unknown": self._is_unknown,
            "steps": [
                {
                    "place": step.place,
                    "tried": [show(piece.encode()) for piece in step.pieces],
                    "id": step.id,
                }
                for step in self._tried
            ],
        }


@explain.register
def _explain(model: WordPiece, chunk: str) -> LongestPieces:
    return LongestPieces(model, chunk)
