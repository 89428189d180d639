"""The parts of a command's help: what it does, examples, and details."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import NamedTuple

import click

#: The line before a paragraph that is shown as it is; click's own mark.
_AS_IT_IS = "\b\n"


class Paragraph(NamedTuple):
    """A paragraph of a help text; ``is_fixed`` is true if its lines stay as they are."""

    text: str
    is_fixed: bool


class HelpParts(NamedTuple):
    """The parts of the help of a command.

    Args:
        purpose: what it does, one sentence.
        examples: the lines of each example, without the space before them.
        details: the paragraphs after the examples.
    """

    purpose: str
    examples: list[list[str]]
    details: list[Paragraph]


def help_parts(command: click.Command) -> HelpParts:
    r"""Return the parts of the help of a command.

    >>> text = "Count tokens.\n\n\b\nExample:\n  $ count a.txt\n\nA file\nis UTF-8."
    >>> parts = help_parts(click.Command("count", help=text))
    >>> parts.purpose, parts.examples, [paragraph.text for paragraph in parts.details]
    ('Count tokens.', [['$ count a.txt']], ['A file is UTF-8.'])
    """
    purpose, *others = cleandoc(command.help or "").split("\n\n")
    parts = HelpParts(_flowing(purpose), [], [])
    for paragraph in others:
        is_fixed = paragraph.startswith(_AS_IT_IS)
        text = paragraph[len(_AS_IT_IS) :] if is_fixed else _flowing(paragraph)
        if is_fixed and re.match("Examples?:\n", text):
            parts.examples.extend(_examples(text.split("\n")[1:]))
        else:
            parts.details.append(Paragraph(text, is_fixed))
    return parts


def _flowing(paragraph: str) -> str:
    return " ".join(paragraph.split())


def _examples(lines: list[str]) -> list[list[str]]:
    """Return the lines of each example; one that is not begun by ``$`` goes on with the last."""
    examples: list[list[str]] = []
    for line in map(str.strip, lines):
        if line.startswith("$ "):
            examples.append([line])
        else:
            examples[-1].append(line)
    return examples
