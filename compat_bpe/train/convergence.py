"""Stopping by convergence: bytes per token of held-out text, and the check that ends learning.

*A vocabulary that grows.*  Every ``check_every`` merges, bytes per token of the held-out text are
measured, as the tokenizer with the merges so far gives them. Names of special tokens are plain
text. A check is an improvement if bytes per token are higher than at the last improvement, by a
share of at least ``min_improvement``. Learning stops after ``patience`` checks in a row without an
improvement.

The vocabulary has all merges up to the last check, so it is that of training with as many merges.

*A vocabulary that shrinks*, as Unigram's does.  There is a check before each round of pruning, of
the vocabulary that learning would end with here, and one at the end. A check is a loss if the one
before had more bytes per token, by a share of at least ``min_improvement``: the pieces that went
were worth keeping. After ``patience`` losses in a row, the vocabulary is that of the check before
them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

from .options import STOP, Option, check_bounds

_Model = TypeVar("_Model")


@dataclass(frozen=True)
class Convergence:
    """The settings of stopping by convergence.

    Args:
        patience: the number of checks in a row without an improvement, or with a loss, after which
            learning stops; None to measure only.
        min_improvement: the least improvement or loss, as a share of bytes per token.
        check_every: the number of merges, pieces or words from one check to the next; of no use
            where there is a check before each round of pruning.

    Raises:
        ValueError: a number is out of range.

    >>> Convergence(patience=0)
    Traceback (most recent call last):
    ValueError: patience is 0; it must be 1 or more
    """

    patience: int | None = field(
        default=3,
        metadata=Option(
            "Stop after N checks in a row in which bytes per token of the text held out by "
            "--validation did not improve. Unigram takes pieces away: it stops before N rounds in "
            "a row that cost too much, with more pieces than --vocab-size.",
            STOP,
            metavar="N",
            type=int,
            least=1,
            default=None,
        ).as_metadata,
    )
    min_improvement: float = field(
        default=0.001,
        metadata=Option(
            "Ignore an improvement, or for Unigram a loss, by less than this part (0.01 is 1 %).",
            STOP,
            metavar="PART",
            type=float,
            least=0,
        ).as_metadata,
    )
    check_every: int = field(
        default=100,
        metadata=Option(
            "Check bytes per token every N merges, pieces or words; without --patience, only to "
            "show how they improve. Unigram has a check a round.",
            STOP,
            metavar="N",
            type=int,
            least=1,
        ).as_metadata,
    )

    def __post_init__(self) -> None:
        check_bounds(self)


#: The metadata of a field ``convergence``: its options are those of the fields above.
CONVERGENCE = {"parts": Convergence}


class Point(NamedTuple):
    """A check.

    Args:
        tokens: the size of the vocabulary, special tokens included.
        merges: the number of merges; 0 if the kind has none.
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
        self._settings = settings
        self._size = _checked(size)
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


class ShrinkingCurve(Generic[_Model]):
    """The checks so far of a vocabulary that shrinks, and the model that training is to give.

    Args:
        settings, size: as of ``Curve``.

    Raises:
        ValueError: there is no text.

    >>> curve = ShrinkingCurve(Convergence(patience=2, min_improvement=0.1), 1000)
    >>> [curve.add(500, 200, "a"), curve.add(400, 210, "b"), curve.add(300, 240, "c")]
    [False, False, False]
    >>> curve.add(200, 300, "d"), curve.model
    (True, 'b')
    """

    def __init__(self, settings: Convergence, size: int) -> None:
        self._settings = settings
        self._size = _checked(size)
        self.points: list[Point] = []
        #: The model of the last check without a loss, once learning has converged; else the last.
        self.model: _Model | None = None
        self._kept: _Model | None = None
        self._losses = 0

    def add(self, tokens: int, size: int, model: _Model) -> bool:
        """Add a check, and return True if learning has converged.

        Args:
            tokens: the size of the vocabulary.
            size: the number of tokens of the held-out text.
            model: what has the vocabulary.
        """
        bytes_per_token = self._size / max(size, 1)
        before = self.points[-1].bytes_per_token if self.points else 0.0
        self.points.append(Point(tokens, 0, bytes_per_token))
        is_loss = before > bytes_per_token and before >= bytes_per_token * (
            1 + self._settings.min_improvement
        )
        self._losses = self._losses + 1 if is_loss else 0
        if not is_loss:
            self._kept = model
        has_converged = (
            self._settings.patience is not None and self._losses >= self._settings.patience
        )
        self.model = self._kept if has_converged else model
        return has_converged


def _checked(size: int) -> int:
    if not size:
        raise ValueError("there is no held-out text by which learning could stop")
    return size


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
