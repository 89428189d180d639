"""The Unicode normalization forms, as of the Unicode version of tokenizers."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Literal

from ...unicode import tables_tokenizers as tables
from ...unicode.code_points import CodePoints
from ...unicode.properties import parse_ranges
from ..aligned import Aligned

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

#: ASCII characters that compose with a following combining mark.
_COMPOSED = frozenset("<=>ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


class UnicodeForm:
    r"""The normalizer for a Unicode normalization form, as of Unicode 9.0.

    Characters assigned after Unicode 9.0 are unknown to it.  So they stay as they are, and nothing
    is ordered or composed across them.  For all other characters the forms are the same in every
    later version (UAX 15, section 3), so the running Python's forms can be used.

    >>> UnicodeForm("NFC")("e\u0301")
    'é'
    >>> UnicodeForm("NFKC")("\u32ff")  # Python says 令和, since Unicode 12.1
    '㋿'
    """

    is_local = True

    def __init__(self, form: Form) -> None:
        self.form = form

    def __call__(self, text: str) -> str:
        """Return a text in the form."""
        if text.isascii():
            return text
        candidates = _later_or_above()
        if candidates.search(text) is None:
            return unicodedata.normalize(self.form, text)
        parts = []
        start = 0
        for run in candidates.finditer(text):
            for later in _later().finditer(text, *run.span()):
                parts += [
                    unicodedata.normalize(self.form, text[start : later.start()]),
                    later.group(),
                ]
                start = later.end()
        parts.append(unicodedata.normalize(self.form, text[start:]))
        return "".join(parts)

    def align(self, text: Aligned) -> Aligned:
        """Return a text in the form, with the places in the original."""
        raise NotImplementedError

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return two ASCII characters as they are, unless the right one may be composed.

        An ASCII character before another one is not changed.  The other one is changed only if it
        composes with a mark after it, which letters and ``<=>`` may.
        """
        return (left, right) if (left + right).isascii() and right not in _COMPOSED else None


@cache
def _later() -> re.Pattern[str]:
    """Return a pattern for runs of characters that are not assigned in Unicode 9.0."""
    return re.compile(f"{parse_ranges(tables.UNASSIGNED).to_re()}+")


@cache
def _later_or_above() -> re.Pattern[str]:
    """Return a pattern for runs of these characters and of every character above U+FFFF.

    ``re`` looks up a character of the Basic Multilingual Plane in a bitmap, but walks the ranges
    above it one by one.  This class has a single such range and takes 7 ns a character.  That of
    ``_later`` takes 1,500.
    """
    above = CodePoints.from_ranges([(0x10000, 0x10FFFF)])
    return re.compile(f"{(parse_ranges(tables.UNASSIGNED) | above).to_re()}+")
