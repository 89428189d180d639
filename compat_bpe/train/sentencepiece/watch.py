"""The checks on held-out lines while a model of SentencePiece is learned.

A check encodes the lines anew, with the model that learning would end with here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...encodings.sentencepiece import SentencePiece
from ...formats.sentencepiece import SentencePieceModel
from ..run.convergence import Convergence, Curve, Point, ShrinkingCurve


class HeldOutLines:
    """Lines by which learning may stop, from which nothing is learned.

    Args:
        lines: the lines without their ends, and their counts.

    Raises:
        ValueError: there is no text.
    """

    def __init__(self, settings: Convergence, lines: Mapping[str, int]) -> None:
        self._lines = lines
        size = sum(len(line.encode()) * count for line, count in lines.items())
        self._growing = Curve(settings, size)
        self._shrinking: ShrinkingCurve[SentencePieceModel] = ShrinkingCurve(settings, size)
        #: True if learning was stopped by a check.
        self.has_converged = False

    @property
    def points(self) -> Sequence[Point]:
        """The checks so far."""
        return self._growing.points or self._shrinking.points

    @property
    def model(self) -> SentencePieceModel:
        """The model that training is to give if a vocabulary that shrinks has converged."""
        assert self._shrinking.model is not None
        return self._shrinking.model

    def is_due(self, pieces: int) -> bool:
        """Return True if there is a check after so many pieces of a vocabulary that grows."""
        return self._growing.is_due(pieces)

    def grown(self, model: SentencePieceModel) -> bool:
        """Add a check of a vocabulary that grows; return True if learning has converged."""
        self.has_converged = self._growing.add(len(model.texts), 0, self._size(model))
        return self.has_converged

    def shrunk(self, model: SentencePieceModel) -> bool:
        """Add a check of a vocabulary that shrinks; return True if learning has converged."""
        size = self._size(model)
        self.has_converged = self._shrinking.add(len(model.texts), size, model)
        return self.has_converged

    def _size(self, model: SentencePieceModel) -> int:
        encoding = SentencePiece("held out", model)
        return sum(encoding.count(line) * count for line, count in self._lines.items())
