"""The options for the search of directories, and for what is read of the files."""

from __future__ import annotations

import warnings
from typing import Any, Callable, TypeVar

import click

_Function = TypeVar("_Function", bound=Callable[..., Any])


def walk_options(function: _Function) -> _Function:
    """Give a command the options that ``Walk`` takes."""
    include = click.option(
        "--include",
        metavar="GLOB",
        multiple=True,
        callback=_checked,
        help="In directories, take only files that match. May be repeated.",
    )
    exclude = click.option(
        "--exclude",
        metavar="GLOB",
        multiple=True,
        callback=_checked,
        help="In directories, leave out files and directories that match. May be repeated.",
    )
    hidden = click.option(
        "--hidden", is_flag=True, help="In directories, take names that begin with a dot, too."
    )
    return include(exclude(hidden(no_ignore_option(function))))


def no_ignore_option(function: _Function) -> _Function:
    """Give a command the option that turns ignore files off."""
    return click.option(
        "--no-ignore",
        is_flag=True,
        help="In directories, take what git and .ignore files ignore, too.",
    )(function)


def notebooks_option(function: _Function) -> _Function:
    """Give a command ``notebooks``: True if only the source of notebooks is read."""
    return click.option(
        "--notebooks",
        type=click.Choice(["whole", "source"]),
        default="whole",
        show_default=True,
        callback=lambda _context, _parameter, value: value == "source",
        help="Read notebooks (.ipynb) as they are, or only the sources of their cells, without "
        "outputs. One that is damaged is named, and read as it is.",
    )(function)


def _checked(
    _ctx: click.Context, param: click.Parameter, globs: tuple[str, ...]
) -> tuple[str, ...]:
    """Return globs; refuse one that nothing matches, warn of one that may be meant as several."""
    if globs:
        from ...files.ignore import InvalidPatternError, alternatives, as_bytes, matcher

        for glob in globs:
            try:
                patterns = alternatives(glob)
                for pattern in patterns:
                    matcher(as_bytes(pattern), is_name=False)
            except InvalidPatternError as error:
                raise click.BadParameter(f"{glob!r} matches nothing: {error}") from None
            if any("," in pattern for pattern in patterns):
                warnings.warn(
                    f"{param.opts[0]} {glob!r} is one glob with a comma in it; for several, write "
                    f"'{{{glob}}}' or repeat the option",
                    stacklevel=1,
                )
    return globs
