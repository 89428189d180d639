"""A configuration file: finding it, reading its tables, and the place of each value in its text."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple, Union

from ..files.ignore import GIT
from ..files.whole import read_whole
from ..unicode.text import did_you_mean

#: The way to a value: keys of tables, and indexes of arrays.
Way = tuple[Union[str, int], ...]


class Place(NamedTuple):
    """The place of a value in a configuration: the file, its line, and the way to the value."""

    file: str
    line: int
    way: Way


_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
#: Quoted text, of several lines or of one.
_LINES = r'"""(?:[^\\]|\\[\s\S])*?"{3,5}(?!")' + r"|'''[\s\S]*?'{3,5}(?!')"
_LINE = r'"(?:[^"\\\n]|\\.)*"' + r"|'[^'\n]*'"
_STRING = re.compile(f"{_LINES}|{_LINE}")
#: A piece of any text: a part of a key or of a value, a dot, space, or what ends a key. Nothing
#: matches three quotation marks that are not closed, so their end is searched for only once.
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
        ValueError: the text is not TOML; the message has the line.
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
        """Return the way to the keys of a header; in an array of tables they mean its last one."""
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


NAME = ".compat-bpe.toml"
PYPROJECT = "pyproject.toml"

#: The largest configuration, in bytes.
_SIZE_LIMIT = 1 << 20

#: The tables that are about budgets, from the top of a file.
_WAY_IN_PYPROJECT = ("tool", "compat-bpe", "check")
_WAY = ("check",)

#: The most parts of a key. Parsers go through all parts for each one, so many would take minutes.
_MOST_PARTS = 100


class ConfigurationError(ValueError):
    """A fault of a configuration: ``FILE:LINE:``, the fault, and the correction."""


