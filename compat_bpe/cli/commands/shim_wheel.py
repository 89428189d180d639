"""``compat-bpe shim-wheel``: a wheel called tiktoken, for pip."""

from __future__ import annotations

import os

import click

from ..output import CommandError, check_new_file, check_outputs, write_line


@click.command(name="shim-wheel", short_help="Write a stand-in for tiktoken.")
@click.argument("directory", type=click.Path(), metavar="DIR")
@click.option("--force", is_flag=True, help="Overwrite a file of that name that is no such wheel.")
def shim_wheel(directory: str, force: bool) -> None:
    """Write a wheel named tiktoken that hands over to this package.

    \b
    Example:
      $ pip install "$(compat-bpe shim-wheel wheels)" ttok

    Install it for programs that require tiktoken. The wheel is written into DIR, which is created,
    and its path is printed. It requires compat-bpe: install it where compat-bpe is installed, or
    give pip the wheel of compat-bpe as well.
    """
    # zipfile: no other command needs it
    from ...tiktoken.shim_wheel import is_shim_wheel, wheel_name, write_shim_wheel

    target = os.path.join(directory, wheel_name())
    if os.path.lexists(target):
        check_new_file(target, force=force, is_own=is_shim_wheel)
        check_outputs([target], [])
    try:
        path = write_shim_wheel(directory)
    except OSError as error:
        raise CommandError(f"{directory}: {_reason(error)}") from None
    write_line(path)


def _reason(error: OSError) -> str:
    # If DIR is a file, making it fails with "File exists", which says too little.
    if isinstance(error, FileExistsError):
        return "Not a directory"
    return error.strerror or str(error)
