"""The options that say how a corpus is split into what is counted."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from ...encodings.encoding import Encoding
from ...encodings.load import load
from ...encodings.sentencepiece import SentencePiece
from ...encodings.tokenizer import Tokenizer
from ...formats.tokenizer_json import TokenizerDefinition
from ...pattern.splitter import Splitter
from ...train.bpe.byte_level import ByteLevelBpe
from ...train.bpe.growing import BYTES, make_encoding
from ...train.kinds import KINDS, TOKENIZER_KINDS
from ...train.sentencepiece.settings import SentencePieceKind
from ...train.tokenizer_kind import surroundings
from ...train.words import word_splitter
from ..output import CommandError, failure
from .training import setting_option

#: The names of the options' parameters.
SPLITTING = ("model", "like", "pattern", "normalizer", "pre_tokenizer")


def splitting_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``splitter``, an encoding whose chunks are what is counted."""

    @wraps(function)
    def with_splitter(**options: Any) -> Any:
        own = {name: options.pop(name) for name in SPLITTING}
        try:
            splitter = _splitter(**own)
        except (OSError, ValueError) as error:
            raise failure(error, own["like"] or "") from None
        return function(splitter=splitter, **options)

    command: Callable[..., Any] = with_splitter
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _splitter(
    model: str,
    like: str | None,
    pattern: str | None,
    normalizer: str | None,
    pre_tokenizer: str | None,
) -> Encoding:
    steps = {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer}
    has_steps = any(one is not None for one in steps.values())
    if pattern is not None and (like is not None or has_steps or model != ByteLevelBpe.name):
        raise CommandError("--pattern is for --model bpe, without other options on splitting")
    kind = KINDS[model]
    if like is not None:
        encoding = load(like)
        if isinstance(encoding, SentencePiece):
            kind = SentencePieceKind
        elif isinstance(encoding, Tokenizer) and isinstance(
            encoding.definition, TokenizerDefinition
        ):
            return word_splitter(surroundings(steps, {}, encoding.definition).parts)
        elif isinstance(encoding.core.splitter, Splitter):
            pattern = encoding.core.splitter.pattern
        else:
            raise ValueError(f"{like}: it has no steps that a tokenizer.json describes")
    if has_steps and kind.usual_pattern is not None:
        raise CommandError("--normalizer and --pre-tokenizer are for other models: see --model")
    if pattern is None or (kind.usual_pattern and "pattern" not in kind.option_names()):
        pattern = kind.usual_pattern
    if pattern is not None:
        return make_encoding("chunks", pattern, BYTES, ())
    return word_splitter(surroundings(steps, TOKENIZER_KINDS[model].defaults, None).parts)


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--model",
        type=click.Choice(list(KINDS)),
        metavar="MODEL",
        default=ByteLevelBpe.name,
        show_default=True,
        help="Count what a model of this kind is learned from: chunks, words or (SentencePiece) "
        "lines. The kinds are those of train.",
    ),
    setting_option("like", help="Split as this tokenizer does."),
    setting_option("pattern"),
    setting_option("normalizer"),
    setting_option("pre_tokenizer"),
)
