"""``-h``: the help of a command on one screen of 24 lines; ``--help`` has all of it."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from itertools import zip_longest
from math import ceil
from shutil import get_terminal_size
from textwrap import wrap

import click

from ..output import is_terminal
from .help_parts import help_parts

#: The options of a command that are used most, by one of their names. The other commands have few.
_MOST: Mapping[str, tuple[str, ...]] = {
    "count": ("-m", "-e", "-c", "--tree", "--max", "--context", "--json"),
    "truncate": ("-n", "-m", "-e", "--keep", "--boundary", "--report"),
    "split": ("-n", "-m", "-e", "--files", "--boundary", "-o"),
    "show": ("-m", "-e", "--ids", "--merges", "--html", "--json"),
    "extend": ("-o", "-n", "--terms", "-e", "--include", "--force"),
    "encode": ("-m", "-e", "--special", "--offsets", "--packed", "--json"),
    "decode": ("-m", "-e", "--packed"),
    "train": ("-o", "-n", "--model", "--pattern", "--special"),
    "counts": ("-o", "--model", "--pattern", "--merge"),
    "report": ("-e", "-m", "--by", "--terms", "--html", "--json"),
    "check": ("--init", "--fix-limits", "--base", "--growth", "--format", "--all"),
}
#: The rows of a screen, but for one for the prompt of the shell.
_ROWS = 23
#: The widest that lines are, and the width where it is not known.
_WIDTH = 80
#: The narrowest terminal that lines are fitted to.
_NARROW = 40
#: The sizes of a page, tried in this order until it fits the rows: the most examples,
#: the lines of an option, and the options.
_SIZES = ((3, 2, 99), (2, 2, 99), (2, 2, 5), (1, 2, 5), (1, 2, 4), (1, 1, 4), (1, 1, 2))
#: The commands that are listed in one line.
_SELDOM = ("lsp", "mcp", "completion", "help", "shim-wheel")


def add_short_help(command: click.Command) -> None:
    """Give a command, and the commands in it, the option ``-h``.

    >>> command = click.Command("count", help="Count tokens.")
    >>> add_short_help(command)
    >>> command.params[-1].opts
    ['-h']
    """
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            add_short_help(inner)
    if not any("-h" in param.opts for param in command.params):
        command.params.append(
            click.Option(
                ["-h"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show,
                help="Show the help that fits on one screen and exit.",
            )
        )


def short_page(ctx: click.Context, width: int = _WIDTH) -> str:
    """Return what ``-h`` prints for the command of a context, for a terminal of some columns."""
    width = max(min(width, _WIDTH), _NARROW)
    page = ""
    for examples, lines, options in _SIZES:
        page = _page(ctx, width, examples, lines, options)
        if sum(max(1, ceil(len(line) / width)) for line in page.split("\n")) <= _ROWS:
            break
    return page


def _page(ctx: click.Context, width: int, examples: int, lines: int, options: int) -> str:
    command = ctx.command
    parts = help_parts(command)
    page = [command.get_usage(ctx), ""]
    page += wrap(parts.purpose, width, initial_indent="  ", subsequent_indent="  ")
    if isinstance(command, click.Group):
        names = command.list_commands(ctx)
        often = [name for name in names if name not in _SELDOM]
        rows = [(name, _summary(command.get_command(ctx, name))) for name in often]
        if len(often) < len(names):
            rows.append(("and", ", ".join(name for name in names if name in _SELDOM)))
        page += ["", "Commands:", *_table(rows, width, 9)]
    else:
        shown = parts.examples[:examples]
        if shown:
            page += ["", "Examples:"]
        page += [f"{'      ' if n else '  '}{line}" for one in shown for n, line in enumerate(one)]
        title = "Options used most:" if command.name in _MOST else "Options:"
        rows = [option.get_help_record(ctx) or ("", "") for option in _most(command)[:options]]
        if rows:
            page += ["", title, *_table(rows, width, lines)]
    ask = "COMMAND -h says more; --help" if isinstance(command, click.Group) else "--help"
    return "\n".join([*page, "", f"{ctx.command_path} {ask} says all."])


def _show(ctx: click.Context, _param: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        width = get_terminal_size().columns if is_terminal(sys.stdout) else _WIDTH
        click.echo(short_page(ctx, width), color=ctx.color)
        ctx.exit()


def _summary(command: click.Command | None) -> str:
    return "" if command is None else command.get_short_help_str(_WIDTH)


def _most(command: click.Command) -> list[click.Option]:
    options = [param for param in command.params if isinstance(param, click.Option)]
    names = _MOST.get(command.name or "")
    if names is None:
        return [option for option in options if "-h" not in option.opts]
    by_name = {name: option for option in options for name in option.opts}
    return [by_name[name] for name in names]


def _table(rows: list[tuple[str, str]], width: int, most: int) -> list[str]:
    """Return rows in two columns, with at most some lines of the first sentence on the right."""
    left = min(width * 2 // 5, max(len(name) for name, _ in rows))
    lines = []
    for name, text in rows:
        sentence = re.split(r"(?<=\.)\s", text, maxsplit=1)[0]
        side = wrap(sentence, width - left - 4, max_lines=most, placeholder=" …")
        names = wrap(name, left, subsequent_indent="  ")
        both = zip_longest(names, side, fillvalue="")
        lines += [f"  {start:<{left}}  {part}".rstrip() for start, part in both]
    return lines
