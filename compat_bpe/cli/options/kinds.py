"""The options of ``compat-bpe train`` that are settings of kinds, and the roles of special tokens.

Each is named after a setting that some kinds know; see ``KindSettings.option_names``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from ...encodings.load_by_ranks import DEEPSEEK
from ...encodings.published import PATTERNS
from ...train.bpe.settings import RULES
from ...train.tokenizer_parts import NAMED
from ...train.write import ROLES

MERGING_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--pattern",
        metavar="NAME|REGEX",
        default="gpt2",
        show_default=True,
        help="Pattern that splits text into chunks, across which nothing is merged: "
        f"{', '.join(PATTERNS)}, {DEEPSEEK}, or a regular expression.",
    ),
    click.option(
        "--rule",
        type=click.Choice(list(RULES)),
        metavar="RULE",
        default="frequency",
        show_default=True,
        help="Rule that chooses the pair to join: frequency, or likelihood as in textbooks on "
        "WordPiece.",
    ),
    click.option(
        "--continuing-subword-prefix",
        "prefix",
        metavar="MARK",
        help="Mark before a piece that does not begin a word. Default: that of --like; ## for "
        "wordpiece.",
    ),
    click.option(
        "--end-of-word-suffix",
        "suffix",
        metavar="MARK",
        help="Mark after a piece that ends a word. Default: that of --like; </w> for "
        "character-bpe without a prefix.",
    ),
    click.option(
        "--initial-alphabet",
        metavar="TEXT",
        default="",
        help="Make all characters of TEXT tokens, even those that do not occur.",
    ),
    click.option(
        "--limit-alphabet",
        metavar="N",
        type=click.IntRange(min=0),
        help="Make at most N characters tokens, the most frequent ones.",
    ),
)


UNIGRAM_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--shrinking-factor",
        metavar="PART",
        type=click.FloatRange(0, 1, max_open=True),
        default=0.75,
        show_default=True,
        help="Keep this part of the pieces at each round of pruning.",
    ),
    click.option(
        "--sub-iterations",
        "n_sub_iterations",
        metavar="N",
        type=click.IntRange(min=1),
        default=2,
        show_default=True,
        help="Estimate the scores of pieces N times before each round of pruning.",
    ),
    click.option(
        "--max-piece-length",
        metavar="N",
        type=click.IntRange(min=1),
        default=16,
        show_default=True,
        help="Learn no piece of more than N characters.",
    ),
    click.option(
        "--seed-size",
        metavar="N",
        type=click.IntRange(min=1),
        default=1_000_000,
        show_default=True,
        help="Begin with at most N pieces.",
    ),
)


SENTENCEPIECE_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--character-coverage",
        metavar="PART",
        type=click.FloatRange(0.98, 1),
        default=0.9995,
        show_default=True,
        help="Make characters pieces until they cover this part of the text; rarer ones are "
        "unknown.",
    ),
    click.option(
        "--byte-fallback",
        is_flag=True,
        help="Add 256 pieces for bytes, with which unknown characters are written. For --like, "
        "too, where transformers leaves them out.",
    ),
    click.option("--split-digits", is_flag=True, help="Make each digit a piece."),
    click.option(
        "--user-symbols",
        metavar="TEXT",
        multiple=True,
        help="Piece that is always found whole in a text. May be repeated.",
    ),
    click.option(
        "--max-sentence-length",
        metavar="BYTES",
        type=click.IntRange(10, 1 << 30),
        default=4192,
        show_default=True,
        help="Leave out lines that are longer.",
    ),
    click.option(
        "--input-sentence-size",
        metavar="LINES",
        type=click.IntRange(0),
        default=0,
        help="Learn from a sample of this many lines.  [default: all]",
    ),
)


def _part(kind: str) -> Callable[[Any], Any]:
    title = kind.replace("_", "-")
    names = ", ".join(NAMED[kind])
    return click.option(
        f"--{title}",
        kind,
        metavar="NAME",
        type=click.Choice(list(NAMED[kind])),
        help=f"The {title}: {names}. Default: that of --like, or the model's usual one.",
    )


STEP_OPTIONS = tuple(map(_part, NAMED))


_NAMES = {
    "bos": "Special token for the beginning of a text.",
    "eos": "Special token for the end of a text.",
    "unk": "Special token for unknown text.",
    "pad": "Special token for padding.",
}


def role_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--bos``, ``--eos``, ``--unk`` and ``--pad`` as its parameter ``roles``.

    It maps each given role to the name of its token, which the command makes a special token.
    """

    @wraps(function)
    def with_roles(**options: Any) -> Any:
        given = {role: options.pop(role) for role in ROLES}
        roles = {role: name for role, name in given.items() if name is not None}
        return function(roles=roles, **options)

    for role in reversed(ROLES):
        with_roles = click.option(f"--{role}", metavar="NAME", help=_NAMES[role])(with_roles)
    return with_roles
