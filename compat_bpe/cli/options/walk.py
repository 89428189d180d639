"""The options for the search of directories."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

import click

_Function = TypeVar("_Function", bound=Callable[..., Any])


def walk_options(function: _Function) -> _Function:
    """Give a command the options that ``Walk`` takes."""
    include = click.option(
        "--include",
        metavar="GLOB",
        multiple=True,
        help="In directories, take only files that match. May be repeated.",
    )
    exclude = click.option(
        "--exclude",
        metavar="GLOB",
        multiple=True,
        help="In directories, leave out files and directories that match. May be repeated.",
    )
    hidden = click.option(
        "--hidden", is_flag=True, help="In directories, take names that begin with a dot, too."
    )
    no_ignore = click.option(
        "--no-ignore", is_flag=True, help="In directories, take what git ignores, too."
    )
    return include(exclude(hidden(no_ignore(function))))
