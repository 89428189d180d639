"""The commands that set compat-bpe up for other programs, ``compat-bpe cache`` and ``help``."""

from __future__ import annotations

import os
import sys

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from ...corpus.count_cache import LIMIT, CountCache, cache_folder
from ...encodings.resolve import DEFAULT_ENCODING
from ..app import option
from ..output import (
    PROGRAM,
    CommandError,
    check_new_file,
    check_outputs,
    command_errors,
    plural,
    write_line,
    write_text,
)

_SHELLS: dict[str, type[ShellComplete]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}


@click.command(short_help="Print a completion script for a shell.")
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a script that completes this command in a shell.

    \b
    Examples:
      $ compat-bpe completion bash >> ~/.bashrc
      $ compat-bpe completion zsh >> ~/.zshrc       # after the line with compinit
      $ compat-bpe completion fish > ~/.config/fish/completions/compat-bpe.fish

    It completes commands, options, file names, and the names of encodings and models. It needs
    bash 4.4 or newer, zsh, or fish. To install it, run one of these and start a new shell:
    """
    variable = f"_{PROGRAM}_COMPLETE".replace("-", "_").upper()
    script = _SHELLS[shell](context.find_root().command, {}, PROGRAM, variable)
    write_text(script.source_template % script.source_vars() + "\n")


@click.command(short_help="Show the help of a command.")
@click.argument("names", nargs=-1, metavar="[COMMAND]...")
@click.pass_context
def help(context: click.Context, names: tuple[str, ...]) -> None:
    """Show the help of a command; without one, the list of all.

    \b
    Examples:
      $ compat-bpe help count
      $ compat-bpe help corpus counts
    """
    parent = context.parent
    if parent is None:  # it is always a command of the group
        return
    shown = parent
    for name in names:
        group = shown.command
        if not isinstance(group, click.Group):
            raise click.UsageError(f"{shown.command_path} has no commands", shown)
        _, command, _ = group.resolve_command(shown, [name])
        if command is not None:
            shown = click.Context(command, parent=shown, info_name=name)
    click.echo(shown.get_help(), color=shown.color)


@click.command(short_help="Run a language server for editors.")
@option("--stdio", "Use standard input and output (the default).")
def lsp(stdio: bool) -> None:
    """Run a language server, with which an editor counts tokens and builds prompts.

    \b
    Example:
      $ compat-bpe lsp

    An editor starts it by itself and speaks the Language Server Protocol with it. The server keeps
    the exact count of every open document, shows it in the editor, and answers requests of plug-ins
    for counts, tokens, and prompts that fit.

    docs/guide-editors.md lists the requests and settings, and shows how to set it up in editors.

    The exit status is 0 if the client shut the server down, and 1 if the client disconnected
    during a session.
    """
    from ...lsp.server import serve_stdio  # what no other command needs

    sys.exit(serve_stdio())


@click.command(short_help="Run a server of the Model Context Protocol, for agents.")
@option(
    "--root FOLDER",
    "Let tools read only files in this folder. May be repeated. By default, the client names the "
    "folders.",
    to="roots",
    multiple=True,
)
@option(
    "-e --encoding NAME|PATH",
    "Use this encoding, by its name or by the path of a vocabulary, for calls that name none. "
    f"The default is {DEFAULT_ENCODING}.",
)
def mcp(roots: tuple[str, ...], encoding: str | None) -> None:
    """Run a server of tools with which an agent counts tokens.

    \b
    Example:
      $ compat-bpe mcp --root .

    An agent's program starts it by itself and speaks the Model Context Protocol with it, on
    standard input and output. The tools count texts, requests, files and folders, check whether
    they fit, cut and split texts, compare encodings, and count the tokens that the tools of
    another server take in the context.

    It needs Python 3.10 or later and the package mcp: pip install '.[mcp]' in a checkout of
    compat-bpe.

    docs/guide-agents.md lists the tools, and shows how to set it up in the usual programs.
    """
    # What no other command needs.
    from ...mcp.calls import CallError
    from ...mcp.server import is_installed, serve_stdio
    from ..options.encoding import chosen_encoding

    if not is_installed():
        raise CommandError(
            "the server needs Python 3.10 or later and the package mcp 2 or later: "
            "pip install '.[mcp]' in a checkout of compat-bpe"
        )
    if encoding is not None:
        chosen_encoding(None, encoding, None)  # its errors are reported at once
    try:
        serve_stdio(roots, encoding or DEFAULT_ENCODING)
    except CallError as error:
        raise CommandError(str(error)) from None


@click.command(name="shim-wheel", short_help="Write a stand-in for tiktoken.")
@click.argument("directory", type=click.Path(), metavar="DIR")
@option("--force", "Overwrite a file with the wheel's name even if it is not such a wheel.")
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


@click.command(short_help="Show or clear the cache of counts.")
@option("--folder", "Print only the folder of the cache, for instance to keep it between CI runs.")
@option("--clear", "Remove all counts.")
def cache(folder: bool, clear: bool) -> None:
    """Show the folder and the size of the cache of counts, or clear it.

    \b
    Examples:
      $ compat-bpe cache
      $ compat-bpe cache --clear

    count and check keep the counts of files that have a megabyte or more together, and the server
    for agents keeps those of a folder. A count is looked up by a hash of the file's bytes and of
    the vocabulary, never by a name or a time, and is never out of date. The cache contains no text
    and no names. When it is full, the counts not used for the longest time are removed.

    The folder is COMPAT_BPE_CACHE_DIR, or compat-bpe where the system has its caches. The option
    --no-cache of the other commands turns the cache off.
    """
    if folder and clear:
        raise click.UsageError("--folder and --clear exclude each other.")
    place = cache_folder()
    if place is None:
        raise CommandError("there is no folder for caches here; set COMPAT_BPE_CACHE_DIR to one")
    if folder:
        write_line(place)
        return
    kept = CountCache(place)
    if clear:
        with command_errors(place):
            kept.clear()
        return
    size, counts = kept.size()
    write_line(f"folder: {place}")
    write_line(f"size: {size:,} bytes, of at most about {LIMIT:,}")
    if counts is None:
        raise CommandError(f"{kept.problem}; --clear removes it")
    write_line(plural(counts, "count"))
