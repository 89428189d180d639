"""``TemplateProcessing``: texts and special tokens in the order of a template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar, Union

from ..tokenized.tokenized import Tokenized

T = TypeVar("T")


class TextPiece(NamedTuple):
    """A place for a text: 0 for the first and 1 for the second; its tokens get ``type_id``."""

    number: int
    type_id: int


class SpecialPiece(NamedTuple):
    """A place for a special token, by its name in the template."""

    name: str
    type_id: int


class SpecialTokens(NamedTuple):
    """The tokens that a name in a template stands for: their ids and their texts."""

    ids: Sequence[int]
    tokens: Sequence[str]


#: The parts of a template.
Piece = Union[TextPiece, SpecialPiece]


class TemplateProcessing:
    """A post-processor by templates.

    Each piece of the template makes a part of its own.

    Args:
        single: the template of a text.
        pair: the template of a pair of texts.
        special: the tokens of each name in the templates.
        place: the name of the post-processor in messages.

    >>> single = [SpecialPiece("<s>", 0), TextPiece(0, 0)]
    >>> template = TemplateProcessing(single, [], {"<s>": SpecialTokens([7], ["<s>"])})
    >>> template.process_ids([[5, 6]], True)
    [[7], [5, 6]]
    """

    def __init__(
        self,
        single: Sequence[Piece],
        pair: Sequence[Piece],
        special: Mapping[str, SpecialTokens],
        place: str = "post_processor",
    ) -> None:
        self._single = single
        self._pair = pair
        self._special = special
        self._place = place

    def added(self, is_pair: bool) -> int:
        """Return the number of tokens that it adds."""
        template = self._pair if is_pair else self._single
        return sum(
            len(self._special[piece.name].ids)
            for piece in template
            if isinstance(piece, SpecialPiece) and piece.name in self._special
        )

    def process(self, parts: Sequence[Tokenized], add_special_tokens: bool) -> Sequence[Tokenized]:
        """Return the parts of the template.

        Raises:
            ValueError: there are not one or two parts; or the template asks for a second text
                where there is none, or has a special token without tokens.
        """
        given = list(parts)
        filled = []
        for piece in self._template(given):
            if isinstance(piece, TextPiece):
                sequence, type_id = piece
                part = self._text(given, sequence)
                # The part stays changed if the template has it again. The types of what
                # overflows stay as they are.
                given[sequence] = part.changed(
                    type_ids=[type_id] * len(part),
                    sequence_ranges={**part.sequence_ranges, sequence: (0, len(part))},
                )
                filled.append(given[sequence])
            elif add_special_tokens:
                filled.append(Tokenized.added(*self._tokens(piece), piece.type_id))
        return filled

    def process_ids(
        self, parts: Sequence[Sequence[int]], add_special_tokens: bool
    ) -> Sequence[Sequence[int]]:
        """Return the ids of the parts that ``process`` makes."""
        ids = []
        for piece in self._template(parts):
            if isinstance(piece, TextPiece):
                ids.append(self._text(parts, piece.number))
            elif add_special_tokens:
                ids.append(self._tokens(piece).ids)
        return ids

    def _template(self, parts: Sequence[T]) -> Sequence[Piece]:
        if not 1 <= len(parts) <= 2:
            raise ValueError(
                f"{self._place}: the template takes a text or a pair of texts, but the "
                f"post-processor before it makes {len(parts)} parts"
            )
        return self._single if len(parts) == 1 else self._pair

    def _text(self, parts: Sequence[T], number: int) -> T:
        if number >= len(parts):
            raise ValueError(f"{self._place}: the template needs a second text, but there is none")
        return parts[number]

    def _tokens(self, piece: SpecialPiece) -> SpecialTokens:
        if piece.name not in self._special:
            raise ValueError(f"{self._place}: there are no tokens for {piece.name!r}")
        return self._special[piece.name]
