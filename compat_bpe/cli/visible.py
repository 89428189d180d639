"""Tokens as they are shown: no byte of them is lost, and none reaches a terminal as a control."""

from __future__ import annotations

import os
import sys

import click

from compat_bpe.cli.output import can_show

color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Whether tokens are told apart by colors; auto: on a terminal, unless NO_COLOR is set.",
)


def is_colored(color: str) -> bool:
    """Whether there are to be colors, by the value of ``color_option``."""
    if color != "auto":
        return color == "always"
    # https://no-color.org
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()


class Visible(dict[int, str]):
    """For ``str.translate``: characters that could not be seen, or be taken for something else."""

    def __init__(self, newline: str, separator: str) -> None:
        self[ord("\n")] = newline
        if separator:
            self[ord(separator)] = f"\\{separator}"

    def __missing__(self, number: int) -> str:
        character = chr(number)
        if not (character.isprintable() and (number < 0x80 or can_show(character))):
            # "\x85" is a byte that is no character.
            form = "\\x{:02x}" if number < 0x80 else "\\u{:04x}"
            if number > 0xFFFF:
                form = "\\U{:08x}"
            character = {9: "\\t", 13: "\\r"}.get(number) or form.format(number)
        self[number] = character
        return character


def escape(token: bytes, visible: Visible) -> str:
    r"""A token as it is shown.

    >>> print(escape("a|b\0\u200b\\".encode() + b"\xe4\n", Visible(r"\n", "|")))
    a\|b\x00\u200b\\\xe4\n
    """
    text = token.replace(b"\\", rb"\\").decode("utf-8", "backslashreplace")
    return text.translate(visible)
