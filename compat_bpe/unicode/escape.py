"""Text that says exactly what it is: what could not be seen is written as an escape."""

from __future__ import annotations

from typing import Callable


def escape(token: bytes, visible: Visible) -> str:
    r"""Some bytes as they are shown; a byte that is no whole character is an escape, too.

    >>> print(escape("a|b\0\u200b\\".encode() + b"\xe4\n", Visible(r"\n", "|")))
    a\|b\x00\u200b\\\xe4\n
    """
    text = token.replace(b"\\", rb"\\").decode("utf-8", "backslashreplace")
    return text.translate(visible)


class Visible(dict[int, str]):
    """For ``str.translate``: characters that could not be seen, or be taken for something else.

    Args:
        newline: what is written for a newline.
        separator: a character before which a backslash is put; empty if there is none.
        can_show: whether a character can be written at all where it goes.
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
            # "\x85" is a byte that is no character.
            form = "\\x{:02x}" if number < 0x80 else "\\u{:04x}"
            if number > 0xFFFF:
                form = "\\U{:08x}"
            character = {9: "\\t", 13: "\\r"}.get(number) or form.format(number)
        self[number] = character
        return character
