"""Post-processors: special tokens around a text or a pair of texts.

A post-processor turns a list of parts into a list of parts, which are joined in the end. At first
the parts are the text, or the two texts of a pair. In a sequence each post-processor takes the
parts that the one before has made. Those of BERT and RoBERTa, and ByteLevel's, are in
``bert_processors``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar, Union

from .tokenized import Tokenized

T = TypeVar("T")


class Processor:
    """A post-processor; it adds no tokens unless it says otherwise."""

    def added(self, is_pair: bool) -> int:
        """Return the number of tokens that it adds, as truncation counts them."""
        return 0

    def process(self, parts: Sequence[Tokenized], add_special_tokens: bool) -> Sequence[Tokenized]:
        """Return the parts that it makes of some parts.

        Raises:
            ValueError: it cannot take these parts.
        """
        raise NotImplementedError

    def process_ids(
        self, parts: Sequence[Sequence[int]], add_special_tokens: bool
    ) -> Sequence[Sequence[int]]:
        """Return the ids of the parts that ``process`` makes."""
        return parts


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


class TemplateProcessing(Processor):
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
        texts = list(parts)
        filled = []
        for piece in self._template(texts):
            if isinstance(piece, TextPiece):
                sequence, type_id = piece
                part = self._text(texts, sequence)
                # The part stays changed if the template has it again. The types of what
                # overflows stay as they are.
                texts[sequence] = part.changed(
                    type_ids=[type_id] * len(part),
                    sequence_ranges={**part.sequence_ranges, sequence: (0, len(part))},
                )
                filled.append(texts[sequence])
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


class ProcessorSequence(Processor):
    """Post-processors, each of which takes the parts that the one before has made.

    Args:
        processors: the post-processors, the first one first.
    """

    def __init__(self, processors: Sequence[Processor]) -> None:
        self._processors = processors

    def added(self, is_pair: bool) -> int:
        """Return the number of tokens that each one by itself would add to the texts, in all."""
        return sum(processor.added(is_pair) for processor in self._processors)

    def process(self, parts: Sequence[Tokenized], add_special_tokens: bool) -> Sequence[Tokenized]:
        """Return what the last one makes."""
        for processor in self._processors:
            parts = processor.process(parts, add_special_tokens)
        return parts

    def process_ids(
        self, parts: Sequence[Sequence[int]], add_special_tokens: bool
    ) -> Sequence[Sequence[int]]:
        """Return the ids of the parts that ``process`` makes."""
        for processor in self._processors:
            parts = processor.process_ids(parts, add_special_tokens)
        return parts


def process(
    processor: Processor | None,
    first: Tokenized,
    second: Tokenized | None = None,
    *,
    add_special_tokens: bool = False,
) -> Tokenized:
    """Return a text, or a pair of texts, as a post-processor makes it.

    Raises:
        ValueError: the post-processor cannot take it.

    >>> text = Tokenized([5], ["a"], [(0, 1)], [0])
    >>> process(None, text, text).sequence_ids
    [0, 1]
    """
    if processor is None and second is None:
        return first
    texts = [first] if second is None else [first, second]
    parts: Sequence[Tokenized] = [_numbered(part, index) for index, part in enumerate(texts)]
    if processor is None:
        # Here tokenizers does not say of which text an overflowing part is.
        for part in parts:
            part.overflowing = [other.changed(sequence_ranges={}) for other in part.overflowing]
    else:
        parts = processor.process(parts, add_special_tokens)
    return Tokenized.joined(parts)


def _numbered(part: Tokenized, number: int) -> Tokenized:
    """Return a part as the text of that number, and what overflows from it, too."""
    return part.changed(
        type_ids=[number] * len(part),
        sequence_ranges={number: (0, len(part))},
        overflowing=[_numbered(other, number) for other in part.overflowing],
    )


def process_ids(
    processor: Processor | None, parts: Sequence[Sequence[int]], add_special_tokens: bool
) -> list[int]:
    """Return the ids of a text, or of a pair of texts, as a post-processor makes them.

    Raises:
        ValueError: the post-processor cannot take them.
    """
    if processor is not None:
        parts = processor.process_ids(parts, add_special_tokens)
    return list(chain.from_iterable(parts))


def keeps_text(processor: Processor) -> bool:
    """Return True if a post-processor that adds nothing leaves a text as it is."""
    try:
        return process_ids(processor, [[0]], False) == [0]
    except ValueError:  # without special tokens it leaves too few parts for the next one
        return False
