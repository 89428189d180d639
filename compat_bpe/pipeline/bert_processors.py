"""The post-processors of BERT and RoBERTa, and ByteLevel's; imported late, as few files have them.

BERT's make ``[CLS] A [SEP]`` or ``[CLS] A [SEP] B [SEP]`` of texts, RoBERTa's ``<s> A </s>`` or
``<s> A </s> </s> B </s>``. ByteLevel's adds no tokens, but leaves spaces out of the tokens' places
in the text, as RoBERTa's does, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..unicode.properties import white_space
from .byte_level import BYTE_TO_UNICODE
from .processors import Processor
from .tokenized import Tokenized

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
        """Return each part as a text of its own, with other places."""
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

    Whatever the part has, the tokens within it count as no special tokens and as no padding.

    Args:
        part: the part.
        before, after: the special tokens.
        number: the number of the text that the part then is, 0 or 1.
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

    def added(self, is_pair: bool) -> int:
        """Return the number of tokens that it adds."""
        return 3 if is_pair else 2

    def process(self, parts: Sequence[Tokenized], add_special_tokens: bool) -> Sequence[Tokenized]:
        """Return each part with its special tokens."""
        if not add_special_tokens:
            return parts
        return [
            framed(
                part,
                [] if index else [self._cls],
                [self._sep],
                number=min(index, 1),
                type_id=min(index, 1),
            )
            for index, part in enumerate(parts)
        ]

    def process_ids(
        self, parts: Sequence[Sequence[int]], add_special_tokens: bool
    ) -> Sequence[Sequence[int]]:
        """Return the ids of the parts that ``process`` makes."""
        if not add_special_tokens:
            return parts
        framed = [[*part, self._sep.id] for part in parts]
        for first in framed[:1]:
            first.insert(0, self._cls.id)
        return framed


class RobertaProcessing(Processor):
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
        self._cls = cls
        self._sep = sep
        self._trim_offsets = trim_offsets
        self._add_prefix_space = add_prefix_space

    def added(self, is_pair: bool) -> int:
        """Return the number of tokens that it adds."""
        return 4 if is_pair else 2

    def process(self, parts: Sequence[Tokenized], add_special_tokens: bool) -> Sequence[Tokenized]:
        """Return each part with its special tokens."""
        if self._trim_offsets:
            parts = [trimmed(part, self._add_prefix_space) for part in parts]
        parts = [part.changed(type_ids=[0] * len(part)) for part in parts]
        if not add_special_tokens:
            return parts
        framed_parts = []
        for index, part in enumerate(parts):
            # Only here, as in tokenizers, do the overflowing parts get the type 0, too.
            part.overflowing = [
                other.changed(type_ids=[0] * len(other)) for other in part.overflowing
            ]
            before = [self._sep if index else self._cls]
            framed_parts.append(framed(part, before, [self._sep], number=min(index, 1), type_id=0))
        return framed_parts

    def process_ids(
        self, parts: Sequence[Sequence[int]], add_special_tokens: bool
    ) -> Sequence[Sequence[int]]:
        """Return the ids of the parts that ``process`` makes."""
        if not add_special_tokens:
            return parts
        return [
            [(self._sep if index else self._cls).id, *part, self._sep.id]
            for index, part in enumerate(parts)
        ]
