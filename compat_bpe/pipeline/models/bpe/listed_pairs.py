"""A list of merges by pairs of ids, for ``pipeline.pypy.pairs.PairMerger``."""

from __future__ import annotations

from typing import NamedTuple


class ListedPairs(NamedTuple):
    """A list of merges by pairs of ids.

    Args:
        byte_ids: the id of each byte.
        ranks: for each pair of ids the index of its merge.
        made: for each index the id that the merge makes.
    """

    byte_ids: list[int]
    ranks: dict[tuple[int, int], int]
    made: list[int]
