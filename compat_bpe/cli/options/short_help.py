"""``-h``: the help of a command on one screen of 24 lines; ``--help`` has all of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import zip_longest
from textwrap import wrap

import click

#: The options of a command that are used most, by one of their names. The other commands have few.
_MOST: Mapping[str, tuple[str, ...]] = {
    "count": ("-m", "-e", "-c", "--max", "--tree", "--context", "--json"),
    "truncate": ("-n", "-m", "-e", "--keep", "--boundary", "--report"),
    "split": ("-n", "-m", "-e", "--overlap", "--boundary", "-o"),
    "show": ("-m", "-e", "--ids", "--merges", "--html", "--json"),
    "extend": ("-o", "-n", "--terms", "-e", "--include", "--force"),
    "encode": ("-m", "-e", "--special", "--offsets", "--packed", "--json"),
    "decode": ("-m", "-e", "--packed"),
    "train": ("-o", "-n", "--model", "--pattern", "--special"),
    "counts": ("-o", "--model", "--pattern", "--merge"),
    "report": ("-e", "-m", "--by", "--terms", "--html", "--json"),
}
#: The commands that are used once, if at all; only --help has them.
_RARE = ("completion", "shim-wheel")
#: The number of examples that are shown.
_EXAMPLES = 3
#: The widest that the left side is, and all together.
_LEFT, _WIDTH = 32, 80


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


def short_page(ctx: click.Context) -> str:
    """Return what ``-h`` prints for the command of a context."""
    command = ctx.command
    text = command.help or ""
    purpose = text.split("\n\n", 1)[0]
    lines = [command.get_usage(ctx), "", *wrap(purpose, _WIDTH, initial_indent="  ")]
    if isinstance(command, click.Group):
        names = [name for name in command.list_commands(ctx) if name not in _RARE]
        rows = [(name, _summary(command.get_command(ctx, name))) for name in names]
        lines += ["", "Commands:", *_table(rows, 1)]
    else:
        examples = _examples(text)
        if examples:
            lines += ["", "Examples:", *examples]
        title = "Options used most:" if command.name in _MOST else "Options:"
        rows = [option.get_help_record(ctx) or ("", "") for option in _most(command)]
        if rows:
            lines += ["", title, *_table(rows, 2)]
    return "\n".join([*lines, "", f"{ctx.command_path} --help says all."])


def _show(ctx: click.Context, _param: click.Parameter, is_asked: bool) -> None:
    if is_asked and not ctx.resilient_parsing:
        click.echo(short_page(ctx), color=ctx.color)
        ctx.exit()


def _summary(command: click.Command | None) -> str:
    return "" if command is None else command.get_short_help_str(_WIDTH)


def _examples(text: str) -> list[str]:
    """Return the first examples of a help text, each with the lines that it goes on in."""
    lines = re.split(r"Examples?:\n", text, maxsplit=1)[-1].split("\n\n")[0].split("\n")
    examples: list[list[str]] = []
    for line in lines:
        if line.lstrip().startswith("$ "):
            examples.append([f"  {line.strip()}"])
        elif examples and line.strip():
            examples[-1].append(f"      {line.strip()}")
    return [line for example in examples[:_EXAMPLES] for line in example]


def _most(command: click.Command) -> list[click.Option]:
    options = [param for param in command.params if isinstance(param, click.Option)]
    names = _MOST.get(command.name or "")
    if names is None:
        return [option for option in options if "-h" not in option.opts]
    by_name = {name: option for option in options for name in option.opts}
    return [by_name[name] for name in names]


def _table(rows: list[tuple[str, str]], most: int) -> list[str]:
    """Return rows in two columns, with at most some lines of the first sentence on the right."""
    width = min(_LEFT, max(len(left) for left, _ in rows))
    lines = []
    for left, text in rows:
        sentence = re.split(r"(?<=\.)\s", text, maxsplit=1)[0]
        side = wrap(sentence, _WIDTH - width - 4, max_lines=most, placeholder=" …")
        both = zip_longest([left], side, fillvalue="")
        lines += [f"  {start:<{width}}  {part}" for start, part in both]
    return lines
