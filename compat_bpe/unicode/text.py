"""UTF-8 in pieces, and text for people.

``Utf8Decoder`` decodes UTF-8 in pieces. The rest is for messages and displays: escapes, short
messages, plurals, numbers, code in Markdown, similar names.
"""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterable
from typing import AnyStr, Callable


class StreamDecodeError(UnicodeDecodeError):
    """The error for bytes of a stream that are not UTF-8.

    ``offset`` is the position of the wrong bytes in the whole stream, in bytes. The wrong bytes
    themselves are ``object[start:end]``, as in every ``UnicodeDecodeError``.
    """

    offset: int = 0

    def __str__(self) -> str:
        wrong = self.object[self.start]
        return f"not UTF-8: byte 0x{wrong:02x} at offset {self.offset}: {self.reason}"


class Utf8Decoder:
    r"""A decoder of UTF-8 in pieces, which holds back an incomplete character.

    Args:
        errors: the error handler for bytes that are not UTF-8, as in ``bytes.decode``.

    >>> decoder = Utf8Decoder("strict")
    >>> decoder.feed(b"caf\xc3"), decoder.feed(b"\xa9"), decoder.finish()
    ('caf', 'é', '')
    """

    def __init__(self, errors: str) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors)
        self._takes_surrogates = errors == "surrogatepass"
        self._fed = 0

    def feed(self, data: bytes) -> str:
        """Return the text that these bytes complete.

        Raises:
            StreamDecodeError: with ``errors="strict"``, the bytes are not UTF-8. The decoder
                keeps its state from before the call.
        """
        text = self._decode(data, final=False)
        self._fed += len(data)
        return text

    def finish(self) -> str:
        """Return the text of the bytes held back, and reset the decoder.

        Raises:
            StreamDecodeError: as in ``feed``.
        """
        text = self._decode(b"", final=True)
        self._fed = 0
        return text

    def _decode(self, data: bytes, *, final: bool) -> str:
        state = self._decoder.getstate()
        try:
            text = self._decoder.decode(data, final)
            if not final and self._holds_surrogate():
                text += self._decoder.decode(b"", True)
            return text
        except UnicodeDecodeError as error:
            self._decoder.setstate(state)
            # `error.object` is the bytes held back, then `data`.
            before = self._fed + len(data) - len(error.object)
            moved = StreamDecodeError(*error.args)
            moved.offset = before + error.start
            raise moved from None

    def _holds_surrogate(self) -> bool:
        """Return True if the bytes held back begin a surrogate, which is never UTF-8.

        Python's decoder waits for the third byte of a surrogate with every error handler.
        """
        held = self._decoder.getstate()[0]
        return len(held) == 2 and b"\xed\xa0" <= held < b"\xee" and not self._takes_surrogates


#: Escapes for controls, which would move the cursor, change colors or break a line in two.
CONTROLS = {
    code: repr(chr(code))[1:-1] for code in range(0xA0) if code < 0x20 or 0x7F <= code < 0xA0
}

#: ``CONTROLS``, and escapes for characters that end lines or reorder a terminal's text (UAX #9).
DISORDERING = {
    **CONTROLS,
    **{
        code: f"\\u{code:04x}"
        for code in (0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
    },
}

#: The most characters of a message: the wrong part of a file may be as large as the file.
LONGEST_MESSAGE = 2000


def brief(message: str) -> str:
    """Return a message without its middle if it is longer than ``LONGEST_MESSAGE``.

    >>> brief("short"), len(brief("a" * 10**6))
    ('short', 2000)
    """
    if len(message) <= LONGEST_MESSAGE:
        return message
    end = LONGEST_MESSAGE // 4  # the advice is at the end
    return f"{message[: LONGEST_MESSAGE - end - 1]}…{message[-end:]}"


def escape(token: bytes, visible: Visible) -> str:
    r"""Return bytes as visible text; bytes that are not whole characters are escaped, too.

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
        can_show: returns True if the output can represent a printable character.
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

    def __missing__(self, point: int) -> str:
        character = chr(point)
        if not (character.isprintable() and (point < 0x80 or self._can_show(character))):
            # "\x85" stands for a byte outside of any character.
            form = "\\x{:02x}" if point < 0x80 else "\\u{:04x}"
            if point > 0xFFFF:
                form = "\\U{:08x}"
            character = {9: "\\t", 13: "\\r"}.get(point) or form.format(point)
        self[point] = character
        return character


def can_show(text: str) -> bool:
    """Return True if the encoding of standard output has all characters of a text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def common_length(one: AnyStr, other: AnyStr) -> int:
    """Return the length of the longest beginning that two texts have in common.

    It is found by bisection, since slices are compared in C.

    >>> common_length("a cat", "a car")
    4
    """
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


_split_on_pypy = re.compile(r"\S+").findall

#: ``words_of(text)`` returns the words of a text, as CPython's ``str.split`` does. PyPy's does not
#: cut at U+001C to U+001F, but does at U+180E, unlike ``str.isspace``.
words_of = str.split if str.split("a\x1cb") == ["a", "b"] else _split_on_pypy


def plural(number: int, noun: str, form: str = ",") -> str:
    """Return a number with its noun in the right form; ``form`` is the format of the number.

    >>> plural(1, "file"), plural(2_000, "file"), plural(2_000, "token", "")
    ('1 file', '2,000 files', '2000 tokens')
    """
    return f"{number:{form}} {noun}{'' if number == 1 else 's'}"


def fence(text: str, least: int = 1) -> str:
    """Return the backquotes around code in Markdown: more than the text has in a row.

    >>> fence("a `` b"), fence("a", 3)
    ('```', '```')
    """
    return "`" * max(least, max(map(len, re.findall("`+", text)), default=0) + 1)


def short_number(text: str) -> int | None:
    """Return a number written in thousands or millions as an integer; None for any other text.

    >>> short_number("128k"), short_number("1.5M"), short_number("5")
    (128000, 1500000, None)
    """
    match = re.fullmatch(r"([0-9]{1,12})(?:\.([0-9]{1,3}))?([kKmM])", text)
    if match is None:
        return None
    thousandths = int(match[1] + (match[2] or "").ljust(3, "0"))
    return thousandths * (1 if match[3] in "kK" else 1_000)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message that lists similar known names; empty if there are none.

    >>> did_you_mean("GPT4o", ["gpt-4o", "o1"])
    " (did you mean 'gpt-4o'?)"
    """
    from difflib import get_close_matches  # only errors need it

    close = get_close_matches(name.lower(), list(known))
    return f" (did you mean {' or '.join(map(repr, close))}?)" if close else ""
