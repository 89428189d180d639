"""The group of all commands, and what becomes of errors that no command expects."""

from __future__ import annotations

import errno
import os
import sys
import warnings
from importlib import import_module
from itertools import takewhile
from typing import Any

import click

from ..unicode.text import brief, did_you_mean
from ..version import __version__
from .options.short_help import add_short_help
from .output import PROGRAM, CommandError, escape_unknown, show_warning, visible
from .progress import Work

#: The errors of a closed pipe: Windows calls it an invalid argument.
_CLOSED_PIPE = (errno.EPIPE, *([errno.EINVAL] if os.name == "nt" else []))

#: The error of a group that is given no command, which older versions of click do not have.
_HELP = getattr(click.exceptions, "NoArgsIsHelpError", click.exceptions.Exit)

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
    "check": "check",
    "encodings": "listing",
    "models": "listing",
    "lsp": "lsp",
    "mcp": "mcp",
    "completion": "completion",
    "help": "help",
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
        module = import_module(f".commands.{_COMMANDS[cmd_name]}", __package__)
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        add_short_help(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        for option in takewhile(lambda argument: argument != "--", args[1:]):
            # A hook, or a shell for *, gives names that others have chosen: they set no option.
            if len(option) > 1 and option.startswith("-") and os.path.lexists(option):
                ctx.fail(
                    f"{option!r} is both an option and a file here: write ./{option} for the file, "
                    "or rename it"
                )
        if name not in _COMMANDS and not name.startswith("-"):
            hint = did_you_mean(name, _COMMANDS)
            if not hint and os.path.exists(name):
                hint = f"; that is a file or folder: {PROGRAM} count {name}"
            ctx.fail(f"there is no command {name!r}{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with warnings.catch_warnings():
                # What the package warns of is for the user, whatever Python's options are.
                warnings.filterwarnings("always", category=UserWarning, module=r"compat_bpe\.")
                warnings.showwarning = show_warning
                with Work():
                    return super().invoke(ctx)
        except KeyboardInterrupt:  # click itself would say "Aborted!" and exit with 1
            sys.exit(128 + 2)  # as a shell reports a program that SIGINT ended
        except MemoryError as error:
            error.__traceback__ = None  # its frames hold what has filled the memory
            raise CommandError("there is not enough memory for this") from None
        except RecursionError:
            raise CommandError("something in the input is nested too deeply") from None
        except OverflowError as error:
            raise CommandError(f"a number is too large: {error}") from None
        except OSError as error:
            reason = _reason(error)
            if reason is None:
                raise
            raise CommandError(reason) from None
        except _HELP:  # of a group without a command, as click writes it
            raise
        except click.ClickException as error:
            # click writes it, and it may quote what was given.
            error.message = visible(brief(error.message), sys.stderr)  # type: ignore[misc]
            raise
        except (click.exceptions.Exit, click.Abort):
            raise
        except Exception:  # a mistake of ours; 1 would mean "over the limit"
            sys.excepthook(*sys.exc_info())
            sys.exit(CommandError.exit_code)


def _reason(error: OSError) -> str | None:
    """Return what to say about an error of a file; None if it is one of standard output.

    Errors of files are reported where they occur, and click handles a closed pipe. What is left is
    mostly a full disk under standard output, or a current directory that was removed.
    """
    if error.errno in _CLOSED_PIPE and error.filename is None:
        error.errno = errno.EPIPE  # as click knows it
        return None
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror or error}"
    try:
        os.getcwd()
    except OSError as gone:
        return f"the current directory: {gone.strerror}"
    return None


@click.group(cls=_Group, context_settings={"help_option_names": ["--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Count, cut and show tokens, exactly.

    \b
    Examples:
      $ compat-bpe count src/*.py
      $ git diff | compat-bpe truncate -n 4000 -m gpt-4o

    The tokens are those of tiktoken, tokenizers and sentencepiece. compat-bpe COMMAND -h says more
    about a command, and --help says all.
    """


add_short_help(cli)


def run() -> None:
    """Run the command with the arguments of the process, and exit with its status."""
    try:
        cli(prog_name=PROGRAM)
    except OSError as error:
        # An error of standard output: its buffered data is given up.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        failure = CommandError(f"standard output: {error.strerror or error}")
        failure.show()
        sys.exit(failure.exit_code)
