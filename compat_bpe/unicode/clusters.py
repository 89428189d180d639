r"""Extended grapheme clusters, which readers see as one character (UAX 29, Unicode 17.0).

Only the clusters of several characters are searched. First each character of the text becomes an
ASCII letter for its class. The rules GB1 to GB999 are a pattern over these letters, which ``re``
tests with one small bitmap.

The property: a search for clusters of several characters begins at the beginning of a cluster.

The argument: it begins at the start of the text. Where it fails, the cluster there is a single
character, so the next position is the beginning of a cluster again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ..caches import Memo
from . import tables_tokenizers as tables
from .properties import END, CodePoints, parse_ranges

#: ``c`` control, ``e`` extends, ``n`` extends but not a conjunct, ``k`` links a conjunct, ``z``
#: joins emoji, ``s`` spacing mark, ``r`` half of a flag, ``p`` prepended, ``x`` emoji,
#: ``C`` consonant, ``LVT`` jamo, ``W`` and ``Y`` syllables of two and three jamo, ``o`` any other.
_CLUSTER = re.compile(
    r"(?=\r\n|[^\r\nc][enkzs]|p[^\r\nc]|rr|[LVTWY][LVTWY])"
    r"(?:\r\n|p*(?:L*(?:V+|WV*|Y)T*|L+|T+|rr|x(?:[enk]*zx)*|C(?:[ez]*k[ekz]*C)*|[^\r\nc])[enkzs]*)"
)
#: One of these is in every cluster of several characters.
_JOINED = re.compile(r"[enkzsrpLVT]|\r\n")


def long_clusters(text: str) -> Iterator[tuple[int, int]]:
    r"""Yield the start and end of each cluster of more than one character.

    >>> list(long_clusters("ae\u0301\r\n👍🏽"))
    [(1, 3), (3, 5), (5, 7)]
    """
    if text.isascii():
        at = text.find("\r\n")
        while at >= 0:
            yield at, at + 2
            at = text.find("\r\n", at + 2)
        return
    if _may_join().search(text) is None:
        return
    classes = text.translate(_classes())
    if _JOINED.search(classes) is None:
        return
    for match in _CLUSTER.finditer(classes):
        start, end = match.span()
        # The first of two jamo that do not join is a cluster by itself.
        if end - start > 1:
            yield start, end


def stands_alone(char: str) -> bool:
    r"""Return True if a cluster always ends between this character and another that stands alone.

    The exception is ``\r\n``. A character that extends the previous one, or joins the next one,
    does not stand alone.
    """
    return char.translate(_classes()) in "ocxC\r\n"


def prepended() -> str:
    """Return the characters that join the next character."""
    return "".join(map(chr, parse_ranges(tables.CLUSTER_CLASSES["p"])))


@cache
def _may_join() -> re.Pattern[str]:
    """Return a pattern for one of the characters in every cluster of several, or any above U+FFFF.

    ``re`` looks up a character of the Basic Multilingual Plane in a bitmap, but tries the ranges
    above it one by one. So this pattern has a single range there.
    """
    joined = (parse_ranges(tables.CLUSTER_CLASSES[letter]) for letter in "enkzsrpLVT")
    low_or_above = (CodePoints.of("\r", "\U00010000\U0010ffff"), *joined)
    return re.compile(CodePoints.union(*low_or_above).to_re())


@cache
def _classes() -> Memo[int, str]:
    """Return a table of the letter of each character's class."""
    classes = [(parse_ranges(table), letter) for letter, table in tables.CLUSTER_CLASSES.items()]

    def find(point: int) -> str:
        if point in (0x0A, 0x0D):
            return chr(point)
        kind = "o"
        if 0xAC00 <= point < 0xD7A4:
            kind = "Y" if (point - 0xAC00) % 28 else "W"
        for points, letter in classes:
            if point in points:
                kind = letter
        return kind

    return Memo(find, END)
