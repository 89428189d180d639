"""Checked access to JSON from untrusted files; each value knows its place in the file.

A wrong value is a ``ValueError`` ``{file}: {place in the file}: {reason}``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, NoReturn

from ..files.whole import json_message, read_whole
from .json_numbers import read_float


class Json:
    """A value in a JSON file.

    Args:
        value: the value, as ``json`` gives it.
        source: the name of the file, for messages.
        place: the place in the file, for messages, such as ``model.merges[1]``.

    >>> part = Json({"type": "Digits"}, "tokenizer.json", "pre_tokenizer")
    >>> part["type"].text()
    'Digits'
    >>> part["individual_digits"]
    Traceback (most recent call last):
    ValueError: tokenizer.json: pre_tokenizer: there is no 'individual_digits'
    """

    __slots__ = ("place", "source", "value")

    def __init__(self, value: Any, source: str, place: str = "") -> None:
        self.value = value
        self.source = source
        self.place = place

    def fail(self, reason: str) -> NoReturn:
        """Raise ``ValueError`` for this value."""
        raise ValueError(": ".join(filter(None, (self.source, self.place, reason))))

    def __getitem__(self, key: str) -> Json:
        """Return a required member; its value may be null."""
        member = self.get(key, needed=True)
        return Json(None, self.source, self._place_of(key)) if member is None else member

    def get(self, key: str, *, needed: bool = False) -> Json | None:
        """Return a member; None if it is null or, unless ``needed``, missing."""
        members = self.mapping()
        if needed and key not in members:
            self.fail(f"there is no {key!r}")
        value = members.get(key)
        return None if value is None else Json(value, self.source, self._place_of(key))

    def _place_of(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key

    def items(self, place: str | None = None) -> Iterator[Json]:
        """Yield the items of a list; ``place`` is the list's name in messages."""
        place = self.place if place is None else place
        for number, item in enumerate(self.sequence()):
            yield Json(item, self.source, f"{place}[{number}]")

    def mapping(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            self.fail(f"must be an object, not {_kind(self.value)}")
        return self.value

    def sequence(self) -> list[Any]:
        if not isinstance(self.value, list):
            self.fail(f"must be a list, not {_kind(self.value)}")
        return self.value

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.fail(f"must be a string, not {_kind(self.value)}")
        if not is_unicode(self.value):
            self.fail("has a lone surrogate")
        return self.value

    def truth(self) -> bool:
        if not isinstance(self.value, bool):
            self.fail(f"must be true or false, not {_kind(self.value)}")
        return self.value

    def number(self) -> int:
        if type(self.value) is not int:  # a bool is an int to isinstance()
            self.fail(f"must be an integer, not {_kind(self.value)}")
        return self.value


def _fail_constant(name: str) -> NoReturn:
    raise ValueError(f"not JSON: {name} is no number there")


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    numbers = {int: "an integer", float: "a float"}
    return {**names, **numbers}.get(type(value), "null")


def is_unicode(text: str) -> bool:
    """Return True if a text has no surrogates."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_json(path: str | os.PathLike[str]) -> Json:
    """Read a JSON file.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not JSON, or it is too large.
    """
    return parse_json(read_whole(path), os.fspath(path))


def parse_json(data: bytes, source: str) -> Json:
    """Parse the content of a JSON file; ``source`` is its name in messages.

    Raises:
        ValueError: as in ``read_json``.

    >>> parse_json(b'{"a": 1', "cut.json")
    Traceback (most recent call last):
    ValueError: cut.json: line 1: not JSON: Expecting ',' delimiter: line 1 column 8 (char 7)
    """

    try:
        text = data.decode("utf-8")
        value = json.loads(text, parse_float=read_float, parse_constant=_fail_constant)
        return Json(value, source)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{source}: line {line}: not UTF-8: {error.reason}") from None
    except json.JSONDecodeError as error:
        message = json_message(str(error))
        raise ValueError(f"{source}: line {error.lineno}: not JSON: {message}") from None
    except ValueError as error:  # also an integer of thousands of digits
        raise ValueError(f"{source}: {error}") from None
    except RecursionError:
        raise ValueError(f"{source}: nested too deeply") from None
