"""Post-processors: special tokens around a text or a pair of texts.

A post-processor turns a list of parts into a list of parts, which are joined at the end. At first
the parts are the text, or the two texts of a pair. In a sequence, each post-processor gets the
parts of the post-processor before.

BERT's makes ``[CLS] A [SEP]`` or ``[CLS] A [SEP] B [SEP]``, RoBERTa's ``<s> A </s>`` or
``<s> A </s> </s> B </s>``. ByteLevel's adds no tokens. It leaves spaces out of the tokens' places
in the text, as RoBERTa's also does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import NamedTuple, TypeVar, Union

from ..unicode.properties import white_space
from .byte_level import BYTE_TO_UNICODE
from .tokenized import Tokenized

T = TypeVar("T")


class Processor:
    """A post-processor; the base class adds no tokens."""

    def added(self, is_pair: bool) -> int:
        """Return the number of tokens that it adds, as truncation counts them."""
        return 0

    def process(self, parts: Sequence[Tokenized], add_special_tokens: bool) -> Sequence[Tokenized]:
        """Return the parts with the tokens that it adds.

        Raises:
            ValueError: the post-processor does not accept these parts.
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


class TemplateTokens(NamedTuple):
    """The tokens that a name in a template stands for: their ids and their texts."""

    ids: Sequence[int]
    tokens: Sequence[str]


#: The parts of a template.
Piece = Union[TextPiece, SpecialPiece]


