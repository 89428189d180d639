r"""Rules by which text is masked before anything is learned of it.

A rule is a regular expression of Python's ``re`` and a replacement as in ``re.sub``.  A file of
rules is UTF-8, one rule a line::

    # Addresses and long numbers are not worth tokens.
    [\w.+-]+@[\w-]+(\.[\w-]+)+ → <mail>
    (\d{4})\d+ => \1…

Blank lines, and lines that begin with ``#``, are passed over.  Between pattern and replacement
stands ``→``, ``=>`` or a tab, the first of them in the line; in a pattern they are written
``\u2192``, ``=[>]`` and ``\t``.  Blanks around an arrow, and at both ends of a line that has one,
do not count: in a pattern ``[ ]`` does.  With a tab every character counts, so that a replacement
can be a blank.
"""

from __future__ import annotations

import re
import warnings
from typing import NamedTuple

from ..files.text import read_text

#: An arrow with the blanks around it, or a tab.
_SEPARATOR = re.compile(r"[ \t]*(?P<arrow>→|=>)[ \t]*|\t")


class Rule(NamedTuple):
    """What is replaced, and by what; see ``rule``."""

    pattern: re.Pattern[str]
    replacement: str

    def apply(self, text: str) -> tuple[str, int]:
        r"""The masked text and the number of replacements.

        >>> rule(r"\d+", "0").apply("Room 12, 3rd floor")
        ('Room 0, 0rd floor', 2)
        """
        return self.pattern.subn(self.replacement, text)


def rule(pattern: str, replacement: str) -> Rule:
    r"""A rule of a pattern and a replacement, both as in ``re.sub``.

    Raises:
        ValueError: one of them is wrong, or means something else in another version of Python.

    >>> rule(r"(\d+)", r"\2")
    Traceback (most recent call last):
    ValueError: the replacement '\\2': invalid group reference 2 at position 1
    """
    if not pattern:
        raise ValueError("the pattern is missing")
    try:
        with warnings.catch_warnings():
            # Of what later versions of Python refuse or will match otherwise.
            warnings.simplefilter("error")
            compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        raise ValueError(f"the pattern {pattern!r}: {error}") from None
    try:
        compiled.sub(replacement, "")  # the replacement is looked at even if nothing matches
    except (re.error, IndexError) as error:
        raise ValueError(f"the replacement {replacement!r}: {error}") from None
    return Rule(compiled, replacement)


def read_rules(path: str) -> list[Rule]:
    """The rules of a file, in their order.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not UTF-8, or a line is no rule; the message says which, and why.
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
    r"""The rule of a line.

    >>> _parse(r" \d+ =>  0 ")
    Rule(pattern=re.compile('\\d+'), replacement='0')
    >>> _parse(" +\t ")
    Rule(pattern=re.compile(' +'), replacement=' ')
    """
    found = _SEPARATOR.search(line)
    if found is None:
        raise ValueError(
            "no separator: between pattern and replacement there has to be →, => or a tab"
        )
    pattern, replacement = line[: found.start()], line[found.end() :]
    if found["arrow"]:
        pattern, replacement = pattern.lstrip(" \t"), replacement.rstrip(" \t")
    return rule(pattern, replacement)
