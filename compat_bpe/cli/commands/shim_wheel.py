"""``compat-bpe shim-wheel``: a wheel called tiktoken, for pip."""

from __future__ import annotations

import click

from ..output import CommandError, write_line


@click.command(name="shim-wheel")
@click.argument("directory", type=click.Path(), metavar="DIR")
def shim_wheel(directory: str) -> None:
    """Write a wheel called tiktoken that hands over to this package.

    It is for programs that require tiktoken, where tiktoken itself cannot be had. The wheel goes
    into DIR, which is created if there is none, and its path is printed. It requires compat-bpe,
    which pip has to find: on an index, or as another wheel.

    \b
    Example:
      $ pip install "$(compat-bpe shim-wheel wheels)" ttok
    """
    from ...tiktoken.shim_wheel import write_shim_wheel  # zipfile: no other command needs it

    try:
        path = write_shim_wheel(directory)
    except OSError as error:
        raise CommandError(f"{directory}: {_reason(error)}") from None
    write_line(path)


def _reason(error: OSError) -> str:
    # Making a folder that is there as a file ends in "File exists", which says too little.
    if isinstance(error, FileExistsError):
        return "Not a directory"
    return error.strerror or str(error)
