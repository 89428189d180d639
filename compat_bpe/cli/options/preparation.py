"""The options that prepare a corpus before it is counted."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from ...corpus.prepare import Preparation, Rule, read_rules
from ..input import INPUT_PATH
from ..output import failure


def preparation_options(validation: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command ``preparation``, a ``Preparation``, and ``mask``, the path of its rules.

    Args:
        validation: the help of ``--validation``.
    """
    options = [
        click.option(
            "--normalize",
            type=click.Choice(["NFC", "NFD", "NFKC", "NFKD"]),
            help="Normalize the corpus. The vocabulary itself will not normalize text.",
        ),
        click.option(
            "--mask",
            metavar="FILE",
            type=INPUT_PATH,
            help="Replace text by the rules in FILE, one a line: a regular expression, an arrow "
            "(→ or =>) and the replacement.",
        ),
        click.option(
            "--drop-duplicates",
            type=click.Choice(["lines", "documents"]),
            help="Drop lines, or whole documents, that occurred before.",
        ),
        click.option(
            "--validation",
            metavar="SHARE",
            type=click.FloatRange(0, 1, max_open=True),
            default=0.0,
            help=validation,
        ),
    ]

    def give(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def with_preparation(
            normalize: Any, mask: str | None, drop_duplicates: Any, validation: float, **others: Any
        ) -> Any:
            preparation = Preparation(
                normalization=normalize,
                rules=_rules(mask),
                drop_duplicates=drop_duplicates,
                validation=validation,
            )
            return function(preparation=preparation, mask=mask, **others)

        command: Callable[..., Any] = with_preparation
        for option in reversed(options):
            command = option(command)
        return command

    return give


def _rules(mask: str | None) -> list[Rule]:
    if mask is None:
        return []
    try:
        return read_rules(mask)
    except (OSError, ValueError) as error:
        raise failure(error, mask) from None
