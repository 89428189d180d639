"""Text made uniform before it is split, as the normalizers of a ``tokenizer.json`` do.

Each normalizer here is a function from text to text, and gives what tokenizers 0.23.3 gives,
whatever version of Unicode the running Python has.
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
    r"""A Unicode normalization form, as of Unicode 9.0.

    What was assigned later stays as it is, and nothing is ordered or composed across it: to
    Unicode 9.0 it is a character of which nothing is known.  For what it knows, the forms are the
    same in every later version (UAX 15, section 3), so the running Python's can be used.

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
    """Whether a normalizer is one of the Unicode normalization forms.

    >>> is_form(unicode_form("NFC")), is_form(lowercase)
    (True, False)
    """
    return normalizer in map(unicode_form, get_args(Form))


@cache
def _later() -> re.Pattern[str]:
    """Matches what is not assigned in Unicode 9.0."""
    return re.compile(f"{parse_ranges(tables.UNASSIGNED).to_re()}+")


@cache
def _later_or_above() -> re.Pattern[str]:
    """Matches that, and every character above U+FFFF.

    ``re`` finds a character of the Basic Multilingual Plane in a class by a bitmap, but walks the
    ranges above, of which there is but one here: this takes 7 ns a character, the other 1,500.
    """
    above = CodePoints.from_ranges([(0x10000, 0x10FFFF)])
    return re.compile(f"{(parse_ranges(tables.UNASSIGNED) | above).to_re()}+")


def lowercase(text: str) -> str:
    """Every character in lower case by itself: a sigma at the end of a word is like any other.

    >>> lowercase("ὈΔΥΣΣΕΎΣ")
    'ὀδυσσεύσ'
    """
    return text.lower() if text.isascii() else text.translate(_lowercase_table())


@cache
def _lowercase_table() -> dict[int, str]:
    table = {0x130: "i\u0307"}  # the only one that becomes two characters
    for run in re.finditer(r"([0-9a-f]+)-([0-9a-f]+)(/2)?([+-][0-9a-f]+)", tables.LOWERCASE):
        first, last, shift = (int(run[group], 16) for group in (1, 2, 4))
        for code_point in range(first, last + 1, 2 if run[3] else 1):
            table.setdefault(code_point, chr(code_point + shift))
    return table


def strip(left: bool, right: bool) -> Normalizer:
    """Without the white space at the beginning, the end, or both.

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
    """With each match of a pattern replaced, by ``new`` as it stands.

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
    """With something in front, if there is any text.

    >>> prepend("▁")("a"), prepend("▁")("")
    ('▁a', '')
    """
    return lambda text: text and prefix + text


def one_after_the_other(normalizers: list[Normalizer]) -> Normalizer | None:
    """Several normalizers as one; None if there are none.

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
