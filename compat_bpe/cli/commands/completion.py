"""``compat-bpe completion``: a script that completes commands, options and names in a shell."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from ..output import PROGRAM, write_text

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
