"""Special tokens around a part, as ``BertProcessing`` and ``RobertaProcessing`` put them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..tokenized.tokenized import Tokenized


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
