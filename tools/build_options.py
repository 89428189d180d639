"""Write the tables of options in docs/command-line.md, from the texts that ``--help`` shows.

Usage: python tools/build_options.py [--check]

A table is between the lines ``<!-- options of COMMAND -->`` and ``<!-- end of options -->``. If
names of options follow the command, the table has these, for all commands that have all of them in
the same words. Another table has the options of its command that are in no such table.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.build_man import contexts, option_sections
from tools.generated import write_or_check

TARGET = Path(__file__).parents[1] / "docs/command-line.md"

_TABLE = re.compile(
    r"(<!-- options of ([a-z -]+?)((?: --?[a-z-]+)*) -->\n).*?(<!-- end of options -->)", re.DOTALL
)
_HELP = ("-h", "--help", "--version")


def generate() -> dict[Path, str]:
    """Return the text of the page."""
    page = TARGET.read_text("utf-8")
    commands = {ctx.command_path.partition(" ")[2]: ctx for ctx in contexts()}
    shared = [
        {_key(row) for _, row in _rows(commands[command], names.split())}
        for _, command, names, _ in _TABLE.findall(page)
        if names
    ]

    def table(found: re.Match[str]) -> str:
        begin, command, names, end = found.groups()
        rows = list(_rows(commands[command], names.split()))
        if not names:
            own = {_key(row) for _, row in rows}
            others = set().union(*(keys for keys in shared if keys <= own))
            rows = [(title, row) for title, row in rows if _key(row) not in others]
        lines = ["| option | |", "|---|---|"]
        # A table of a single section needs no title.
        last = rows[0][0] if len({title for title, _ in rows}) == 1 else ""
        for title, (left, right) in rows:
            if title != last and not names:
                lines.append(f"| **{title}** | |")
            last = title
            lines.append(f"| {_left(left)} | {_right(right)} |")
        return "\n".join([begin.rstrip("\n"), "", *lines, "", end])

    return {TARGET: _TABLE.sub(table, page)}


def _rows(ctx: click.Context, names: list[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the title of the section and the help of each option with one of some names, or all."""
    for title, rows in option_sections(ctx):
        for row in rows:
            own = set(re.findall(r"(?<!\S)--?[a-z0-9-]+", row[0]))
            if not own & {*_HELP} and (not names or own & {*names}):
                yield title, row


def _key(row: tuple[str, str]) -> tuple[str, str]:
    """Return what two commands have in common whose option is the same, but may be repeated."""
    return row[0], row[1].replace(" May be repeated.", "")


def _left(text: str) -> str:
    """Return the names of an option and its value, in code.

    >>> _left("-e, --encoding NAME|PATH")
    '`-e`, `--encoding NAME\\\\|PATH`'
    """
    return ", ".join(f"`{name}`" for name in text.replace("|", "\\|").split(", "))


def _right(text: str) -> str:
    r"""Return a help text in Markdown; the names of options in it are code.

    >>> _right("With --files, a *.md or \\n.  [default: 1; x>=0]")
    'With `--files`, a \\*.md or \\\\n. [default: 1; x>=0]'
    """
    text = re.sub(r"([\\*|<`])", r"\\\1", " ".join(text.split()))
    return re.sub(r"(?<![\w\\-])--?[a-z][a-z-]*(?![\w-])", r"`\g<0>`", text)


if __name__ == "__main__":
    sys.exit(write_or_check(__doc__, generate))
