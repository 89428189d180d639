"""Write the manual pages of the command, from the texts that ``--help`` shows.

Usage: python tools/build_man.py [--check]

There is a page for the command and for each command in it, as git has them: ``man compat-bpe`` and
``man compat-bpe-count``. The wheel installs them as share/man/man1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from compat_bpe.cli import cli
from compat_bpe.cli.app import GroupedCommand, HelpParts, help_parts
from compat_bpe.version import __version__
from tools.generated import write_or_check

TARGET = Path(__file__).parents[1] / "man"
#: The day of the pages, which a page must have: that on which their form was last changed.
_DATE = "2026-11-25"
#: The longest line of a page, in bytes.
_WIDTH = 79


def generate() -> dict[Path, str]:
    """Return the text of each page."""
    pages = {_name(ctx): ctx for ctx in contexts()}
    return {TARGET / f"{name}.1": _page(ctx, pages) for name, ctx in pages.items()}


def contexts() -> list[click.Context]:
    """Return a context for the command, and for each command in it."""
    root = click.Context(cli, info_name="compat-bpe")
    return [root, *_below(root)]


def _below(ctx: click.Context) -> Iterator[click.Context]:
    """Yield a context for each command in the group of a context."""
    group = ctx.command
    if not isinstance(group, click.Group):
        return
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is not None:
            inner = click.Context(command, parent=ctx, info_name=name)
            yield inner
            yield from _below(inner)


def _name(ctx: click.Context) -> str:
    return ctx.command_path.replace(" ", "-")


def _page(ctx: click.Context, names: Iterable[str]) -> str:
    command = ctx.command
    parts = help_parts(command)
    name = _name(ctx)
    purpose = parts.purpose[0].lower() + parts.purpose[1:].rstrip(".")
    usage = " ".join(command.collect_usage_pieces(ctx))
    lines = [
        f'.TH "{_roff(name.upper())}" 1 "{_DATE}" "compat_bpe {__version__}" "User Commands"',
        # No word is divided, or an option would be, and lines end where they end.
        *(".nh", ".ad l"),
        *(".SH NAME", f"{_roff(name)} \\-", *_lines(purpose)),
        *(".SH SYNOPSIS", f"\\fB{_roff(ctx.command_path)}\\fR", *_lines(usage)),
        *_description(parts),
        *_commands(ctx),
        *_options(ctx),
        *_examples(parts),
    ]
    others = [f"\\fB{_roff(other)}\\fR(1)" for other in names if _is_near(other, name)]
    lines += [".SH SEE ALSO", ",\n".join(others)]
    return "\n".join(lines) + "\n"


def _description(parts: HelpParts) -> list[str]:
    lines = [".SH DESCRIPTION", *_lines(parts.purpose)]
    for paragraph in parts.details:
        lines += [".PP"]
        if paragraph.is_fixed:
            title, *rest = paragraph.text.split("\n")
            lines += [_roff(title), ".PP", ".nf", *map(_roff, rest), ".fi"]
        else:
            lines += _lines(paragraph.text)
    return lines


def _commands(ctx: click.Context) -> list[str]:
    group = ctx.command
    if not isinstance(group, click.Group):
        return []
    lines = [".SH COMMANDS"]
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is not None:
            page = _roff(f"{_name(ctx)}-{name}")
            lines += [".TP", f"\\fB{page}\\fR(1)", *_lines(help_parts(command).purpose)]
    return lines


def option_sections(ctx: click.Context) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the title of each section of options, and the left and right side of each option."""
    command = ctx.command
    if isinstance(command, GroupedCommand):
        return command.sections(ctx)
    options = (one for one in command.get_params(ctx) if isinstance(one, click.Option))
    records = (option.get_help_record(ctx) for option in options)
    return [("", [record for record in records if record is not None])]


def _options(ctx: click.Context) -> list[str]:
    lines = [".SH OPTIONS"]
    for title, rows in option_sections(ctx):
        if title:
            lines.append(f".SS {_roff(title)}")
        for left, right in rows:
            lines += [".TP", f"\\fB{_roff(left)}\\fR", *_lines(right)]
    return lines


def _examples(parts: HelpParts) -> list[str]:
    lines = [".SH EXAMPLES", ".nf"]
    for example in parts.examples:
        first, *rest = example
        lines += [_roff(first), *(f"    {_roff(line)}" for line in rest)]
    return [*lines, ".fi"]


def _is_near(other: str, name: str) -> bool:
    """Return True if a page is worth a look: the one above, and those of the whole command."""
    return other != name and (name == "compat-bpe" or other in ("compat-bpe", _above(name)))


def _above(name: str) -> str:
    return name.rpartition("-")[0]


def _lines(text: str) -> list[str]:
    """Return running text as lines of roff."""
    lines: list[str] = []
    for word in map(_roff, text.split()):
        if lines and len(lines[-1]) + 1 + len(word) <= _WIDTH:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _roff(text: str) -> str:
    r"""Return text as roff that shows exactly it.

    >>> _roff("-n, --limit N: \\n"), _roff(".TH 'x' ≈")
    ('\\-n, \\-\\-limit N: \\en', '\\&.TH \\(aqx\\(aq \\[u2248]')
    """
    special = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
    written = "".join(
        special.get(char) or (char if char < "\x7f" else f"\\[u{ord(char):04X}]") for char in text
    )
    return f"\\&{written}" if written.startswith(".") else written


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, generate))
