r"""Marks removed: letters lose those accents that are characters of their own."""

from __future__ import annotations

from functools import cache

from ...unicode import tables_tokenizers as tables
from ...unicode.properties import parse_ranges
from ..aligned import Aligned
from .base import PlainNormalizer
from .by_character import CharacterTable, members


class StripAccents(PlainNormalizer):
    r"""The normalizer that removes all marks (Mn, Mc and Me of Unicode 9.0), and changes no letter.

    >>> StripAccents()("e\u0301 é")
    'e é'
    """

    is_local = True

    def __call__(self, text: str) -> str:
        """Return a text without marks."""
        return text if text.isascii() else text.translate(_table())

    def align(self, text: Aligned) -> Aligned:
        """Return a text without marks, with the places in the original."""
        return text.filtered(lambda char: char not in _marks())

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the two characters, unless one of them is removed."""
        return None if left in _marks() or right in _marks() else (left, right)


@cache
def _marks() -> frozenset[str]:
    return members(parse_ranges(tables.MARKS))


@cache
def _table() -> CharacterTable:
    marks = _marks()
    return CharacterTable(lambda char: "" if char in marks else char)
