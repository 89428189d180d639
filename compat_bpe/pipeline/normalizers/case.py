"""Lower case, as of the Unicode version of tokenizers."""

from __future__ import annotations

import re
from functools import cache

from ...unicode import tables_tokenizers as tables
from ..aligned import Aligned
from .base import PlainNormalizer
from .by_character import CharacterTable


class Lowercase(PlainNormalizer):
    """The normalizer that puts each character in lower case by itself, a final sigma included.

    >>> Lowercase()("ὈΔΥΣΣΕΎΣ")
    'ὀδυσσεύσ'
    """

    is_local = True

    def __call__(self, text: str) -> str:
        """Return a text in lower case."""
        return text.lower() if text.isascii() else text.translate(_lowercase_table())

    def align(self, text: Aligned) -> Aligned:
        """Return a text in lower case, with the places in the original."""
        return text.changed(
            (lower, int(index > 0)) for char in text.text for index, lower in enumerate(self(char))
        )

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the two characters in lower case: each character is changed by itself."""
        return self(left)[-1], self(right)[0]


@cache
def _lowercase_table() -> CharacterTable:
    table = {0x130: "i\u0307"}  # the only letter that becomes two characters
    for run in re.finditer(r"([0-9a-f]+)-([0-9a-f]+)(/2)?([+-][0-9a-f]+)", tables.LOWERCASE):
        first, last, shift = (int(run[group], 16) for group in (1, 2, 4))
        for code_point in range(first, last + 1, 2 if run[3] else 1):
            table.setdefault(code_point, chr(code_point + shift))
    return CharacterTable(lambda char: table.get(ord(char), char))
