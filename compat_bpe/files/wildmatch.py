r"""Patterns of ignore files as regular expressions, by the rules of git's ``wildmatch``.

Git compares bytes, so text here is bytes in the disguise of Latin-1 (``as_bytes``): ``?`` is one
byte, and no letter above U+007F matches it alone.
"""

from __future__ import annotations

import os
import re

#: The characters with which a pattern is more than a text.
_SPECIAL = re.compile(r"[*?\[\\]")
_STARS = re.compile(r"\*+")
#: The ASCII characters of the classes that may stand within a set, as in ``[[:digit:]]``.
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r"\t\n\r ",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}
#: A set without characters.
_NOTHING = "(?!)"


class InvalidPatternError(ValueError):
    """A pattern that nothing matches: a set without an end, or a backslash before nothing."""


def as_bytes(text: str) -> str:
    """Return the bytes of a path or a pattern, each as a character.

    >>> as_bytes("é")
    'Ã©'
    """
    return os.fsencode(text).decode("latin-1")


def translate(pattern: str, *, is_name: bool) -> str:
    r"""Return a regular expression for ``fullmatch``.

    Args:
        pattern: the pattern, as by ``as_bytes``.
        is_name: the pattern is for a name.  Otherwise it is for a path, in which only ``**``
            between slashes matches a slash.

    Raises:
        InvalidPatternError: the pattern matches nothing.

    >>> translate("*.py", is_name=True), translate("a/**/b?", is_name=False)
    ('(?s:.*\\.py)', '(?s:a/(?:.*/)?b[^/])')
    """
    special = _SPECIAL.search(pattern)
    # Git compares what is before the first special character as a text.  So stars after that begin
    # a pattern, whatever is before them.
    start = special.start() if special else len(pattern)
    parts = [re.escape(pattern[:start])]
    any_char = "." if is_name else "[^/]"
    at = start
    while at < len(pattern):
        char = pattern[at]
        if char == "*":
            stars = _STARS.match(pattern, at)
            assert stars is not None
            is_first = at in (0, start) or pattern[at - 1] == "/"
            part, at = _stars(pattern, at, stars.end(), is_first and not is_name)
            parts.append(part or f"{any_char}*")
        elif char == "?":
            parts.append(any_char)
            at += 1
        elif char == "[":
            part, at = _set(pattern, at + 1)
            parts.append(part if is_name else f"(?!/){part}")
        else:
            if char == "\\":
                at += 1
            parts.append(re.escape(_char(pattern, at)))
            at += 1
    return f"(?s:{''.join(parts)})"


def _char(pattern: str, at: int) -> str:
    """Return a character of a pattern.

    Raises:
        InvalidPatternError: the pattern ends before it.
    """
    if at >= len(pattern):
        raise InvalidPatternError(pattern)
    return pattern[at]


def _stars(pattern: str, at: int, end: int, is_first: bool) -> tuple[str, int]:
    """Return the expression for stars that match slashes, or "" for others, and where they end."""
    if end - at > 1 and is_first:
        if pattern[end : end + 1] == "/":
            return "(?:.*/)?", end + 1
        if end == len(pattern) or pattern[end : end + 2] == "\\/":
            return ".*", end
    return "", end


def _set(pattern: str, at: int) -> tuple[str, int]:
    """Return the expression for a set of characters whose bracket is before ``at``, and its end."""
    negated = _char(pattern, at) in "!^"
    at += negated
    items: list[str] = []
    last = ""  # the character before, with which a range may begin
    first = True
    while first or _char(pattern, at) != "]":
        first = False
        char = _char(pattern, at)
        if char == "\\":
            at += 1
            last = _char(pattern, at)
            items.append(_escaped(last))
        elif char == "-" and last and pattern[at + 1 : at + 2] not in ("", "]"):
            at += 1
            if pattern[at] == "\\":
                at += 1
            high = _char(pattern, at)
            if last <= high:
                items.append(f"{_escaped(last)}-{_escaped(high)}")
            last = ""
        elif char == "[" and pattern[at + 1 : at + 2] == ":":
            end = pattern.find("]", at + 2)
            if end < 0:
                raise InvalidPatternError(pattern)
            if end > at + 2 and pattern[end - 1] == ":":
                name = pattern[at + 2 : end - 1]
                if name not in _CLASSES:
                    raise InvalidPatternError(pattern)
                items.append(_CLASSES[name])
                at, last = end, ""
            else:
                items.append(_escaped(char))
                last = char
        else:
            items.append(_escaped(char))
            last = char
        at += 1
    if not items:
        return "." if negated else _NOTHING, at + 1
    return f"[{'^' * negated}{''.join(items)}]", at + 1


def _escaped(char: str) -> str:
    return f"\\x{ord(char):02x}"
