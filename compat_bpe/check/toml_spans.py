"""Places of the values of a TOML file: the line of each, and its first and last character.

The parser of the standard library says what a file has, but not where. This one only says where:
it takes texts that the other has read without an error.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from importlib import import_module
from typing import Any, NamedTuple, Union

#: The way to a value: keys of tables, and indexes of arrays.
Way = tuple[Union[str, int], ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
#: Quoted text, of several lines or of one.
_LINES = r'"""(?:[^\\]|\\[\s\S])*?"{3,5}(?!")' + r"|'''[\s\S]*?'{3,5}(?!')"
_LINE = r'"(?:[^"\\\n]|\\.)*"' + r"|'[^'\n]*'"
_STRING = re.compile(f"{_LINES}|{_LINE}")
#: A piece of any text: a part of a key or of a value, a dot, space, or what ends a key. Three
#: quotation marks that nothing closes are none: the search for their end is not made twice.
_PIECE = re.compile(
    rf"(?P<part>{_LINES}|(?!\"{{3}}|'{{3}})(?:{_LINE})|{_BARE_KEY.pattern})"
    r"""|(?P<dot>\.)|(?P<space>[ \t]+)|#[^\n]*|[^"'.#\w \t-]+|[^"']"""
)
#: A number, a date or a boolean; a date may have a space in it.
_SIMPLE = re.compile(r"[^,\]}#\r\n]*")


class Span(NamedTuple):
    """The place of a value: its line, from 1, and where it begins and ends in the text."""

    line: int
    start: int
    end: int


def parse_toml(text: str) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises:
        ModuleNotFoundError: Python is older than 3.11, and the package ``tomli`` is missing.
        ValueError: the text is no TOML; the message has the line.
    """
    try:
        module = import_module("tomllib")
    except ModuleNotFoundError:
        module = import_module("tomli")
    parsed: dict[str, Any] = module.loads(text)
    return parsed


def line_of_long_key(text: str, most: int) -> int | None:
    """Return the line of the first key with more than ``most`` parts; None if there is none.

    The text need not be TOML. The search ends at a quotation mark without an end, as parsers do.

    >>> line_of_long_key("a.b = 1\\nx = {'c' . d.e = 2}", 2)
    2
    """
    at = parts = 0
    follows_dot = False
    for piece in _PIECE.finditer(text):
        if piece.start() != at:
            break
        at = piece.end()
        if piece.lastgroup == "part":
            parts = parts + 1 if follows_dot else 1
            if parts > most:
                return text.count("\n", 0, at) + 1
        elif piece.lastgroup not in ("dot", "space"):
            parts = 0
        if piece.lastgroup != "space":
            follows_dot = piece.lastgroup == "dot" and parts > 0
    return None


def toml_spans(text: str) -> dict[Way, Span]:
    """Return the place of each value of a TOML file; that of a table is its header's.

    Args:
        text: a text that ``parse_toml`` reads.

    >>> text = "[a]\\nb = [1, 22]\\n"
    >>> spans = toml_spans(text)
    >>> spans["a", "b", 1].line, text[slice(*spans["a", "b", 1][1:])]
    (2, '22')
    """
    scanner = _Scanner(text)
    scanner.scan()
    return scanner.spans


class _Scanner:
    def __init__(self, text: str) -> None:
        self.spans: dict[Way, Span] = {}
        self._text = text
        self._at = 0
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        #: The number of tables in each array of tables so far.
        self._tables: dict[Way, int] = {}

    def scan(self) -> None:
        way: Way = ()
        while self._skip(_BLANK) < len(self._text):
            start = self._at
            brackets = 2 if self._text.startswith("[[", start) else 1
            if self._text[start] != "[":
                self._pair(way)
                continue
            self._at += brackets
            *parents, last = self._keys()
            self._at += brackets
            way = (*self._resolved(parents), last)
            if brackets == 2:
                self._tables[way] = self._tables.get(way, 0) + 1
                way = (*way, self._tables[way] - 1)
            self._note(way, start)

    def _resolved(self, keys: list[str]) -> Way:
        """Return the way of keys in a header; in an array of tables the last one is meant."""
        way: Way = ()
        for key in keys:
            way = (*way, key)
            if way in self._tables:
                way = (*way, self._tables[way] - 1)
        return way

    def _pair(self, way: Way) -> None:
        way = (*way, *self._keys())
        self._at += 1  # the sign between key and value
        self._skip(_SPACE)
        self._value(way)

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip(_SPACE)
            quoted = self._text[self._at] in "\"'"
            match = (_STRING if quoted else _BARE_KEY).match(self._text, self._at)
            assert match is not None
            self._at = match.end()
            keys.append(parse_toml(f"key = {match[0]}")["key"] if quoted else match[0])
            self._skip(_SPACE)
            if self._text[self._at] != ".":
                return keys
            self._at += 1

    def _value(self, way: Way) -> None:
        start = self._at
        first = self._text[start]
        if first == "[":
            self._items(way, "]")
        elif first == "{":
            self._items(way, "}")
        else:
            match = (_STRING if first in "\"'" else _SIMPLE).match(self._text, start)
            assert match is not None
            self._at = start + len(match[0].rstrip())
        self._note(way, start)

    def _items(self, way: Way, end: str) -> None:
        self._at += 1
        index = 0
        while self._text[self._skip(_BLANK)] != end:
            if end == "]":
                self._value((*way, index))
            else:
                self._pair(way)
            index += 1
            if self._text[self._skip(_BLANK)] == ",":
                self._at += 1
        self._at += 1

    def _skip(self, what: re.Pattern[str]) -> int:
        match = what.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return self._at

    def _note(self, way: Way, start: int) -> None:
        self.spans[way] = Span(bisect_right(self._lines, start), start, self._at)