class Source:
    """A file of configuration.

    Args:
        path: the file.
        text: its content.

    Raises:
        ConfigurationError: it is not TOML, or the package that reads TOML is missing.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        is_pyproject = os.path.basename(path) == PYPROJECT
        self._way: Way = _WAY_IN_PYPROJECT if is_pyproject else _WAY
        line = line_of_long_key(text, _MOST_PARTS)
        if line is not None:
            raise ConfigurationError(
                f"{path}:{line}: a key of more than {_MOST_PARTS} parts; write a table"
            )
        try:
            value: Any = parse_toml(text)
        except ModuleNotFoundError:
            if not is_pyproject or "compat-bpe" in text:
                raise ConfigurationError(
                    f"{path}: to read TOML, Python below 3.11 needs a package: pip install tomli"
                ) from None
            value = {}
        except (ValueError, RecursionError) as error:
            raise ConfigurationError(f"{path}: invalid TOML: {error}") from None
        self._spans: dict[Way, Span] | None = None
        for number, key in enumerate(self._way):
            if not isinstance(value, dict):
                header = ".".join(map(str, self._way[:number]))
                raise self.error(self._way[:number], f"write a table: [{header}]")
            value = value.get(key)
            if value is None:
                break
        #: The table about budgets; None if there is none.
        self.table: Table | None = None
        if value is not None:
            self.table = Table(self, self._way, value)

    @property
    def header(self) -> str:
        """The header of the table about budgets, without brackets."""
        return ".".join(map(str, self._way))

    @property
    def spans(self) -> dict[Way, Span]:
        """The place of each value."""
        if self._spans is None:
            self._spans = toml_spans(self.text)
        return self._spans

    def place(self, way: Way) -> Place:
        """Return the place of a value, or that of the nearest table around it with a place."""
        known = way
        while known and known not in self.spans:
            known = known[:-1]
        if not known:
            # It is named only as a part of a header, as "a" is in [a.b].
            lines = [span.line for one, span in self.spans.items() if one[: len(way)] == way]
            return Place(self.path, min(lines, default=1), way)
        return Place(self.path, self.spans[known].line, way)

    def error(self, way: Way, message: str) -> ConfigurationError:
        """Return the error to raise for a value."""
        return ConfigurationError(f"{self.path}:{self.place(way).line}: {message}")


class Table:
    """A table of a configuration.

    Args:
        source: its file.
        way: the way to it.
        value: its content.

    Raises:
        ConfigurationError: it is not a table.
    """

    def __init__(self, source: Source, way: Way, value: object) -> None:
        self._source = source
        self._way = way
        if not isinstance(value, dict):
            raise source.error(way, f"{way[-1]!r} is not a table; write a table of keys and values")
        self._value: dict[str, Any] = value

    @property
    def place(self) -> Place:
        return self._source.place(self._way)

    def place_of(self, key: str) -> Place:
        """Return the place of the value of a key."""
        return self._source.place((*self._way, key))

    def error(self, key: str | None, message: str) -> ConfigurationError:
        """Return the error to raise for the value of a key, or with None for the table itself."""
        return self._source.error(self._way if key is None else (*self._way, key), message)

    def check_keys(self, known: Iterable[str]) -> None:
        """Raise ``ConfigurationError`` if there is a key that is not known."""
        known = list(known)
        for key in self._value:
            if key not in known:
                close = did_you_mean(key, known)
                names = "" if close else f"; the keys are {', '.join(known)}"
                raise self.error(key, f"there is no key {key!r}{close}{names}")

    def get(self, key: str) -> Any:
        """Return a value; None if it is not there."""
        return self._value.get(key)

    def text(self, key: str, example: str) -> str | None:
        """Return a text that is not empty; None if it is not there."""
        value = self.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self.error(
                key, f"{key} must be a text that is not empty, as in {key} = {example}"
            )
        return value

    def texts(self, key: str, example: str) -> tuple[str, ...]:
        """Return a list of texts; empty if it is not there."""
        value = self.get(key)
        if value is None:
            return ()
        if (
            not isinstance(value, list)
            or not value
            or not all(isinstance(item, str) and item.strip() for item in value)
        ):
            raise self.error(key, f"{key} must be a list of texts, as in {key} = {example}")
        return tuple(value)

    def integer(self, key: str, least: int, most: int, example: str) -> int | None:
        """Return a whole number of a range; None if it is not there."""
        value = self.get(key)
        if value is None:
            return None
        # True and False are numbers to Python.
        if type(value) is not int or not least <= value <= most:
            raise self.error(key, f"{key} must be {example}, not {shown(value)}")
        return value

    def flag(self, key: str) -> bool | None:
        """Return true or false; None if it is not there."""
        value = self.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.error(key, f"{key} must be true or false, not {shown(value)}")
        return value

    def tables(self, key: str) -> list[Table]:
        """Return a list of tables; empty if it is not there."""
        value = self.get(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            header = ".".join(str(part) for part in self._way if isinstance(part, str))
            raise self.error(key, f"{key} must be a list of tables: write [[{header}.{key}]]")
        return [
            Table(self._source, (*self._way, key, number), item)
            for number, item in enumerate(value)
        ]


def shown(value: object) -> str:
    """Return a value as a message shows it: shortened if it is long.

    >>> shown("5k"), shown("a" * 100)
    ("'5k'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...")
    """
    if isinstance(value, int) and abs(value) > 10**30:
        return "a number with too many digits"
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "a value with a number with too many digits"
    return text if len(text) <= 40 else text[:37] + "..."


def read_source(path: str) -> Source:
    """Read a file of configuration.

    Raises:
        OSError: it cannot be read.
        ConfigurationError: it is too large, not UTF-8 or not TOML.
    """
    try:
        return Source(path, read_whole(path, _SIZE_LIMIT).decode("utf-8"))
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path}: not UTF-8; TOML must be UTF-8") from None
    except ConfigurationError:
        raise
    except ValueError as error:
        raise ConfigurationError(str(error)) from None


def find_configuration(start: str) -> Source | None:
    """Return the nearest configuration in a folder or above it, up to the top of its repository.

    Outside a repository, the search goes up to the root. In one folder, ``.compat-bpe.toml`` comes
    before ``pyproject.toml``; files without budgets are passed over.

    Raises:
        OSError, ConfigurationError: a file on the way cannot be read, or is not TOML.
    """
    for folder in _upward(os.path.abspath(start)):
        for name in (NAME, PYPROJECT):
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                top = os.path.realpath(top_of_repository(folder) or folder)
                if not os.path.realpath(path).startswith(os.path.join(top, "")):
                    raise ConfigurationError(
                        f"{path}: a link that leads outside {top}; name its target with --config"
                    )
                source = read_source(path)
                if source.table is not None:
                    return source
    return None


def top_of_repository(folder: str) -> str | None:
    """Return the folder of the repository that a folder is in; None if it is in none."""
    return next((one for one in _upward(folder) if os.path.lexists(os.path.join(one, GIT))), None)


def _upward(folder: str) -> Iterator[str]:
    """Yield a folder and those above it, up to the first with a repository."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder or os.path.lexists(os.path.join(folder, GIT)):
            return
        folder = parent
