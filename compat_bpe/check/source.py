"""A file of configuration as it was written: its tables, and the line of each value."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ..files.whole import read_whole
from ..unicode.text import did_you_mean
from .rules import Place
from .toml_spans import Span, Way, line_of_long_key, parse_toml, toml_spans

NAME = ".compat-bpe.toml"
PYPROJECT = "pyproject.toml"

#: The largest configuration, in bytes.
_SIZE_LIMIT = 1 << 20

#: The tables that are about budgets, from the top of a file.
_WAY_IN_PYPROJECT = ("tool", "compat-bpe", "check")
_WAY = ("check",)

#: The most parts of a key. Parsers go through all of them each time: many would take minutes.
_MOST_PARTS = 100


class ConfigurationError(ValueError):
    """A fault of a configuration: ``FILE:LINE: what is wrong, and what to write``."""


class Source:
    """A file of configuration.

    Args:
        path: the file.
        text: its content.

    Raises:
        ConfigurationError: it is no TOML, or the package that reads TOML is missing.
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
            raise ConfigurationError(f"{path}: no TOML: {error}") from None
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
            # Only a part of a header says it, as the "a" in [a.b] does.
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
        ConfigurationError: it is no table.
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

    @property
    def file(self) -> str:
        return self._source.path

    def place_of(self, key: str) -> Place:
        """Return the place of the value of a key."""
        return self._source.place((*self._way, key))

    def error(self, key: str | None, message: str) -> ConfigurationError:
        """Return the error to raise for the value of a key; None is for the table itself."""
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
            raise self.error(key, f"{key} is a text that is not empty: {key} = {example}")
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
            raise self.error(key, f"{key} is a list of texts: {key} = {example}")
        return tuple(value)

    def integer(self, key: str, least: int, most: int, example: str) -> int | None:
        """Return a whole number of a range; None if it is not there."""
        value = self.get(key)
        if value is None:
            return None
        # True and False are numbers to Python.
        if type(value) is not int or not least <= value <= most:
            raise self.error(key, f"{key} is {example}, not {shown(value)}")
        return value

    def flag(self, key: str) -> bool | None:
        """Return true or false; None if it is not there."""
        value = self.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.error(key, f"{key} is true or false, not {shown(value)}")
        return value

    def tables(self, key: str) -> list[Table]:
        """Return a list of tables; empty if it is not there."""
        value = self.get(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            header = ".".join(str(part) for part in self._way if isinstance(part, str))
            raise self.error(key, f"{key} is a list of tables: write [[{header}.{key}]]")
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
        return "a number of so many digits"
    try:
        text = repr(value)
    except ValueError:  # Python writes no number of more than 4,300 digits
        return "something with a number of so many digits"
    return text if len(text) <= 40 else text[:37] + "..."


def read_source(path: str) -> Source:
    """Read a file of configuration.

    Raises:
        OSError: it cannot be read.
        ConfigurationError: it is too large, not UTF-8 or no TOML.
    """
    try:
        return Source(path, read_whole(path, _SIZE_LIMIT).decode("utf-8"))
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path}: not UTF-8, as TOML has to be") from None
    except ConfigurationError:
        raise
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
