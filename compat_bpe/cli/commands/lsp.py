"""``compat-bpe lsp``: the language server."""

from __future__ import annotations

import sys

import click


@click.command(short_help="Run a language server for editors.")
@click.option(
    "--stdio", is_flag=True, help="Use standard input and output; this is so without it, too."
)
def lsp(stdio: bool) -> None:
    """Run a language server, by which an editor counts tokens and makes prompts.

    \b
    Example:
      $ compat-bpe lsp

    An editor starts it by itself and speaks the Language Server Protocol with it. It keeps the
    exact count of every open document, shows counts where the editor shows such things, and
    answers requests of plug-ins for counts, tokens, and prompts that fit.

    docs/guide-editors.md has the requests, the settings, and how to set it up in editors.

    The exit status is 0 if the client shut the server down, and 1 if it just went away in the
    middle of a session.
    """
    from ...lsp.server import serve_stdio  # what no other command needs

    sys.exit(serve_stdio())
