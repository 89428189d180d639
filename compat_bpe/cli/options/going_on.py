"""The options of ``compat-bpe train`` that go on from a vocabulary, and that limit superwords."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ...encodings.encoding import Encoding
from ..input import INPUT_PATH
from ..output import CommandError
from .encoding import chosen_encoding

#: They are settings of kinds, as those in ``kinds``.
GOING_ON_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--from",
        "start",
        metavar="NAME|PATH",
        type=INPUT_PATH,
        help="Go on from this vocabulary, as if its training had not stopped: its tokens keep "
        "their ids, and -n counts all ids. --pattern is its own unless given.",
    ),
    click.option(
        "--max-words",
        metavar="N",
        type=click.IntRange(min=1),
        help="Learn no token of more than N words, which spaces separate.",
    ),
    click.option(
        "--not-joined",
        metavar="TEXT",
        multiple=True,
        help="Learn no token that contains TEXT, such as ': '. May be repeated.",
    ),
)


def vocabulary_to_go_on_from(named: str | None, pattern: str, is_given: bool) -> Encoding | None:
    """Return the vocabulary of ``--from``; None if there is none.

    Args:
        named: its name or path.
        pattern: the pattern that text is split by.
        is_given: True if the user gave it. A rank file may have no other.

    Raises:
        CommandError: it cannot be read.
    """
    if named is None:
        return None
    try:
        return chosen_encoding(None, named, None)
    except CommandError:
        if not is_given:
            raise
        return chosen_encoding(None, named, pattern)
