"""``RobertaProcessing``: ``<s> A </s>``, or ``<s> A </s> </s> B </s>``."""

from __future__ import annotations

from collections.abc import Sequence

from ..tokenized.tokenized import Tokenized
from .byte_level import trimmed
from .frame import Special, framed


class RobertaProcessing:
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
