"""The options of ``compat-bpe train`` for kinds that merge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ...encodings.load_by_ranks import DEEPSEEK
from ...encodings.patterns import PATTERNS
from ...train.bpe.settings import RULES

#: Each is named after a field of ``TrainingSettings`` or ``MergeSettings``.
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
