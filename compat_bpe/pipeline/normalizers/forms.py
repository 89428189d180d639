"""The Unicode normalization forms, as of the Unicode version of tokenizers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import Literal

from ...parallel.lazy import cached_property
from ...unicode import tables_tokenizers as tables
from ...unicode.code_points import CodePoints
from ...unicode.properties import parse_ranges
from ..aligned import Aligned
from .base import PlainNormalizer
from .by_character import CharacterTable, members
from .composing import Changed, composed, decomposed

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

#: ``unicodedata`` puts a run of marks in order by insertion: in a time that grows with the square
#: of its length. So longer runs take the plain way.
_LONGEST_RUN = 64


class UnicodeForm(PlainNormalizer):
    r"""The normalizer for a Unicode normalization form, as of Unicode 9.0.

    Characters assigned after Unicode 9.0 are unknown to it. So they stay as they are, and nothing
    is ordered or composed across them. For all other characters the forms are the same in every
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
        if _has_long_run(text):
            return "".join(char for char, _, _ in self._changes(text))
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
        """Return a text in the form, with the places in the original.

        A character made of several has the place of the first of them; the others have none.
        """
        return text.changed((char, change) for char, change, _ in self._changes(text.text))

    def _changes(self, text: str) -> Iterator[Changed]:
        """Return the characters of a text in the form, with their changes: the plain rule."""
        changes = decomposed(text, "NFKD" if "K" in self.form else "NFD", _is_later)
        return composed(changes, _is_later) if "C" in self.form else changes

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the characters beside a position, if nothing goes across it.

        Each of the two begins, when decomposed, with a character that is not moved before others
        and does not compose with one before it. So what is on each side is normalized by itself.
        The left one is the last on its side. The right one is what it is by itself, unless it
        composes with what follows, or has a mark that one of those may come before.
        """
        before, after = self._alone[ord(left)], self._alone[ord(right)]
        if not before or not after:
            return None
        if "C" in self.form and (after[0] in _forward() or _has_marks(after[0])):
            return None
        return before[-1], after[0]

    @cached_property
    def _alone(self) -> CharacterTable:
        """Return a character as it is by itself; nothing if that depends on what is before it."""
        return CharacterTable(self._by_itself)

    def _by_itself(self, char: str) -> str:
        if _is_later(char):
            return char
        first = unicodedata.normalize("NFKD" if "K" in self.form else "NFD", char)[0]
        if unicodedata.combining(first) or ("C" in self.form and first in _backward()):
            return ""
        return unicodedata.normalize(self.form, char)


def _has_marks(char: str) -> bool:
    """Return True if a character is decomposed to one with marks after it."""
    parts = unicodedata.normalize("NFD", char)
    return any(map(unicodedata.combining, parts[1:])) and not _is_later(char)


def _has_long_run(text: str) -> bool:
    """Return True if a text has a run of marks that is longer than ``_LONGEST_RUN``.

    One of its characters is in a sample of every so many.
    """
    if len(text) <= _LONGEST_RUN or _ordered_or_above().search(text[::_LONGEST_RUN]) is None:
        return False
    return _long_run().search(text) is not None


@cache
def _ordered() -> CodePoints:
    """Return the marks that are put in order, as of Unicode 9.0."""
    marks = members(parse_ranges(tables.MARKS))
    return CodePoints.from_ranges((ord(c), ord(c)) for c in marks if unicodedata.combining(c))


@cache
def _ordered_or_above() -> re.Pattern[str]:
    return re.compile((_ordered() | CodePoints((0x10000,))).to_re())


@cache
def _long_run() -> re.Pattern[str]:
    return re.compile(f"{_ordered().to_re()}{{{_LONGEST_RUN + 1}}}")


@cache
def _forward() -> frozenset[str]:
    return members(parse_ranges(tables.COMPOSES_FORWARD))


@cache
def _backward() -> frozenset[str]:
    return members(parse_ranges(tables.COMPOSES_BACKWARD))


def _is_later(char: str) -> bool:
    return char > "\x7f" and _later().match(char) is not None


@cache
def _later() -> re.Pattern[str]:
    """Return a pattern for runs of characters that are not assigned in Unicode 9.0."""
    return re.compile(f"{parse_ranges(tables.UNASSIGNED).to_re()}+")


@cache
def _later_or_above() -> re.Pattern[str]:
    """Return a pattern for runs of these characters and of every character above U+FFFF.

    ``re`` looks up a character of the Basic Multilingual Plane in a bitmap, but walks the ranges
    above it one by one. This class has a single such range and takes 7 ns a character. That of
    ``_later`` takes 1,500.
    """
    above = CodePoints.from_ranges([(0x10000, 0x10FFFF)])
    return re.compile(f"{(parse_ranges(tables.UNASSIGNED) | above).to_re()}+")