class TemplateProcessing(Processor):
    """A post-processor by templates.

    Each piece of the template becomes a part of its own.

    Args:
        single: the template of a text.
        pair: the template of a pair of texts.
        special: the tokens of each name in the templates.
        place: the name of the post-processor in messages.

    >>> single = [SpecialPiece("<s>", 0), TextPiece(0, 0)]
    >>> template = TemplateProcessing(single, [], {"<s>": TemplateTokens([7], ["<s>"])})
    >>> template.process_ids([[5, 6]], True)
    [[7], [5, 6]]
    """

    def __init__(
        self,
        single: Sequence[Piece],
        pair: Sequence[Piece],
        special: Mapping[str, TemplateTokens],
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
            ValueError: the number of parts is not one or two; the template needs a second text but
                there is none; or a name in the template has no tokens.
        """
        texts = list(parts)
        filled = []
        for piece in self._template(texts):
            if isinstance(piece, TextPiece):
                sequence, type_id = piece
                part = self._text(texts, sequence)
                # The part stays changed if the template has it again. The types of overflowing
                # parts stay unchanged.
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

    def _tokens(self, piece: SpecialPiece) -> TemplateTokens:
        if piece.name not in self._special:
            raise ValueError(f"{self._place}: there are no tokens for {piece.name!r}")
        return self._special[piece.name]


class ProcessorSequence(Processor):
    """Post-processors, each of which gets the parts of the one before.

    Args:
        processors: the post-processors in order.
    """

    def __init__(self, processors: Sequence[Processor]) -> None:
        self._processors = processors

    def added(self, is_pair: bool) -> int:
        """Return the sum of the numbers of tokens that each post-processor adds by itself."""
        return sum(processor.added(is_pair) for processor in self._processors)

    def process(self, parts: Sequence[Tokenized], add_special_tokens: bool) -> Sequence[Tokenized]:
        """Return the parts of the last post-processor."""
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
    """Return a text, or a pair of texts, after a post-processor.

    Raises:
        ValueError: the post-processor does not accept the text or the pair.

    >>> text = Tokenized([5], ["a"], [(0, 1)], [0])
    >>> process(None, text, text).sequence_ids
    [0, 1]
    """
    if processor is None and second is None:
        return first
    texts = [first] if second is None else [first, second]
    parts: Sequence[Tokenized] = [_numbered(part, index) for index, part in enumerate(texts)]
    if processor is None:
        # Here tokenizers does not record the text of an overflowing part.
        for part in parts:
            part.overflowing = [other.changed(sequence_ranges={}) for other in part.overflowing]
    else:
        parts = processor.process(parts, add_special_tokens)
    return Tokenized.joined(parts)


def _numbered(part: Tokenized, number: int) -> Tokenized:
    """Return a part, and its overflowing parts, as the text of a number."""
    return part.changed(
        type_ids=[number] * len(part),
        sequence_ranges={number: (0, len(part))},
        overflowing=[_numbered(other, number) for other in part.overflowing],
    )


def process_ids(
    processor: Processor | None, parts: Sequence[Sequence[int]], add_special_tokens: bool
) -> list[int]:
    """Return the ids of a text, or of a pair of texts, after a post-processor.

    Raises:
        ValueError: the post-processor does not accept them.
    """
    if processor is not None:
        parts = processor.process_ids(parts, add_special_tokens)
    return list(chain.from_iterable(parts))


def keeps_text(processor: Processor) -> bool:
    """Return True if a post-processor leaves a text unchanged when it adds no special tokens."""
    try:
        return process_ids(processor, [[0]], False) == [0]
    except ValueError:  # without special tokens, the next one gets too few parts
        return False


#: The space, in the byte alphabet.
_SPACE = BYTE_TO_UNICODE[ord(" ")]


class ByteLevelOffsets(Processor):
    """The post-processor ``ByteLevel``; it adds no tokens.

    Args:
        trim_offsets: leave the spaces around a token out of its place in the text.
        add_prefix_space: keep one space at the beginning of the text, as ``trimmed`` says.
    """

    def __init__(self, trim_offsets: bool = True, add_prefix_space: bool = True) -> None:
        self._trim_offsets = trim_offsets
        self._add_prefix_space = add_prefix_space

    def process(self, parts: Sequence[Tokenized], add_special_tokens: bool) -> Sequence[Tokenized]:
        """Return each part as a text of its own, with new places."""
        if self._trim_offsets:
            parts = [trimmed(part, self._add_prefix_space) for part in parts]
        return [
            part.changed(sequence_ranges={**part.sequence_ranges, index: (0, len(part))})
            for index, part in enumerate(parts)
        ]


def trimmed(part: Tokenized, add_prefix_space: bool) -> Tokenized:
    """Return a part in which no place has the spaces at the beginning and the end of its token.

    The overflowing parts are changed in the same way.

    Args:
        part: tokens and their places.
        add_prefix_space: keep a single space before the token at the beginning of the text, since
            it may not be in the text.

    >>> trimmed(Tokenized([5], ["Ġa"], [(3, 5)], [0]), True).offsets
    [(3, 5)]
    >>> trimmed(Tokenized([5], ["Ġa"], [(3, 5)], [0]), False).offsets
    [(4, 5)]
    """
    offsets = list(part.offsets)
    for index, token in enumerate(part.tokens):
        # All white space is a space to isspace(), too.
        if not token or not (_may_be_space(token[0]) or _may_be_space(token[-1])):
            continue
        start, end = offsets[index]
        before, after = _spaces(token), _spaces(token[::-1])
        if before == 1 and add_prefix_space and (index == 0 or start == 0):
            before = 0
        if before:
            start = min(start + before, end)
        if after and after <= end:
            end = max(end - after, start)
        offsets[index] = start, end
    return part.changed(
        offsets=offsets,
        overflowing=[trimmed(other, add_prefix_space) for other in part.overflowing],
    )


def _may_be_space(char: str) -> bool:
    return char == _SPACE or char.isspace()


def _spaces(token: str) -> int:
    """Return the number of spaces at the beginning of a token."""
    count = 0
    for char in token:
        if char != _SPACE and ord(char) not in white_space():
            break
        count += 1
    return count


class Special(NamedTuple):
    """A special token of a post-processor: its text and its id."""

    token: str
    id: int


def framed(
    part: Tokenized,
    before: Sequence[Special],
    after: Sequence[Special],
    *,
    number: int,
    type_id: int,
) -> Tokenized:
    """Return a part between special tokens.

    Tokens within the part no longer count as special tokens or as padding.

    Args:
        part: the part.
        before, after: the special tokens.
        number: the number of the text for the part, 0 or 1.
        type_id: the type of the special tokens.
    """
    start, end = len(before), len(before) + len(part)
    text = part.changed(
        special_tokens_mask=[0] * len(part),
        attention_mask=[1] * len(part),
        sequence_ranges={},
        overflowing=[],
    )
    whole = Tokenized.joined([_added(before, type_id), text, _added(after, type_id)])
    whole.sequence_ranges = {number: (start, end)}
    whole.overflowing = [
        framed(other.changed(overflowing=[]), before, after, number=number, type_id=type_id)
        for other in part.overflowing
    ]
    return whole


def _added(tokens: Sequence[Special], type_id: int) -> Tokenized:
    return Tokenized.added(
        [token.id for token in tokens], [token.token for token in tokens], type_id
    )


class BertProcessing(Processor):
    """The post-processor of BERT.

    Args:
        cls, sep: the tokens at the beginning, and at the end of each text.

    >>> bert = BertProcessing(Special("[CLS]", 101), Special("[SEP]", 102))
    >>> bert.process_ids([[5], [6]], True)
    [[101, 5, 102], [6, 102]]
    """

    def __init__(self, cls: Special, sep: Special) -> None:
        self._cls = cls
        self._sep = sep

    def _before(self, index: int) -> list[Special]:
        """Return the special tokens before a part."""
        return [] if index else [self._cls]

    def added(self, is_pair: bool) -> int:
        """Return the number of tokens that it adds."""
        return 3 + len(self._before(1)) if is_pair else 2

    def process(self, parts: Sequence[Tokenized], add_special_tokens: bool) -> Sequence[Tokenized]:
        """Return each part with its special tokens."""
        return self._framed(parts, 1) if add_special_tokens else parts

    def _framed(self, parts: Sequence[Tokenized], type_id: int) -> list[Tokenized]:
        """Return parts with their special tokens, whose type is 0 around the first part."""
        return [
            framed(part, self._before(n), [self._sep], number=n, type_id=n and type_id)
            for n, part in zip(chain((0,), repeat(1)), parts)
        ]

    def process_ids(
        self, parts: Sequence[Sequence[int]], add_special_tokens: bool
    ) -> Sequence[Sequence[int]]:
        """Return the ids of the parts that ``process`` makes."""
        if not add_special_tokens:
            return parts
        return [
            [*(token.id for token in self._before(index)), *part, self._sep.id]
            for index, part in enumerate(parts)
        ]


class RobertaProcessing(BertProcessing):
    """The post-processor of RoBERTa; all types are 0.

    Args:
        cls, sep: the tokens at the beginning and at the end.
        trim_offsets: leave the spaces around a token out of its place in the text.
        add_prefix_space: keep one space at the beginning of the text, as ``trimmed`` says.

    >>> roberta = RobertaProcessing(Special("<s>", 0), Special("</s>", 2))
    >>> roberta.process_ids([[5], [6]], True)
    [[0, 5, 2], [2, 6, 2]]
    """

    def __init__(
        self,
        cls: Special,
        sep: Special,
        trim_offsets: bool = True,
        add_prefix_space: bool = True,
    ) -> None:
        super().__init__(cls, sep)
        self._trim_offsets = trim_offsets
        self._add_prefix_space = add_prefix_space

    def _before(self, index: int) -> list[Special]:
        return [self._sep if index else self._cls]

    def process(self, parts: Sequence[Tokenized], add_special_tokens: bool) -> Sequence[Tokenized]:
        """Return each part with its special tokens."""
        if self._trim_offsets:
            parts = [trimmed(part, self._add_prefix_space) for part in parts]
        parts = [part.changed(type_ids=[0] * len(part)) for part in parts]
        if not add_special_tokens:
            return parts
        for part in parts:
            # Only here, as in tokenizers, do the overflowing parts get the type 0, too.
            part.overflowing = [
                other.changed(type_ids=[0] * len(other)) for other in part.overflowing
            ]
        return self._framed(parts, 0)
