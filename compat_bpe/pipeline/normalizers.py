"""Normalizers: functions that make text uniform before it is split, as in a ``tokenizer.json``.

Each gives what tokenizers 0.23.3 gives, whatever version of Unicode the running Python has.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Callable, Literal, get_args

from ..pattern.splitter import Splitter
from ..unicode import tables_tokenizers as tables
from ..unicode.code_points import CodePoints
from ..unicode.properties import parse_ranges, white_space

Normalizer = Callable[[str], str]


Form = Literal["NFC", "NFD", "NFKC", "NFKD"]


@cache
def unicode_form(form: Form) -> Normalizer:
    r"""Return the normalizer for a Unicode normalization form, as of Unicode 9.0.

    Characters assigned after Unicode 9.0 are unknown to it.  So they stay as they are, and nothing
    is ordered or composed across them.  For all other characters the forms are the same in every
    later version (UAX 15, section 3), so the running Python's forms can be used.

    >>> unicode_form("NFC")("e\u0301")
    'é'
    >>> unicode_form("NFKC")("\u32ff")  # Python says 令和, since Unicode 12.1
    '㋿'
    """

    def normalize(text: str) -> str:
        if text.isascii():
            return text
        candidates = _later_or_above()
        if candidates.search(text) is None:
            return unicodedata.normalize(form, text)
        parts = []
        start = 0
        for run in candidates.finditer(text):
            for later in _later().finditer(text, *run.span()):
                parts += [unicodedata.normalize(form, text[start : later.start()]), later.group()]
                start = later.end()
        parts.append(unicodedata.normalize(form, text[start:]))
        return "".join(parts)

    return normalize


def is_form(normalizer: Normalizer) -> bool:
    """Return True if a normalizer is one of the Unicode normalization forms.

    >>> is_form(unicode_form("NFC")), is_form(lowercase)
    (True, False)
    """
    return normalizer in map(unicode_form, get_args(Form))


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


def lowercase(text: str) -> str:
    """Return a text with each character in lower case by itself, a final sigma included.

    >>> lowercase("ὈΔΥΣΣΕΎΣ")
    'ὀδυσσεύσ'
    """
    return text.lower() if text.isascii() else text.translate(_lowercase_table())


@cache
def _lowercase_table() -> dict[int, str]:
    table = {0x130: "i\u0307"}  # the only letter that becomes two characters
    for run in re.finditer(r"([0-9a-f]+)-([0-9a-f]+)(/2)?([+-][0-9a-f]+)", tables.LOWERCASE):
        first, last, shift = (int(run[group], 16) for group in (1, 2, 4))
        for code_point in range(first, last + 1, 2 if run[3] else 1):
            table.setdefault(code_point, chr(code_point + shift))
    return table


def strip(left: bool, right: bool) -> Normalizer:
    """Return a normalizer that removes white space at the beginning, the end, or both.

    >>> strip(True, False)("  a ")
    'a '
    """
    blanks = "".join(map(chr, _code_points_of_white_space()))

    def normalize(text: str) -> str:
        text = text.lstrip(blanks) if left else text
        return text.rstrip(blanks) if right else text

    return normalize


def _code_points_of_white_space() -> Iterator[int]:
    for first, last in white_space().ranges():
        yield from range(first, last + 1)


def replace(old: Splitter, new: str) -> Normalizer:
    """Return a normalizer that replaces each match of a pattern by ``new``, taken literally.

    >>> replace(Splitter("[0-9]+"), "#")("a12b3")
    'a#b#'
    """

    def normalize(text: str) -> str:
        parts = []
        at = 0
        for start, end in old.spans(text):
            parts += [text[at:start], new]
            at = end
        parts.append(text[at:])
        return "".join(parts)

    return normalize


def prepend(prefix: str) -> Normalizer:
    """Return a normalizer that puts a prefix before a text, unless the text is empty.

    >>> prepend("▁")("a"), prepend("▁")("")
    ('▁a', '')
    """
    return lambda text: text and prefix + text


def one_after_the_other(normalizers: list[Normalizer]) -> Normalizer | None:
    """Return one normalizer that applies all of them in order, or None for an empty list.

    >>> one_after_the_other([lowercase, prepend("x")])("A")
    'xa'
    """
    if len(normalizers) < 2:
        return normalizers[0] if normalizers else None

    def normalize(text: str) -> str:
        for normalizer in normalizers:
            text = normalizer(text)
        return text

    return normalize
