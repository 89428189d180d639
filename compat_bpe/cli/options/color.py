"""The option that turns colors on and off."""

from __future__ import annotations

import os
import sys

import click

color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Color tokens. auto: on a terminal, unless NO_COLOR is set.",
)


def is_colored(color: str) -> bool:
    """Return True if tokens are colored, by the value of ``color_option``."""
    if color != "auto":
        return color == "always"
    # https://no-color.org
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()
