r"""The normalizer of BERT: clean, space ideographs, strip accents, lower case.

The fast way changes each character by itself. That is exact unless two marks that are *kept* are
side by side, since a decomposition puts marks in the order of their combining classes. Few marks
are kept (those that are not Mn in Unicode 8.0 but have a combining class). A text with two of them
side by side takes the plain way: the steps one after the other.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from ...unicode import tables_tokenizers as tables
from ...unicode.properties import CodePoints, parse_ranges, white_space
from ..aligned import Aligned
from .base import CharacterTable, Normalizer, beside, members
from .simple import Lowercase


class BertNormalizer(Normalizer):
    r"""The normalizer of BERT.

    Args:
        clean_text: remove control characters, make white space spaces.
        handle_chinese_chars: put a space before and after each ideograph.
        strip_accents: decompose letters and remove their accents.
        lowercase: put letters in lower case.

    >>> BertNormalizer(True, True, True, True)("É\t中")
    'e  中 '
    """

    def __init__(
        self, clean_text: bool, handle_chinese_chars: bool, strip_accents: bool, lowercase: bool
    ) -> None:
        self._clean_text = clean_text
        self._handle_chinese_chars = handle_chinese_chars
        self._strip_accents = strip_accents
        self._lowercase = lowercase
        self._table = CharacterTable(self._by_itself)
        #: True once a character has become a mark that is kept and put in order.
        self._has_ordered = False
        # For ASCII text, `str.translate` has a faster way, but only if removed characters are None.
        self._ascii = {point: self._by_steps(chr(point)) or None for point in range(0x80)}

    def __call__(self, text: str) -> str:
        """Return the normalized text."""
        if text.isascii():
            return text.translate(self._ascii)
        changed = text.translate(self._table)
        if self._has_ordered and _ordered_pair().search(changed):
            return self._by_steps(text)
        return changed

    def _by_itself(self, char: str) -> str:
        changed = self._by_steps(char)
        if self._strip_accents and not _ordered().isdisjoint(changed):
            self._has_ordered = True
        return changed

    def _by_steps(self, text: str) -> str:
        """Return the normalized text: the plain rule."""
        if self._clean_text:
            text = text.translate(_cleaned())
        if self._handle_chinese_chars and not text.isascii():
            text = _ideograph().sub(r" \g<0> ", text)
        if self._strip_accents and not text.isascii():
            from .forms import UnicodeForm

            text = UnicodeForm("NFD")(text).translate(_stripped())
        return Lowercase()(text) if self._lowercase else text

    def align(self, text: Aligned) -> Aligned:
        """Return the normalized text, with the places in the original."""
        if self._clean_text:
            text = text.filtered(lambda char: ord(char) not in _removed())
            text = text.changed((char.translate(_cleaned()), 0) for char in text.text)
        if self._handle_chinese_chars:
            is_ideograph = _ideograph().match
            text = text.changed(
                spaced
                for char in text.text
                for spaced in (
                    ((" ", 0), (char, 1), (" ", 1)) if is_ideograph(char) else ((char, 0),)
                )
            )
        if self._strip_accents:
            from .forms import UnicodeForm

            text = UnicodeForm("NFD").align(text).filtered(lambda char: ord(char) not in _accents())
        return Lowercase().align(text) if self._lowercase else text

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the characters beside a position, unless one of them is removed or ordered."""
        pair = beside(self._table[ord(left)], self._table[ord(right)])
        if self._strip_accents and pair and any(char in _ordered() for char in pair):
            return None
        return pair


@cache
def _ideograph() -> re.Pattern[str]:
    """Return a pattern for an ideograph, compiled when one may be there."""
    # The blocks. As in tokenizers, U+2B820 to U+2B91F are left out.
    return re.compile(
        "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b81f"
        "\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f]"
    )


@cache
def _removed() -> CodePoints:
    # A hundred thousand are for private use, so they are not listed one by one.
    return parse_ranges(tables.OTHER) - CodePoints.of("\t", "\n", "\r") | CodePoints.of(
        "\0", "\ufffd"
    )


@cache
def _accents() -> CodePoints:
    return parse_ranges(tables.NONSPACING)


@cache
def _cleaned() -> CharacterTable:
    removed, blanks = _removed(), white_space()

    def cleaned(char: str) -> str:
        return "" if ord(char) in removed else " " if ord(char) in blanks else char

    return CharacterTable(cleaned)


@cache
def _stripped() -> CharacterTable:
    accents = _accents()
    return CharacterTable(lambda char: "" if ord(char) in accents else char)


@cache
def _ordered() -> frozenset[str]:
    """Return the marks that are kept and put in order.

    All of them were assigned in Unicode 9.0. So their combining classes are the same in every later
    version, including that of the running Python.
    """
    kept = parse_ranges(tables.MARKS) - parse_ranges(tables.NONSPACING)
    return frozenset(filter(unicodedata.combining, members(kept)))


@cache
def _ordered_pair() -> re.Pattern[str]:
    return re.compile(f"[{''.join(sorted(_ordered()))}]{{2}}")
