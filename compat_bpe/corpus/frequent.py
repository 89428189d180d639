r"""Counts of the most frequent chunks in bounded memory, with a bound of the error.

Exact counts need memory or disk for every distinct chunk, and most chunks occur once. A *summary*
holds at most *m* chunks. When there are more, the count of rank *m + 1*, called *c*, is subtracted
from all counts, and chunks with nothing left are dropped. (This is the summary of Misra and Gries;
that such summaries can be merged in any order is from "Mergeable summaries" by Agarwal and others,
2012.)

The property: each count is too low by at most ``error``, the sum of all these *c*, and ``error`` is
at most ``missing / (m + 1)``, where ``missing`` is the number of occurrences that are in no count.
So a chunk that occurs more often than ``total / (m + 1)`` times is always there.

The argument: whenever *c* is subtracted, at least *m + 1* chunks lose *c* each, so ``missing``
grows by *(m + 1) c* or more, and ``error`` by *c*. In a merge, both are those of the two summaries
added up, before something is subtracted again. So the bound holds for any order and any parts in
which chunks are counted and summaries are merged, though the counts may differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Summary(NamedTuple):
    """Counts of the most frequent chunks.

    Args:
        most: the most chunks that it holds.
        counts: the chunks, each with a count that is at most the true one.
        error: the most that a count is too low; a chunk that is not there has the count 0.
    """

    most: int
    counts: dict[str, int]
    error: int


def summary(counts: Mapping[str, int] | Iterable[tuple[str, int]], most: int) -> Summary:
    """Return the summary of chunks and their counts.

    Args:
        counts: the chunks with their counts, in any order; a chunk may come several times.
        most: the most chunks to hold; up to twice as many are held on the way.

    Raises:
        ValueError: ``most`` is below 1.

    >>> summary([("a", 5), ("b", 1), ("a", 4), ("c", 2)], 2)
    Summary(most=2, counts={'a': 8, 'c': 1}, error=1)
    """
    if most < 1:
        raise ValueError(f"most is {most}; it must be 1 or more")
    known: dict[str, int] = {}
    error = 0
    limit = 2 * most
    for chunk, count in counts.items() if isinstance(counts, Mapping) else counts:
        known[chunk] = known.get(chunk, 0) + count
        if len(known) > limit:
            known, taken = _pruned(known, most)
            error += taken
    known, taken = _pruned(known, most)
    return Summary(most, known, error + taken)


def merged(first: Summary, second: Summary) -> Summary:
    """Return one summary of all chunks that two summaries were made of.

    If they hold different numbers of chunks, the result holds the smaller one.

    >>> one, two = summary({"a": 5, "b": 2}, 2), summary({"b": 2, "c": 1}, 2)
    >>> merged(one, two)
    Summary(most=2, counts={'b': 3, 'a': 4}, error=1)
    """
    most = min(first.most, second.most)
    small, large = sorted((first.counts, second.counts), key=len)
    known = dict(large)
    for chunk, count in small.items():
        known[chunk] = known.get(chunk, 0) + count
    known, taken = _pruned(known, most)
    return Summary(most, known, first.error + second.error + taken)


def _pruned(counts: dict[str, int], most: int) -> tuple[dict[str, int], int]:
    """Keep the counts of a number of chunks; return them, and the number taken from each."""
    if len(counts) <= most:
        return counts, 0
    taken = sorted(counts.values(), reverse=True)[most]
    return {chunk: n - taken for chunk, n in counts.items() if n > taken}, taken
