"""``compat-bpe mcp``: the server of tools for agents."""

from __future__ import annotations

import click

from ...encodings.resolve import DEFAULT_ENCODING
from ..options.encoding import chosen_encoding
from ..output import CommandError


@click.command(short_help="Run a server of the Model Context Protocol, for agents.")
@click.option(
    "--root",
    "roots",
    multiple=True,
    metavar="FOLDER",
    help="Let tools read files in this folder, and nothing outside. May be repeated. Without it, "
    "the client names the folders.",
)
@click.option(
    "-e",
    "--encoding",
    metavar="NAME|PATH",
    help="Count by this encoding if a call names none: a name, or the path of a vocabulary. "
    f"The default is {DEFAULT_ENCODING}.",
)
def mcp(roots: tuple[str, ...], encoding: str | None) -> None:
    """Run a server of tools with which an agent counts tokens.

    \b
    Example:
      $ compat-bpe mcp --root .

    An agent's program starts it by itself and speaks the Model Context Protocol with it, on
    standard input and output. The tools count texts, requests, files and folders, say what fits,
    cut and split texts, compare encodings, and say what the tools of another server take of the
    context.

    It needs the package mcp: pip install 'compat-bpe[mcp]', with Python 3.10 or later.

    docs/guide-agents.md has the tools, and how to set it up in the usual programs.
    """
    # What no other command needs.
    from ...mcp.calls import CallError
    from ...mcp.server import is_installed, serve_stdio

    if not is_installed():
        raise CommandError(
            "the server needs the package mcp 2 or later: pip install 'compat-bpe[mcp]', "
            "with Python 3.10 or later"
        )
    if encoding is not None:
        chosen_encoding(None, encoding, None)  # what is wrong with it is said at once
    try:
        serve_stdio(roots, encoding or DEFAULT_ENCODING)
    except CallError as error:
        raise CommandError(str(error)) from None
