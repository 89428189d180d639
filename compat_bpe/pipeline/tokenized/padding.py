"""Padding: tokens added to texts until they are of one length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .tokenized import Tokenized, check_direction

#: The greatest length of a padded text. A file may ask for any, which would take all memory.
MOST_TOKENS = 1 << 24


class Padding(NamedTuple):
    """The settings of padding, by the names of tokenizers' ``enable_padding``.

    Args:
        length: the smallest number of tokens; None for that of the longest text of a batch.
        direction: the end at which padding is added, ``"right"`` or ``"left"``.
        pad_id, pad_type_id, pad_token: the token that is added.
        pad_to_multiple_of: make the length a multiple of this; None or 0 if it may be any.

    >>> texts = [Tokenized([5], ["a"], [(0, 1)], [0]), Tokenized()]
    >>> Padding(pad_to_multiple_of=2).applied(texts)
    [Tokenized(['a', '[PAD]']), Tokenized(['[PAD]', '[PAD]'])]
    """

    length: int | None = None
    direction: str = "right"
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"
    pad_to_multiple_of: int | None = None

    def check(self) -> None:
        """Raise ``ValueError`` if a setting is wrong."""
        check_direction(self.direction)
        for name in ("length", "pad_id", "pad_type_id", "pad_to_multiple_of"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise ValueError(f"{name} is {value}; it must be 0 or more")

    def applied(self, texts: Sequence[Tokenized]) -> list[Tokenized]:
        """Return some texts, padded.

        Raises:
            ValueError: a setting is wrong, or the length is more than ``MOST_TOKENS``.
        """
        self.check()
        length = max(map(len, texts), default=0) if self.length is None else self.length
        if self.pad_to_multiple_of:
            length += -length % self.pad_to_multiple_of
        if length > MOST_TOKENS:
            raise ValueError(f"padding to {length} tokens: the most are {MOST_TOKENS}")
        return [
            text.padded(
                length,
                direction=self.direction,
                pad_id=self.pad_id,
                pad_type_id=self.pad_type_id,
                pad_token=self.pad_token,
            )
            for text in texts
        ]
