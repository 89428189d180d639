"""Stopping by convergence: bytes per token of held-out text, and the check that ends learning.

*A vocabulary that grows.* Every ``check_every`` merges, bytes per token of the held-out text are
measured, as the tokenizer with the merges so far gives them. Names of special tokens are plain
text. A check is an improvement if bytes per token are higher than at the last improvement, by a
share of at least ``min_improvement``. Learning stops after ``patience`` checks in a row without an
improvement.

The vocabulary has all merges up to the last check, so it is that of training with as many merges.

*A vocabulary that shrinks*, as Unigram's does. Before each round of pruning, the vocabulary that
learning would end with here is checked, and once more at the end. A check is a loss if the one
before had more bytes per token, by a share of at least ``min_improvement``: the dropped pieces were
worth keeping. After ``patience`` losses in a row, the vocabulary is that of the check before them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

from .options import COUNT, STOP, check_bounds, setting


@dataclass(frozen=True)
class Convergence:
    """The settings of stopping by convergence.

    Args:
        patience: the number of checks in a row without an improvement, or with a loss, after which
            learning stops; None to measure only.
        min_improvement: the least improvement or loss, as a share of bytes per token.
        check_every: the number of merges, pieces or words from one check to the next; ignored where
            there is a check before each round of pruning.

    Raises:
        ValueError: a number is out of range.

    >>> Convergence(patience=0)
    Traceback (most recent call last):
    ValueError: patience is 0; it must be 1 or more
    """

    patience: int | None = setting(
        3,
        "Stop after N checks in a row without an improvement in bytes per token of the text that "
        "--validation holds out. Unigram removes pieces: it stops before N rounds in a row that "
        "cost too much, and has more pieces than --vocab-size.",
        STOP,
        default=None,
        **COUNT,
    )
    min_improvement: float = setting(
        0.001,
        "Ignore changes smaller than this fraction (0.01 is 1 %).",
        STOP,
        metavar="PART",
        type=float,
        least=0,
    )
    check_every: int = setting(
        100,
        "Check bytes per token every N merges, pieces or words; without --patience, only to "
        "show how they improve. Unigram checks once per round.",
        STOP,
        **COUNT,
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

    counts: Mapping[str, int] = {}
    bytes: int = 0


class Watch:
    """The checks so far, and whether learning has converged.

    Args:
        settings: the settings.
        size: the size of the held-out text in bytes.
        measure: returns the numbers of tokens and merges of the present vocabulary, or of a model,
            and the number of tokens of the held-out text with it.
        shrinks: True for a vocabulary that shrinks.

    Raises:
        ValueError: there is no text.

    >>> watch = Watch(Convergence(patience=2, min_improvement=0.1), 1000)
    >>> [watch.add(256 + merges, merges, 500 - 60 * merges) for merges in range(3)]
    [False, False, False]
    >>> [watch.add(256 + merges, merges, 380 - merges) for merges in (3, 4)]
    [False, True]
    >>> watch = Watch(Convergence(patience=2, min_improvement=0.1), 1000, shrinks=True)
    >>> checks = (500, 0, 200, "a"), (400, 0, 210, "b"), (300, 0, 240, "c")
    >>> [watch.add(*check) for check in checks]
    [False, False, False]
    >>> watch.add(200, 0, 300, "d"), watch.model
    (True, 'b')
    """

    def __init__(
        self,
        settings: Convergence,
        size: int,
        measure: Callable[[Any], tuple[int, int, int]] = lambda model: (0, 0, 0),
        *,
        shrinks: bool = False,
    ) -> None:
        if not size:
            raise ValueError("convergence needs held-out text, and there is none")
        self._settings = settings
        self._size = size
        self._measure = measure
        self._shrinks = shrinks
        self.points: list[Point] = []
        self.has_converged = False
        #: The model of the last check; once learning has converged, of the last without a loss.
        self.model: Any = None
        self._kept: Any = None
        #: The bytes per token that a check is compared with.
        self._before = 0.0
        #: The number of checks in a row without an improvement, or with a loss.
        self._idle = 0

    def is_due(self, steps: int) -> bool:
        """Return True if there is a check after a number of steps."""
        return steps % self._settings.check_every == 0

    def check(self, model: Any = None) -> bool:
        """Measure the present vocabulary, or that of a model; otherwise as ``add``."""
        return self.add(*self._measure(model), model)

    def add(self, tokens: int, merges: int, size: int, model: Any = None) -> bool:
        """Add a check, and return True if learning has converged.

        Args:
            tokens, merges: as in ``Point``.
            size: the number of tokens of the held-out text; 0 if nothing is left of it.
            model: the model with the vocabulary, if the vocabulary shrinks.
        """
        # A normalizer or a pre-tokenizer may remove everything.
        now, before = self._size / max(size, 1), self._before
        self.points.append(Point(tokens, merges, now))
        change = 1 + self._settings.min_improvement
        if self._shrinks:
            is_idle = before > now and before >= now * change
        else:
            is_idle = not (now > before and now >= before * change)
        self._idle = self._idle + 1 if is_idle else 0
        if self._shrinks or not is_idle:
            self._before = now
        if not is_idle:
            self._kept = model
        patience = self._settings.patience
        self.has_converged = patience is not None and self._idle >= patience
        self.model = self._kept if self.has_converged else model
        return self.has_converged


def learn_by_steps(
    step: Callable[[], str],
    watch: Watch | None,
    model: Callable[[], Any] = lambda: None,
    *,
    taken: int = 0,
) -> str:
    """Learn until there is no step left, or learning has converged; return the reason.

    Args:
        step: takes a step; returns an empty string, or the reason why there is none.
        watch: the checks on held-out text, with one of the end; None if there are none.
        model: returns the model to be measured, if one must be made.
        taken: the number of steps that were taken before.
    """
    for steps in count(taken):
        is_due = watch is not None and watch.is_due(steps)
        if watch is not None and is_due and watch.check(model()):
            return "convergence"
        reason = step()
        if reason:
            break
    if watch is not None and not is_due:
        watch.check(model())
        watch.has_converged = False
    return reason


def points_as_json(points: Iterable[Point]) -> list[dict[str, Any]]:
    """Return checks for a manifest."""
    return [point._asdict() for point in points]


def check_has_end(
    vocab_size: int | None, num_merges: int | None, convergence: Convergence | None
) -> None:
    """Raise ``ValueError`` if no setting ends learning."""
    converges = convergence is not None and convergence.patience is not None
    if vocab_size is None and num_merges is None and not converges:
        raise ValueError("give vocab_size, num_merges or convergence")
