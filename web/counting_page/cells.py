"""Cells: the parts of a shown text that cannot be split further, each with its tokens.

A token may end within a character, and a character that readers see may be several code points. A
browser can draw only whole ones. So neighbouring tokens that share such a character are in one
cell, and the cell says which they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from compat_bpe.fit import PlacedToken
from compat_bpe.unicode.clusters import long_clusters


class Cell(NamedTuple):
    """A part of a text with the tokens that have a part of it.

    Args:
        start, end: its place in the text, in characters.
        number: the number of tokens before its first one.
        ids: the ids of its tokens.
    """

    start: int
    end: int
    number: int
    ids: list[int]


def cells_of(text: str, start: int, tokens: Sequence[PlacedToken]) -> list[Cell]:
    r"""Return the cells of a part of a text, in order; what no token stands for is in none.

    Args:
        text: the part.
        start: its place in the whole text.
        tokens: the tokens that have a part of it, with places in the whole text.

    >>> from compat_bpe import get_encoding
    >>> from compat_bpe.fit import Document
    >>> text = "a \U0001f469‍\U0001f469!"
    >>> tokens = Document(get_encoding("gpt2"), text).tokens(0, len(text))
    >>> [(one.start, one.end, len(one.ids)) for one in cells_of(text, 0, tokens)]
    [(0, 1, 1), (1, 5, 6), (5, 6, 1)]
    """
    end = start + len(text)
    clusters = iter(long_clusters(text))
    inside = next(clusters, None)
    found: list[Cell] = []
    for token in tokens:
        begin, stop = max(token.start, start), min(token.end, end)
        # Clusters that end before this token cannot be split by its beginning.
        while inside is not None and start + inside[1] <= begin:
            inside = next(clusters, None)
        splits_cluster = inside is not None and start + inside[0] < begin
        last = found[-1] if found else None
        if last is not None and (begin < last.end or begin == stop or splits_cluster):
            last.ids.append(token.id)
            found[-1] = last._replace(end=max(last.end, stop))
        else:
            found.append(Cell(begin, stop, token.number, [token.id]))
    return found


def utf16_lengths(text: str) -> list[int]:
    r"""Return the number of UTF-16 units before each character, and in all, as browsers count.

    >>> utf16_lengths("a\U0001f600b")
    [0, 1, 3, 4]
    """
    return [0, *accumulate(2 if char > "\uffff" else 1 for char in text)]
