"""The manual pages: written from the texts of the help, without a fault, and as they are meant."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import click
import pytest

from compat_bpe.cli import cli
from compat_bpe.cli.options.help_parts import help_parts
from tests.cli.process import TIMEOUT
from tools.build_man import TARGET, generate

COMMANDS = ["", *cli.list_commands(click.Context(cli)), "corpus counts"]

needs_mandoc = pytest.mark.skipif(
    shutil.which("mandoc") is None and (os.name == "nt" or "CI" not in os.environ),
    reason="there is no mandoc (apt-get install mandoc)",
)


def page_of(name: str) -> Path:
    return TARGET / f"{'-'.join(['compat-bpe', *name.split()])}.1"


def command_of(name: str) -> tuple[click.Command, click.Context]:
    ctx = click.Context(cli, info_name="compat-bpe")
    for part in name.split():
        assert isinstance(ctx.command, click.Group)
        command = ctx.command.get_command(ctx, part)
        assert command is not None
        ctx = click.Context(command, parent=ctx, info_name=part)
    return ctx.command, ctx


def mandoc(*args: str | Path) -> str:
    done = subprocess.run(
        ["mandoc", *args],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b""), done.stdout.decode()
    # A letter in bold is written twice, one over the other.
    return re.sub("\b.", "", done.stdout.decode())


@cache
def rendered(name: str) -> str:
    return mandoc("-T", "utf8", "-O", "width=200", page_of(name))


def test_pages_are_current() -> None:
    pages = generate()
    assert set(pages) == set(TARGET.iterdir()) == set(map(page_of, COMMANDS))
    for path, text in pages.items():
        assert path.read_text("ascii") == text, "run tools/build_man.py"


@needs_mandoc
def test_mandoc_finds_no_fault() -> None:
    assert mandoc("-T", "lint", *sorted(TARGET.iterdir())) == ""


@needs_mandoc
@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_the_texts_of_the_help(name: str) -> None:
    command, ctx = command_of(name)
    parts = help_parts(command)
    shown = rendered(name)
    lines = [line.strip() for line in shown.splitlines()]
    flowing = " ".join(shown.split())
    for example in parts.examples:
        for line in example:
            assert line in lines
    for paragraph in parts.details:
        assert " ".join(paragraph.text.split()) in flowing
    options = [param for param in command.get_params(ctx) if isinstance(param, click.Option)]
    assert options
    for option in options:
        record = option.get_help_record(ctx)
        assert record is not None
        assert " ".join(" ".join(record).split()) in flowing
    for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"):
        assert title in lines


@needs_mandoc
def test_a_page_of_a_group_names_its_commands() -> None:
    for name in COMMANDS[1:-1]:
        assert f"compat-bpe-{name}(1)" in rendered("")
    assert "compat-bpe-corpus-counts(1)" in rendered("corpus")
    assert "compat-bpe-corpus(1)" in rendered("corpus counts")
