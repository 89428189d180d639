"""Unigram as the model of a ``tokenizer.json``: pieces and their scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ...pipeline.models.unigram import Unigram
from .. import RANK_LIMIT
from ..checked_json import Json, is_unicode, read_float
from .base import bytes_of, definition_of, refuse_extension

if TYPE_CHECKING:
    from ...pipeline.core import Definition
    from ...pipeline.pre_tokenizers.base import PreTokenizerStep

_INTEGER_LIMIT = 1 << 64


class UnigramPart(NamedTuple):
    """A Unigram model as in a file; see ``ModelPart`` for the methods.

    ``pieces`` and ``scores`` are by id. A piece may occur several times; its last id counts.
    """

    pieces: Sequence[str]
    scores: Sequence[float]
    unknown: int | None
    byte_fallback: bool = False

    @property
    def vocabulary(self) -> dict[str, int]:
        """Each piece and its id."""
        return dict(zip(self.pieces, range(len(self.pieces))))

    @property
    def size(self) -> int:
        """The number of ids, which is greater than that of different pieces if some recur."""
        return len(self.pieces)

    def define(self, steps: Sequence[PreTokenizerStep], source: str) -> Definition:
        """Return the definition of a tokenizer with this model."""
        try:
            model = Unigram(*self)
        except ValueError as error:
            raise ValueError(f"{source}: model: vocab: {error}") from None
        ids = model.ids
        others: dict[int, bytes] = {}
        if len(ids) < len(self.pieces):
            known = set(ids.values())
            others = {
                number: piece.encode()
                for number, piece in enumerate(self.pieces)
                if number not in known
            }
        return definition_of(
            model,
            steps,
            partial(bytes_of, ids),
            len(self.pieces) - 1,
            other_tokens=others,
            pieces=lambda: dict(enumerate(self.pieces)),
        )

    def extended(
        self, tokens: Mapping[bytes, int], merges: Sequence[tuple[bytes, bytes]]
    ) -> UnigramPart:
        """Raise ``ValueError``: more pieces would need scores."""
        return refuse_extension("Unigram")

    def written(self, vocabulary: Mapping[str, int]) -> dict[str, Any]:
        """Return the model as in a file.

        Raises:
            ValueError: ``vocabulary`` has a piece that the model has not: its score is unknown.
        """
        if vocabulary.keys() - set(self.pieces):
            refuse_extension("Unigram")
        return {
            "type": "Unigram",
            "unk_id": self.unknown,
            "vocab": list(map(list, zip(self.pieces, map(written_float, self.scores)))),
            "byte_fallback": self.byte_fallback,
        }


def read_unigram(part: Json) -> UnigramPart:
    """Return the Unigram model of a file.

    Raises:
        ValueError: it is damaged.
    """
    pieces, scores = _read_pieces(part["vocab"])
    unknown = part.get("unk_id")
    if unknown is not None:
        if not pieces:
            part["vocab"].fail("there are no pieces, not even the unknown one")
        if not 0 <= unknown.number() < len(pieces):
            unknown.fail(f"must be from 0 to {len(pieces) - 1}, the greatest id of a piece")
    byte_fallback = "byte_fallback" in part.mapping() and part["byte_fallback"].truth()
    return UnigramPart(pieces, scores, None if unknown is None else unknown.number(), byte_fallback)


def _read_pieces(part: Json) -> tuple[Sequence[str], Sequence[float]]:
    """Return the pieces and their scores; the usual case is fast."""
    listed = part.sequence()
    if len(listed) >= RANK_LIMIT:
        part.fail(f"there are {RANK_LIMIT} pieces or more")
    if set(map(type, listed)) == {list} and set(map(len, listed)) == {2}:
        pieces, scores = zip(*listed)
        are_pieces = set(map(type, pieces)) == {str} and is_unicode("".join(pieces))
        if are_pieces and set(map(type, scores)) == {float}:
            return pieces, scores
    found = [_read_piece(item) for item in part.items()]
    return [piece for piece, _ in found], [score for _, score in found]


def _read_piece(item: Json) -> tuple[str, float]:
    members = item.sequence()
    if len(members) != 2:
        item.fail(f"must be a piece and its score, not {len(members)} values")
    piece, score = members
    text = Json(piece, item.source, f"{item.place}[0]").text()
    if type(score) is float:
        return text, score
    number = Json(score, item.source, f"{item.place}[1]")
    if type(score) is not int:
        number.fail(f"the score of {text!r} must be a number")
    if -_INTEGER_LIMIT < score < _INTEGER_LIMIT:
        return text, float(score)
    try:
        return text, read_float(str(score))
    except ValueError as error:
        number.fail(str(error))


def written_float(value: float) -> float:
    """Return the float to write so that tokenizers reads ``value``.

    A float is written as the shortest number that Python reads as that float.

    Raises:
        ValueError: no float near it is read as this value.
    """
    below = above = value
    for _ in range(8):
        for candidate in (below, above):
            if read_float(repr(candidate)) == value:
                return candidate
        below, above = math.nextafter(below, -math.inf), math.nextafter(above, math.inf)
    raise ValueError(f"{value!r} cannot be written so that tokenizers reads it")
