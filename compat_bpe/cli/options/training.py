"""The options of ``compat-bpe train`` that are settings of training."""

from __future__ import annotations

from dataclasses import fields
from functools import wraps
from typing import Any, Callable

import click

from ...encodings.load_by_ranks import DEEPSEEK
from ...encodings.patterns import PATTERNS
from ...train.settings import TrainingSettings
from ..output import CommandError
from .role import role_options
from .vocabulary import learning_options


def training_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the parameters ``settings``, a ``TrainingSettings``, and ``roles``.

    ``roles`` are as in ``role_options``; their tokens are special tokens, after those named by
    ``--special``.
    """

    @wraps(function)
    def with_settings(roles: dict[str, str], **options: Any) -> Any:
        own = {field.name: options.pop(field.name) for field in fields(TrainingSettings)}
        if own["vocab_size"] is None and own["num_merges"] is None:
            raise click.UsageError("Give --vocab-size or --merges.")
        named = own["special_tokens"]
        others = [token for token in dict.fromkeys(roles.values()) if token not in named]
        own["special_tokens"] = [*named, *others]
        try:
            settings = TrainingSettings(**own)
        except ValueError as error:
            raise CommandError(str(error)) from None
        return function(settings=settings, roles=roles, **options)

    command = learning_options(min_frequency=1)(role_options(with_settings))
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _parse_weights(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, float]:
    weights = {}
    for value in values:
        group, separator, number = value.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = 0.0
        if not separator or not 0 < weight < float("inf"):
            raise click.BadParameter(f"{value!r} is not GROUP=NUMBER with a number above 0.")
        if group in weights:
            raise click.BadParameter(f"{group!r} has two weights.")
        weights[group] = weight
    return weights


#: Each is named after a field of ``TrainingSettings``.
_OPTIONS = (
    click.option(
        "-n",
        "--vocab-size",
        metavar="N",
        type=click.IntRange(min=1),
        help="Learn a vocabulary of N tokens, the 256 bytes and the special tokens included.",
    ),
    click.option(
        "--merges",
        "num_merges",
        metavar="N",
        type=click.IntRange(min=0),
        help="Learn at most N merges.",
    ),
    click.option(
        "--pattern",
        metavar="NAME|REGEX",
        default="gpt2",
        show_default=True,
        help="Pattern that splits text into chunks, across which nothing is merged: "
        f"{', '.join(PATTERNS)}, {DEEPSEEK}, or a regular expression.",
    ),
    click.option(
        "--special",
        "special_tokens",
        metavar="NAME",
        multiple=True,
        help="Special token. May be repeated.",
    ),
    click.option(
        "--weight",
        "weights",
        metavar="GROUP=NUMBER",
        multiple=True,
        callback=_parse_weights,
        help="Repeat each group so that group sizes in bytes are in these proportions (default 1). "
        "May be repeated.",
    ),
)
