"""Control characters removed, and other white space made spaces, as for machine translation."""

from __future__ import annotations

from functools import cache

from ..aligned import Aligned
from .base import PlainNormalizer
from .by_character import CharacterTable, beside

#: C0 controls that are no white space, DEL, and two C1 controls.
_REMOVED = frozenset(map(chr, (*range(1, 9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F)))
_SPACES = frozenset("\t\n\f\r\u1680\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd")


class Nmt(PlainNormalizer):
    r"""The normalizer ``Nmt``: it removes control characters and makes others spaces.

    It is a part of SentencePiece's ``nmt_nfkc``, with the same odd set of characters.

    >>> Nmt()("a\x01\tb\u200bc")
    'a b c'
    """

    is_local = True

    def __call__(self, text: str) -> str:
        """Return the normalized text."""
        return text if text.isascii() and text.isprintable() else text.translate(_table())

    def align(self, text: Aligned) -> Aligned:
        """Return the normalized text, with the places in the original."""
        kept = text.filtered(lambda char: char not in _REMOVED)
        return kept.changed((_changed(char), 0) for char in kept.text)

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the two characters as they become, unless one of them is removed."""
        return beside(_changed(left), _changed(right))


def _changed(char: str) -> str:
    return "" if char in _REMOVED else " " if char in _SPACES else char


@cache
def _table() -> CharacterTable:
    return CharacterTable(_changed)
