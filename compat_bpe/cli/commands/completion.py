"""``compat-bpe completion``: what makes a shell complete commands, options and names."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from ..output import PROGRAM
from ..streams import write_text

_SHELLS: dict[str, type[ShellComplete]] = {
    "bash": BashComplete,
    "zsh": ZshComplete,
    "fish": FishComplete,
}


@click.command()
@click.argument("shell", type=click.Choice(list(_SHELLS)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes this command in a shell.

    It completes commands, options, file names, and the names of encodings and models. bash has to
    be 4.4 or newer. A new shell has it after this:

    \b
    Examples:
      $ compat-bpe completion bash >> ~/.bashrc
      $ compat-bpe completion zsh >> ~/.zshrc       # after the line with compinit
      $ compat-bpe completion fish > ~/.config/fish/completions/compat-bpe.fish
    """
    variable = f"_{PROGRAM}_COMPLETE".replace("-", "_").upper()
    script = _SHELLS[shell](context.find_root().command, {}, PROGRAM, variable)
    write_text(script.source_template % script.source_vars() + "\n")
