"""The Unicode normalization forms, as of the Unicode version of tokenizers.

The fast way is ``unicodedata.normalize``, but it gives no relation between the old and the new
characters. The plain rule (UAX 15, section 1.3) is decomposition and composition, character by
character. There a changed character comes with its relation to the old characters, as in
``Aligned.changed``, and its combining class. A composed character has the sum of the changes of its
parts, less one for the part that is removed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from operator import itemgetter
from typing import Literal

from ...caches import cached_property
from ...unicode import tables_tokenizers as tables
from ...unicode.properties import CodePoints, parse_ranges
from ..aligned import Aligned
from .base import CharacterTable, Normalizer, members

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
#: A character, its change and its combining class.
Changed = tuple[str, int, int]

#: ``unicodedata`` sorts a run of marks by insertion, in quadratic time. So the plain rule is used
#: for longer runs.
_LONGEST_RUN = 64

_CLASS = itemgetter(2)


class UnicodeForm(Normalizer):
    r"""The normalizer for a Unicode normalization form, as of Unicode 9.0.

    Characters assigned after Unicode 9.0 are unknown to it. So they stay unchanged, and nothing is
    ordered or composed across them. For all other characters the forms are the same in every
    later version (UAX 15, section 3), so the running Python's forms can be used.

    >>> UnicodeForm("NFC")("e\u0301")
    'é'
    >>> UnicodeForm("NFKC")("\u32ff")  # Python says 令和, since Unicode 12.1
    '㋿'
    """

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

        A character that is composed of several has the place of the first one. The others have no
        place.
        """
        return text.changed((char, change) for char, change, _ in self._changes(text.text))

    def _changes(self, text: str) -> Iterator[Changed]:
        """Return the characters of a text in the form, with their changes: the plain rule."""
        changes = decomposed(text, "NFKD" if "K" in self.form else "NFD", _is_later)
        return composed(changes, _is_later) if "C" in self.form else changes

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the characters beside a position, if no change goes across it.

        Each of the two begins, when decomposed, with a character that is not moved before others
        and does not compose with a character before it. So each side is normalized by itself. The
        left character is the last on its side. The right character has the same result as by
        itself, unless it composes with later text, or a later mark may be sorted before its marks.
        """
        before, after = self._alone[ord(left)], self._alone[ord(right)]
        if not before or not after:
            return None
        if "C" in self.form and (after[0] in _forward() or _has_marks(after[0])):
            return None
        return before[-1], after[0]

    @cached_property
    def _alone(self) -> CharacterTable:
        """The result of each character by itself; empty if it depends on the character before."""
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

    A sample of every 64th character has one of its marks.
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
    """Return a pattern for runs of the characters of ``_later`` and of all above U+FFFF.

    ``re`` looks up a character of the Basic Multilingual Plane in a bitmap, but tries the ranges
    above it one by one. This class has a single such range and takes 7 ns per character. The class
    of ``_later`` takes 1,500 ns.
    """
    above = CodePoints.from_ranges([(0x10000, 0x10FFFF)])
    return re.compile(f"{(parse_ranges(tables.UNASSIGNED) | above).to_re()}+")


def decomposed(
    text: str, form: Literal["NFD", "NFKD"], is_unknown: Callable[[str], bool]
) -> Iterator[Changed]:
    r"""Yield the characters of a decomposed text, in canonical order.

    Args:
        form: the form of the decomposition.
        is_unknown: returns True for a character that stays unchanged, with combining class 0.

    >>> [change[:2] for change in decomposed("é\u0323", "NFD", lambda char: False)]
    [('e', 0), ('̣', 0), ('́', 1)]
    """
    known: dict[str, list[Changed]] = {}
    pending: list[Changed] = []
    for char in text:
        parts = known.get(char)
        if parts is None:
            if is_unknown(char):
                parts = [(char, 0, 0)]
            else:
                parts = [
                    (part, int(index > 0), unicodedata.combining(part))
                    for index, part in enumerate(unicodedata.normalize(form, char))
                ]
            known[char] = parts
        for part in parts:
            if part[2]:
                pending.append(part)
                continue
            if pending:
                yield from sorted(pending, key=_CLASS)
                pending.clear()
            yield part
    yield from sorted(pending, key=_CLASS)


def composed(changes: Iterable[Changed], is_unknown: Callable[[str], bool]) -> Iterator[Changed]:
    r"""Yield the characters of a decomposed text, composed.

    Args:
        is_unknown: returns True for a character that no composition may make.

    >>> parts = [("e", 0, 0), ("\u0301", 0, 230), ("x", 0, 0)]
    >>> [change[:2] for change in composed(parts, lambda char: False)]
    [('é', -1), ('x', 0)]
    """
    starter: Changed | None = None
    between: list[Changed] = []
    for one in changes:
        char, change, its_class = one
        if starter is None:
            if its_class:
                yield one
            else:
                starter = one
            continue
        # Blocked by a mark of the same class or, for a starter, by any mark.
        if not between or between[-1][2] < its_class:
            whole = _composite(starter[0] + char)
            if whole and not is_unknown(whole):
                starter = whole, starter[1] + change - 1, 0
                continue
        if its_class:
            between.append(one)
        else:
            yield starter
            yield from between
            between.clear()
            starter = one
    if starter is not None:
        yield starter
    yield from between


@lru_cache(maxsize=1 << 12)
def _composite(pair: str) -> str:
    """Return the composition of two characters; empty if they do not compose."""
    if pair.isascii():
        return ""
    composite = unicodedata.normalize("NFC", pair)
    return composite if len(composite) == 1 else ""
