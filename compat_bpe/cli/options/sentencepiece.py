"""The options of ``compat-bpe train`` for models of SentencePiece."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

#: Each is named after a setting that the kinds know; see ``KindSettings.option_names``.
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
