"""The command ``compat-bpe``: one module for each of its commands."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from ..version import __version__
from .output import PROGRAM, CommandError, escape_unknown

#: Each command and the module it is in, which is imported when it is used.
_COMMANDS = {
    "count": "count",
    "truncate": "truncate",
    "split": "split",
    "show": "show",
    "extend": "extend",
    "encode": "encode",
    "decode": "decode",
    "train": "train",
    "corpus": "corpus",
    "report": "report",
    "encodings": "listing",
    "models": "listing",
    "lsp": "lsp",
    "completion": "completion",
    "shim-wheel": "shim_wheel",
}


class _Group(click.Group):
    def main(self, *args: Any, **options: Any) -> Any:
        escape_unknown(sys.stdout)
        return super().main(*args, **options)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f".commands.{_COMMANDS[cmd_name]}", __name__)
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # click itself would say "Aborted!" and exit with 1
            sys.exit(128 + 2)  # as a shell reports a program that SIGINT ended


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Count, cut and show tokens, exactly as tiktoken and tokenizers make them.

    \b
    Examples:
      $ compat-bpe count src/*.py
      $ git diff | compat-bpe truncate -n 4000 -m gpt-4o

    compat-bpe COMMAND --help says more about a command.
    """


def _end(number: int, _frame: object) -> None:
    """End the process after a signal, and clean up; a second one ends it at once."""
    signal.signal(number, signal.SIG_DFL)
    sys.exit(128 + number)  # as a shell reports a program that a signal ended


def main() -> None:
    """Run the command with the arguments of the process, and exit.

    The exit status is

    - 0 if all went well;
    - 1 if a limit was exceeded, for commands that say so, or if standard output is a closed pipe;
    - 2 for wrong usage, or if anything could not be read or written;
    - 130 if interrupted, 143 if told to end, and 129 if the terminal is gone.

    In these cases no parts of files are left behind.
    """
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # A signal that is ignored, as by `nohup`, stays ignored.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            with suppress(ValueError):  # only the main thread may do it
                signal.signal(number, _end)
    try:
        cli(prog_name=PROGRAM)
    except OSError as error:
        # Errors of files are reported where they occur, and click handles a closed pipe. So this
        # is another error of standard output: a full disk, say. Its buffered data is given up.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        failure = CommandError(f"standard output: {error.strerror or error}")
        failure.show()
        sys.exit(failure.exit_code)
