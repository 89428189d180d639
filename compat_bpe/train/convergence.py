"""Stopping by convergence: bytes per token of held-out text, and the check that ends learning.

Every ``check_every`` merges, bytes per token of the held-out text are measured, as the tokenizer
with the merges so far gives them. Names of special tokens are plain text. A check is an improvement
if bytes per token are higher than at the last improvement, by a share of at least
``min_improvement``. Learning stops after ``patience`` checks in a row without an improvement.

The vocabulary has all merges up to the last check, so it is that of training with as many merges.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from .checks import check_least


@dataclass(frozen=True)
class Convergence:
    """The settings of stopping by convergence.

    Args:
        patience: the number of checks in a row without an improvement after which learning stops;
            None to measure only.
        min_improvement: the least improvement, as a share of bytes per token.
        check_every: the number of merges from one check to the next.

    Raises:
        ValueError: a number is out of range.

    >>> Convergence(patience=0)
    Traceback (most recent call last):
    ValueError: patience is 0; it must be 1 or more
    """

    patience: int | None = 3
    min_improvement: float = 0.001
    check_every: int = 100

    def __post_init__(self) -> None:
        for name in ("patience", "check_every"):
            check_least(name, getattr(self, name), 1)
        if not 0 <= self.min_improvement < float("inf"):
            raise ValueError(f"min_improvement is {self.min_improvement}; it must be 0 or more")


class Point(NamedTuple):
    """A check.

    Args:
        tokens: the size of the vocabulary, special tokens included.
        merges: the number of merges.
        bytes_per_token: the size in bytes of the held-out text, divided by the number of its
            tokens.
    """

    tokens: int
    merges: int
    bytes_per_token: float


class HeldOut(NamedTuple):
    """Held-out text.

    Args:
        counts: its words, or chunks, and their counts.
        bytes: its size in UTF-8.
    """

    counts: dict[str, int]
    bytes: int


class Curve:
    """The checks so far.

    Args:
        settings: the settings.
        size: the size of the held-out text in bytes.

    Raises:
        ValueError: there is no text.

    >>> curve = Curve(Convergence(patience=2, min_improvement=0.1), 1000)
    >>> [curve.add(256 + merges, merges, 500 - 60 * merges) for merges in range(3)]
    [False, False, False]
    >>> [curve.add(256 + merges, merges, 380 - merges) for merges in (3, 4)]
    [False, True]
    """

    def __init__(self, settings: Convergence, size: int) -> None:
        if not size:
            raise ValueError("there is no held-out text by which learning could stop")
        self._settings = settings
        self._size = size
        self.points: list[Point] = []
        self._best = 0.0
        self._idle = 0

    def is_due(self, merges: int) -> bool:
        """Return True if there is a check after a number of merges."""
        return merges % self._settings.check_every == 0

    def add(self, tokens: int, merges: int, size: int) -> bool:
        """Add a check, and return True if learning has converged.

        Args:
            tokens, merges: as in ``Point``.
            size: the number of tokens of the held-out text; 0 if nothing is left of it.
        """
        # A normalizer or a pre-tokenizer may remove everything.
        bytes_per_token = self._size / max(size, 1)
        self.points.append(Point(tokens, merges, bytes_per_token))
        if bytes_per_token > self._best and bytes_per_token >= self._best * (
            1 + self._settings.min_improvement
        ):
            self._best = bytes_per_token
            self._idle = 0
        else:
            self._idle += 1
        return self._settings.patience is not None and self._idle >= self._settings.patience


def points_as_json(points: Iterable[Point]) -> list[dict[str, Any]]:
    """Return checks for a manifest."""
    return [point._asdict() for point in points]


def check_has_end(
    vocab_size: int | None, num_merges: int | None, convergence: Convergence | None
) -> None:
    """Raise ``ValueError`` if nothing says when learning stops."""
    converges = convergence is not None and convergence.patience is not None
    if vocab_size is None and num_merges is None and not converges:
        raise ValueError("give vocab_size, num_merges or convergence")
