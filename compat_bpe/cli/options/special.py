"""The options that choose the names of special tokens that are encoded as these tokens."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Callable, TypeVar

import click

from ... import Encoding
from ...unicode.text import did_you_mean
from ..output import CommandError

_Function = TypeVar("_Function", bound=Callable[..., Any])


def special_options(function: _Function) -> _Function:
    """Give a command ``--special`` and ``--allowed-special``, for ``allowed_special``."""
    every = click.option(
        "--special",
        is_flag=True,
        help="Encode names of special tokens as these tokens, not as plain text.",
    )
    some = click.option(
        "--allowed-special",
        "names",
        metavar="NAME",
        multiple=True,
        help="Encode only this special token as such. May be repeated.",
    )
    return every(some(function))


def allowed_special(encoding: Encoding, special: bool, names: tuple[str, ...]) -> Set[str]:
    """Return the names that the options allow.

    Raises:
        CommandError: the encoding has no such special token.
    """
    known = encoding.special_tokens_set
    for name in names:
        if name not in known:
            raise CommandError(
                f"{encoding.name} has no special token {name!r}{did_you_mean(name, known)}"
            )
    return known if special else frozenset(names)
