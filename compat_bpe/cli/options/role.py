"""The options that give special tokens their roles in transformers."""

from __future__ import annotations

from functools import wraps
from typing import Any, Callable

import click

from ...train.write import ROLES

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
