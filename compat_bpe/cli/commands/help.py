"""``compat-bpe help``: the help of a command, as its ``--help`` shows it."""

from __future__ import annotations

import click


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
