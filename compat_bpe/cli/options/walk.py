"""The options by which a command is told how to search directories."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

import click

_Function = TypeVar("_Function", bound=Callable[..., Any])


def walk_options(function: _Function) -> _Function:
    """Give a command the options for what ``Walk`` takes."""
    include = click.option(
        "--include",
        metavar="GLOB",
        multiple=True,
        help="Take only files that match, by the rules of .gitignore; may be repeated.",
    )
    exclude = click.option(
        "--exclude",
        metavar="GLOB",
        multiple=True,
        help="Leave out what matches, by the rules of .gitignore; may be repeated.",
    )
    hidden = click.option(
        "--hidden", is_flag=True, help="Look for files whose name begins with a dot, too."
    )
    no_ignore = click.option(
        "--no-ignore", is_flag=True, help="Take what .gitignore files name, too."
    )
    return include(exclude(hidden(no_ignore(function))))
