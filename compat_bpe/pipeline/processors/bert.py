"""``BertProcessing``: ``[CLS] A [SEP]``, or ``[CLS] A [SEP] B [SEP]``."""

from __future__ import annotations

from collections.abc import Sequence

from ..tokenized.tokenized import Tokenized
from .frame import Special, framed


class BertProcessing:
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
                number=index,
                type_id=index,
            )
            for index, part in _numbered(parts)
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


def _numbered(parts: Sequence[Tokenized]) -> list[tuple[int, Tokenized]]:
    """Return the parts with their numbers: all after the first count as the second text."""
    return [(min(index, 1), part) for index, part in enumerate(parts)]
