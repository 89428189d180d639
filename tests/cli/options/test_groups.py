"""Options under titles in a command's help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click
import pytest

from compat_bpe.cli.options.groups import GroupedCommand


def _command(groups: Mapping[str, Sequence[str]]) -> click.Command:
    @click.command(cls=GroupedCommand, groups=groups)
    @click.argument("paths", nargs=-1)
    @click.option("-o", "--output", metavar="FILE", required=True, help="Write there.")
    @click.option("--a-long-name", metavar="NUMBER", help="Take so many.")
    @click.option("--color/--no-color", help="Use colors.")
    @click.option("--secret", hidden=True)
    def command(**_: object) -> None:
        """Do it."""

    return command


def _help(command: click.Command) -> str:
    return command.get_help(click.Context(command, info_name="x"))


def test_sections_come_in_order_and_the_rest_last() -> None:
    text = _help(_command({"Output": ["--color", "-o"], "Input": ["--a-long-name"]}))
    assert text == (
        "Usage: x [OPTIONS] [PATHS]...\n"
        "\n"
        "  Do it.\n"
        "\n"
        "Output:\n"
        "  --color / --no-color  Use colors.\n"
        "  -o, --output FILE     Write there.  [required]\n"
        "\n"
        "Input:\n"
        "  --a-long-name NUMBER  Take so many.\n"
        "\n"
        "Other options:\n"
        "  --help                Show this message and exit."
    )


def test_a_section_of_hidden_options_is_not_there() -> None:
    assert "Secrets" not in _help(_command({"Secrets": ["--secret"]}))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"Input": ["--nope"]}, "no such option"),
        ({"Input": ["paths"]}, "no such option"),
        ({"Input": ["-o"], "Output": ["--output"]}, "in a group already"),
    ],
)
def test_a_mistake_in_the_groups_is_an_error(groups: dict[str, list[str]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _command(groups)
