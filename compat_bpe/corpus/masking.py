r"""Rules that mask text before anything is learned from it.

A rule is a regular expression of Python's ``re`` and a replacement as in ``re.sub``. A file of
rules is UTF-8, one rule a line::

    # Addresses and long numbers are not worth tokens.
    [\w.+-]+@[\w-]+(\.[\w-]+)+ → <mail>
    (\d{4})\d+ => \1…

Blank lines, and lines that begin with ``#``, are skipped. The first ``→``, ``=>`` or tab in a line
separates pattern and replacement. Inside a pattern, these are written ``\u2192``, ``=[>]`` and
``\t``. Blanks around an arrow, and at both ends of a line with an arrow, are ignored; in a
pattern, write ``[ ]``. With a tab every character counts, so a replacement can be a blank.
"""

from __future__ import annotations

import re
import warnings
from typing import NamedTuple

from ..files.text import read_text

#: An arrow with the blanks around it, or a tab.
_SEPARATOR = re.compile(r"[ \t]*(?P<arrow>→|=>)[ \t]*|\t")


class Rule(NamedTuple):
    """A pattern and the replacement of its matches, made by ``rule``."""

    pattern: re.Pattern[str]
    replacement: str

    def apply(self, text: str) -> tuple[str, int]:
        r"""Return the masked text and the number of replacements.

        >>> rule(r"\d+", "0").apply("Room 12, 3rd floor")
        ('Room 0, 0rd floor', 2)
        """
        return self.pattern.subn(self.replacement, text)


def rule(pattern: str, replacement: str) -> Rule:
    r"""Return a rule of a pattern and a replacement, both as in ``re.sub``.

    Raises:
        ValueError: one of them is wrong, or has another meaning in another version of Python.

    >>> rule(r"(\d+)", r"\2")
    Traceback (most recent call last):
    ValueError: the replacement '\\2': invalid group reference 2 at position 1
    """
    if not pattern:
        raise ValueError("the pattern is missing")
    try:
        with warnings.catch_warnings():
            # Python warns about patterns that later versions refuse or match otherwise.
            warnings.simplefilter("error")
            compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise ValueError(f"the pattern {pattern!r}: {error}") from None
    try:
        compiled.sub(replacement, "")  # checks the replacement even if nothing matches
    except (re.error, IndexError) as error:
        raise ValueError(f"the replacement {replacement!r}: {error}") from None
    return Rule(compiled, replacement)


def read_rules(path: str) -> list[Rule]:
    """Return the rules of a file, in their order.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not UTF-8, or a line is not a rule; the message says which, and why.
    """
    try:
        text, _ = read_text(path)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    rules = []
    # Editors put a byte-order mark at the beginning, and "\r" before each "\n".
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        line = line.removesuffix("\r")
        if line.strip() and not line.startswith("#"):
            try:
                rules.append(_parse(line))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}") from None
    return rules


def _parse(line: str) -> Rule:
    r"""Return the rule of a line.

    >>> _parse(r" \d+ =>  0 ")
    Rule(pattern=re.compile('\\d+'), replacement='0')
    >>> _parse(" +\t ")
    Rule(pattern=re.compile(' +'), replacement=' ')
    """
    separator = _SEPARATOR.search(line)
    if separator is None:
        raise ValueError(
            "no separator: pattern and replacement must be separated by →, => or a tab"
        )
    pattern, replacement = line[: separator.start()], line[separator.end() :]
    if separator["arrow"]:
        pattern, replacement = pattern.lstrip(" \t"), replacement.rstrip(" \t")
    return rule(pattern, replacement)
