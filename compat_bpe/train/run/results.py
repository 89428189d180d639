"""The results of a run: the model, its merges, and the encoding with its figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...encodings.encoding import Encoding
from .convergence import Point, points_as_json


class LearnedMerge(NamedTuple):
    """A merge.

    Args:
        left, right: the bytes of the two tokens that are joined.
        id: the id of the new token.
        frequency: the number of times that the two were neighbours when they were joined.
    """

    left: bytes
    right: bytes
    id: int
    frequency: float


class Trained(NamedTuple):
    """The result of training.

    Args:
        encoding: the encoding.
        merges: the merges, in the order in which they were learned.
        stopped: the reason why there are no more: ``"size"`` if there are as many as were asked
            for, ``"nothing left"`` if no pair is as frequent as ``min_frequency``,
            ``"convergence"`` if more would have been of little use, ``"score"`` if no pair has
            ``min_score``.
        bytes: the size of the corpus in UTF-8.
        chunks, distinct_chunks: the number of its chunks, and of different ones.
        tokens: the number of its tokens in the end.
        factors: with weights, the factor by which each group was multiplied; else empty. Of the
            figures above, only ``tokens`` and the frequencies of merges are multiplied.
        curve: with ``convergence``, the checks on the held-out text; else empty.
    """

    encoding: Encoding
    merges: list[LearnedMerge]
    stopped: str
    bytes: int
    chunks: int
    distinct_chunks: int
    tokens: float
    factors: dict[str, float]
    curve: Sequence[Point] = ()

    @property
    def skipped(self) -> int:
        """The number of texts that were left out: none."""
        return 0

    def metrics(self) -> dict[str, Any]:
        """Return figures of the training for a manifest."""
        figures = self._asdict()
        del figures["encoding"], figures["curve"]
        figures["merges"] = len(self.merges)
        return {**figures, "curve": points_as_json(self.curve)} if self.curve else figures


class Learned(NamedTuple):
    """A model that was learned.

    Args:
        model: the model, as its kind has it.
        merges: the merges, in the order in which they were learned; none if its kind has none.
        stopped: as in ``Trained``.
        tokens: the number of tokens of the words that it was learned from.
        curve: as in ``Trained``.
    """

    model: Any
    merges: list[LearnedMerge]
    stopped: str
    tokens: float
    curve: Sequence[Point] = ()
