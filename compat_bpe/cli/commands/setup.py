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
    plural,
    write_line,
    write_text,
)

_SHELLS: dict[str, type[ShellComplete]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}


@click.command(short_help="Print a script for completion.")
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
@option("--stdio", "Use standard input and output; this is so without it, too.")
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


@click.command(short_help="Run a server of the Model Context Protocol, for agents.")
@option(
    "--root FOLDER",
    "Let tools read files in this folder, and nothing outside. May be repeated. Without it, the "
    "client names the folders.",
    to="roots",
    multiple=True,
)
@option(
    "-e --encoding NAME|PATH",
    "Count by this encoding if a call names none: a name, or the path of a vocabulary. "
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

    It needs Python 3.10 or later and the package mcp: pip install '.[mcp]' in a checkout of
    compat-bpe.

    docs/guide-agents.md has the tools, and how to set it up in the usual programs.
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
        chosen_encoding(None, encoding, None)  # what is wrong with it is said at once
    try:
        serve_stdio(roots, encoding or DEFAULT_ENCODING)
    except CallError as error:
        raise CommandError(str(error)) from None


@click.command(name="shim-wheel", short_help="Write a stand-in for tiktoken.")
@click.argument("directory", type=click.Path(), metavar="DIR")
@option("--force", "Overwrite a file of that name that is no such wheel.")
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
@option("--folder", "Print only the folder of the cache, for instance to keep it between runs.")
@option("--clear", "Remove all counts.")
def cache(folder: bool, clear: bool) -> None:
    """Show where the counts are that are kept between runs, and how large they are.

    \b
    Examples:
      $ compat-bpe cache
      $ compat-bpe cache --clear

    count and check keep the counts of files if there are a megabyte of them or more, and the server
    for agents those of a folder. A count is found by a hash of the bytes of a file and of the
    vocabulary, never by a name or a time, so no count is out of date. The cache has no text and no
    names in it. What was not used for the longest time leaves when it is full.

    The folder is COMPAT_BPE_CACHE_DIR, or compat-bpe where the system has its caches. --no-cache of
    the other commands does without it.
    """
    if folder and clear:
        raise click.UsageError("--folder and --clear exclude each other.")
    place = cache_folder()
    if place is None:
        raise CommandError("there is no folder for caches here; COMPAT_BPE_CACHE_DIR names one")
    if folder:
        write_line(place)
        return
    kept = CountCache(place)
    if clear:
        try:
            kept.clear()
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror or error}") from None
        return
    size, counts = kept.size()
    write_line(f"folder: {place}")
    write_line(f"size: {size:,} bytes, of at most about {LIMIT:,}")
    if counts is None:
        raise CommandError(f"{kept.problem}; --clear removes it")
    write_line(plural(counts, "count"))
