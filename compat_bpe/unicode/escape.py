"""Text for display: invisible and ambiguous characters are written as escapes."""

from __future__ import annotations

from typing import Callable


def escape(token: bytes, visible: Visible) -> str:
    r"""Return bytes as text for display; bytes that are not UTF-8 become escapes, too.

    >>> print(escape("a|b\0\u200b\\".encode() + b"\xe4\n", Visible(r"\n", "|")))
    a\|b\x00\u200b\\\xe4\n
    """
    text = token.replace(b"\\", rb"\\").decode("utf-8", "backslashreplace")
    return text.translate(visible)


class Visible(dict[int, str]):
    """A table for ``str.translate`` that escapes invisible and ambiguous characters.

    Args:
        newline: the text written for a newline.
        separator: a character to put a backslash before; empty for none.
        can_show: returns True if the output can show a character at all.
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
            # Not "\x85" for U+0085: that form is for a byte that is not UTF-8.
            form = "\\x{:02x}" if number < 0x80 else "\\u{:04x}"
            if number > 0xFFFF:
                form = "\\U{:08x}"
            character = {9: "\\t", 13: "\\r"}.get(number) or form.format(number)
        self[number] = character
        return character
