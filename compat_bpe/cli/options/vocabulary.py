"""The options of commands that make a vocabulary: where it goes, and how."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, TypeVar

import click

from ...train.write import FORMATS, MANIFEST

_Function = TypeVar("_Function", bound=Callable[..., Any])


def vocabulary_options(without_format: str) -> Callable[[_Function], _Function]:
    """Give a command ``output``, ``name``, ``formats``, ``force``, ``jobs`` and ``as_json``.

    Args:
        without_format: which formats are written if none is named, for the help.
    """
    options = [
        click.option(
            "-o",
            "--output",
            metavar="DIR",
            required=True,
            type=click.Path(path_type=Path),
            help="The folder that the files are written into.",
        ),
        click.option("--name", help="What the vocabulary is called; as DIR unless given."),
        click.option(
            "--format",
            "formats",
            multiple=True,
            type=click.Choice(list(FORMATS)),
            help=f"Write this format; may be repeated. If not said: {without_format}.",
        ),
        click.option("--force", is_flag=True, help="Write into a folder that is not empty."),
        click.option(
            "-j",
            "--jobs",
            metavar="N",
            type=click.IntRange(min=1),
            help="Use N processes at most; if not said, as many as there are processors.",
        ),
        click.option("--json", "as_json", is_flag=True, help=f"Print what {MANIFEST} has."),
    ]

    def give(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return give
