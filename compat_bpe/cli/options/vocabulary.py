"""The options of commands that write a vocabulary, and the checks before it is made."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Callable, TypeVar

import click

from ...train.write import FORMATS, check_folder, check_name, touched_files
from ..output import check_outputs, failure, write_message
from .corpus import Corpus

_Function = TypeVar("_Function", bound=Callable[..., Any])


def vocabulary_options(
    without_format: str, choices: Iterable[str] = FORMATS
) -> Callable[[_Function], _Function]:
    """Give a command ``output``, ``name``, ``formats``, ``force``, ``jobs`` and ``as_json``.

    Args:
        without_format: the formats that are written by default, for the help.
        choices: the formats that there are.
    """
    options = [
        click.option(
            "-o",
            "--output",
            metavar="DIR",
            required=True,
            type=click.Path(path_type=Path),
            help="Write the vocabulary into DIR, which is created.",
        ),
        click.option("--name", help="Name the vocabulary. Default: the name of DIR."),
        click.option(
            "--format",
            "formats",
            multiple=True,
            type=click.Choice(list(choices)),
            metavar="FORMAT",
            help=f"Format to write. May be repeated. Default: {without_format}.",
        ),
        click.option(
            "--force",
            is_flag=True,
            help="Write into DIR even if it is not empty, and overwrite files of the same names.",
        ),
        click.option(
            "-j",
            "--jobs",
            metavar="N",
            type=click.IntRange(min=1),
            help="Use at most N processes. Default: one for each processor.",
        ),
        click.option(
            "--json", "as_json", is_flag=True, help="Print the manifest instead of a summary."
        ),
    ]

    def give(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return give


#: The options that ``vocabulary_options`` gives, but for the required one.
OUTPUT_OPTIONS = ("--name", "--format", "--force", "--json")


def checked_name(output: Path, name: str | None, *, force: bool) -> str:
    """Return the name of a vocabulary.

    Raises:
        CommandError: the vocabulary cannot be written into that folder or under that name.
    """
    name = output.resolve().name if name is None else name
    try:
        check_folder(output, force=force)
        check_name(name)
    except (OSError, ValueError) as error:
        raise failure(error, output) from None
    return name


def check_inputs(
    output: Path,
    name: str,
    formats: Iterable[str],
    extra: Sequence[str],
    corpus: Corpus | None,
    others: Iterable[str | None],
) -> None:
    """Raise an error if a file to be overwritten or removed is also an input.

    Args:
        output, name, formats, extra: as in ``touched_files``.
        corpus: the corpus, if there is one.
        others: the paths of other inputs; None for one that is not given.

    Raises:
        CommandError: an input would be lost.
    """
    outputs = map(os.fspath, touched_files(output, name, formats, extra))
    inputs = [file.path for file in corpus.files] if corpus is not None else []
    check_outputs(outputs, [*inputs, *filter(None, others)])


def say_left_out(kind: str, reason: str) -> None:
    """Write a message about a format that cannot hold a vocabulary."""
    write_message(f"{kind} is not written: {reason}")


def why_stopped(min_frequency: int) -> str:
    """Return the reason why no more was learned.

    >>> why_stopped(0), why_stopped(2)
    ('no pair is left to merge', 'no pair that may be merged occurs 2 times or more')
    """
    if min_frequency < 2:
        return "no pair is left to merge"
    return f"no pair that may be merged occurs {min_frequency:,} times or more"
