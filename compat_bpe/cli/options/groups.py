"""A command whose help lists its options in sections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click

#: The title of the section for options in no group, ``--help`` included.
OTHERS = "Other options"

# The largest number of columns of the left side, and of the space after it, as in click's help.
_LEFT = 30
_SPACE = 2


class GroupedCommand(click.Command):
    """A command whose help lists its options under titles, in the order of ``groups``.

    Options in no group come last, in their order, under "Other options".

    Args:
        groups: the options of each section, each by one of its names on the command line.
        **options: as in ``click.Command``.

    Raises:
        ValueError: a group names an option that the command does not have, or one that is in
            another group.

    >>> @click.command(cls=GroupedCommand, groups={"Input": ["--hidden"], "Output": ["-o"]})
    ... @click.option("-o", "--output", required=True)
    ... @click.option("--hidden", is_flag=True)
    ... def train(output: str, hidden: bool) -> None: ...
    >>> [line for line in train.get_help(click.Context(train)).splitlines() if line[-1:] == ":"]
    ['Input:', 'Output:', 'Other options:']
    """

    def __init__(self, *args: Any, groups: Mapping[str, Sequence[str]], **options: Any) -> None:
        super().__init__(*args, **options)
        by_name = {
            name: param
            for param in self.params
            if isinstance(param, click.Option)
            for name in (*param.opts, *param.secondary_opts)
        }
        self._groups: dict[str, list[click.Option]] = {}
        self._grouped: list[click.Option] = []
        for title, names in groups.items():
            for name in names:
                if name not in by_name:
                    raise ValueError(f"group {title!r} names {name}; there is no such option")
                if by_name[name] in self._grouped:
                    raise ValueError(f"group {title!r} names {name}, which is in a group already")
                self._grouped.append(by_name[name])
            self._groups[title] = [by_name[name] for name in names]

    def sections(self, ctx: click.Context) -> list[tuple[str, list[tuple[str, str]]]]:
        """Return the title of each section, and the left and the right side of each option."""
        others = [
            param
            for param in self.get_params(ctx)
            if isinstance(param, click.Option) and param not in self._grouped
        ]
        found = []
        for title, params in [*self._groups.items(), (OTHERS, others)]:
            rows = [row for row in (param.get_help_record(ctx) for param in params) if row]
            if rows:
                found.append((title, rows))
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the sections; their descriptions all begin in the same column."""
        sections = self.sections(ctx)
        widest = max((_left(rows) for _, rows in sections), default=0)
        for title, rows in sections:
            with formatter.section(title):
                formatter.write_dl(rows, _LEFT, _SPACE + widest - _left(rows))


def declared(options: Iterable[Callable[[Any], Any]]) -> list[click.Option]:
    """Return the options that decorators declare, in their order.

    >>> [option.name for option in declared([click.option("-n", "--name"), click.option("--all")])]
    ['name', 'all']
    """

    def command() -> None: ...

    for option in options:
        command = option(command)
    own: list[click.Option] = getattr(command, "__click_params__", [])
    return own


def _left(rows: Sequence[tuple[str, str]]) -> int:
    """Return the number of columns that the left side of some rows takes."""
    return min(_LEFT, max(len(left) for left, _ in rows))
