"""Escapes for invisible characters, so that shown text says exactly what it is."""

from __future__ import annotations

import sys
from typing import Callable

#: Escapes for controls, which would move the cursor, change colors or break a line in two.
CONTROLS = {
    code: repr(chr(code))[1:-1] for code in range(0xA0) if code < 0x20 or 0x7F <= code < 0xA0
}

#: Those, and escapes for what ends lines or changes the order of what a terminal shows (UAX #9).
DISORDERING = {
    **CONTROLS,
    **{
        code: f"\\u{code:04x}"
        for code in (0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
    },
}


#: The most characters of a message: what is wrong in a file may be as large as the file.
LONGEST_MESSAGE = 2000


def brief(message: str) -> str:
    """Return a message; of one that is longer than ``LONGEST_MESSAGE`` the middle is left out.

    >>> brief("short"), len(brief("a" * 10**6))
    ('short', 2000)
    """
    if len(message) <= LONGEST_MESSAGE:
        return message
    end = LONGEST_MESSAGE // 4  # what to do about it comes last
    return f"{message[: LONGEST_MESSAGE - end - 1]}…{message[-end:]}"


def escape(token: bytes, visible: Visible) -> str:
    r"""Return bytes as text to show; bytes that are not whole characters are escaped, too.

    >>> print(escape("a|b\0\u200b\\".encode() + b"\xe4\n", Visible(r"\n", "|")))
    a\|b\x00\u200b\\\xe4\n
    """
    text = token.replace(b"\\", rb"\\").decode("utf-8", "backslashreplace")
    return text.translate(visible)


class Visible(dict[int, str]):
    """A table for ``str.translate`` that escapes invisible and ambiguous characters.

    Args:
        newline: the text for a newline.
        separator: a character to put a backslash before; may be empty.
        can_show: tells if a printable character can be written to the output at all.
    """

    def __init__(
        self,
        newline: str = "\\n",
        separator: str = "",
        can_show: Callable[[str], bool] = lambda character: True,
    ) -> None:
        self._can_show = can_show
        self[ord("\n")] = newline
        if separator:
            self[ord(separator)] = f"\\{separator}"

    def __missing__(self, number: int) -> str:
        character = chr(number)
        if not (character.isprintable() and (number < 0x80 or self._can_show(character))):
            # "\x85" stands for a byte outside of any character.
            form = "\\x{:02x}" if number < 0x80 else "\\u{:04x}"
            if number > 0xFFFF:
                form = "\\U{:08x}"
            character = {9: "\\t", 13: "\\r"}.get(number) or form.format(number)
        self[number] = character
        return character


def can_show(text: str) -> bool:
    """Return True if the encoding of standard output has all characters of a text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True
