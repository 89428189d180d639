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
from compat_bpe.cli.app import help_parts
from tests.cli.running import TIMEOUT
from tools.build_man import TARGET, generate

COMMANDS = ["", *cli.list_commands(click.Context(cli)), "corpus counts"]

#: How roff writes characters, and what changes the letters.
_ESCAPE = re.compile(r"\\(?:f[BR]|&|(?P<one>[-e])|\((?P<two>..)|\[u(?P<code>[0-9A-F]+)\])")
_NAMED = {"-": "-", "e": "\\", "aq": "'", "ga": "`", "ha": "^", "ti": "~"}


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


def _escaped(found: re.Match[str]) -> str:
    if found["code"]:
        return chr(int(found["code"], 16))
    return _NAMED.get(found["one"] or found["two"], "")


@cache
def lines_of(name: str) -> list[str]:
    """The lines of text and the headings of a page, without what else roff is told."""
    lines = []
    for line in page_of(name).read_text("ascii").splitlines():
        request, _, text = line.partition(" ") if line.startswith(".") else ("", "", line)
        if request in ("", ".SH", ".SS"):
            lines.append(_ESCAPE.sub(_escaped, text))
    return lines


def flowing(name: str) -> str:
    return " ".join(" ".join(lines_of(name)).split())


def test_pages_are_current() -> None:
    pages = generate()
    assert set(pages) == set(TARGET.iterdir()) == set(map(page_of, COMMANDS))
    for path, text in pages.items():
        assert path.read_text("ascii") == text, "run tools/build_man.py"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_the_texts_of_the_help(name: str) -> None:
    command, ctx = command_of(name)
    parts = help_parts(command)
    lines = [line.strip() for line in lines_of(name)]
    for example in parts.examples:
        for line in example:
            assert line in lines
    for paragraph in parts.details:
        assert " ".join(paragraph.text.split()) in flowing(name)
    options = [param for param in command.get_params(ctx) if isinstance(param, click.Option)]
    assert options
    for option in options:
        record = option.get_help_record(ctx)
        assert record is not None
        assert " ".join(" ".join(record).split()) in flowing(name)
    for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"):
        assert title in lines


def test_a_page_of_a_group_names_its_commands() -> None:
    for name in COMMANDS[1:-1]:
        assert f"compat-bpe-{name}(1)" in flowing("")
    assert "compat-bpe-corpus-counts(1)" in flowing("corpus")
    assert "compat-bpe-corpus(1)" in flowing("corpus counts")


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


@pytest.mark.skipif(
    shutil.which("mandoc") is None and (os.name == "nt" or "CI" not in os.environ),
    reason="mandoc, which reads manual pages, is not installed (apt-get install mandoc)",
)
def test_mandoc_finds_no_fault_and_shows_what_the_pages_say() -> None:
    assert mandoc("-T", "lint", *sorted(TARGET.iterdir())) == ""
    for name in COMMANDS:
        shown = mandoc("-T", "utf8", "-O", "width=200", page_of(name)).splitlines()
        # The first line and the last have the title and the date.
        assert " ".join(" ".join(shown[1:-1]).split()) == flowing(name)
