"""The options of ``compat-bpe train`` that say when to stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from ...train.run.convergence import Convergence
from .encoding import TokenNumber

_USUAL = Convergence()

#: The reasons why a kind lacks some of the options of convergence; see ``KindSettings.checks``.
WHY_NO_CONVERGENCE = {
    "rounds": "Bytes per token are checked before each round of pruning.",
    "never": "Bytes per token do not depend on its size.",
}

#: Each is named after a field of the settings of several kinds.
SIZE_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "-n",
        "--vocab-size",
        metavar="N",
        type=TokenNumber(min=1),
        help="Learn a vocabulary of N tokens, the 256 bytes or the characters, and the special "
        "tokens included.",
    ),
    click.option(
        "--merges",
        "num_merges",
        metavar="N",
        type=click.IntRange(min=0),
        help="Learn at most N merges.",
    ),
    click.option(
        "--min-score",
        metavar="SCORE",
        type=click.FloatRange(0),
        default=0.0,
        help="With --rule likelihood, join only pairs of this score or a higher one.",
    ),
)

#: Together, they are the field ``convergence``.
CONVERGENCE_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--patience",
        metavar="N",
        type=click.IntRange(min=1),
        help="Stop after N checks in a row in which bytes per token of the text held out by "
        "--validation did not improve. Unigram takes pieces away: it stops before N rounds in a "
        "row that cost too much, with more pieces than --vocab-size.",
    ),
    click.option(
        "--min-improvement",
        metavar="PART",
        type=click.FloatRange(0),
        default=_USUAL.min_improvement,
        show_default=True,
        help="Take an improvement, or for Unigram a loss, by less than this part for none.",
    ),
    click.option(
        "--check-every",
        metavar="N",
        type=click.IntRange(min=1),
        default=_USUAL.check_every,
        show_default=True,
        help="Check bytes per token every N merges, pieces or words; without --patience, only to "
        "show how they improve. Unigram has a check a round.",
    ),
)


def convergence(given: Mapping[str, Any], values: Mapping[str, Any]) -> Convergence | None:
    """Return the settings that these options describe; None if none of them is given.

    Args:
        given: True for each option that the user gave, by name.
        values: the values.

    Raises:
        UsageError: there is a least improvement, but no patience.
    """
    if given["patience"] or given["check_every"]:
        if given["min_improvement"] and not given["patience"]:
            raise click.UsageError("--min-improvement needs --patience.")
        return Convergence(values["patience"], values["min_improvement"], values["check_every"])
    if given["min_improvement"]:
        raise click.UsageError("--min-improvement needs --patience.")
    return None
