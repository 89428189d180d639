"""The entries of a file, checked: a value of the wrong type is an error that names its place."""

from __future__ import annotations

import os
from array import array
from collections.abc import Mapping
from typing import NoReturn

from .container import Entry, read_entries

#: The beginning of most keys that are about the vocabulary, and of all keys that are read.
_GGML = "tokenizer.ggml."
_KNOWN = ("tokenizer.", "general.", "split.")
#: Other keys that are looked at.
_OTHERS = frozenset(("general.architecture", "split.no"))


class Metadata:
    """The entries of a file that are about its vocabulary.

    ``tokens`` stands for ``tokenizer.ggml.tokens``, and so on.

    Args:
        entries: the entries by their keys.
        source: the name of the file, for messages.
    """

    def __init__(self, entries: Mapping[str, Entry], source: str) -> None:
        self.entries = entries
        self.source = source

    @classmethod
    def of_file(cls, path: str | os.PathLike[str]) -> Metadata:
        """Read a file.

        Raises:
            OSError: the file cannot be read.
            ValueError: it is damaged, or no GGUF file.
        """
        return cls(read_entries(path, _is_wanted), os.fspath(path))

    def fail(self, key: str, reason: str) -> NoReturn:
        """Raise ``ValueError`` for a value."""
        name = _full(key)
        entry = self.entries.get(name)
        place = "" if entry is None else f"byte {entry.place}: "
        raise ValueError(f"{self.source}: {place}{name}: {reason}")

    def fail_item(self, key: str, number: int, reason: str) -> NoReturn:
        """Raise ``ValueError`` for an item of a list of strings."""
        entry = self.entries[_full(key)]
        items = entry.value if isinstance(entry.value, list) else []
        before = sum(8 + len(item) for item in items[:number] if isinstance(item, bytes))
        place = entry.place + 12 + before
        raise ValueError(f"{self.source}: byte {place}: {_full(key)}[{number}]: {reason}")

    def text(self, key: str) -> str | None:
        """Return a text; None if there is none."""
        value = self._value(key)
        if value is None:
            return None
        if not isinstance(value, bytes):
            self.fail(key, "must be a string")
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            self.fail(key, f"is not UTF-8: {error.reason}")

    def truth(self, key: str) -> bool | None:
        """Return a truth; None if there is none."""
        value = self._value(key)
        if value is not None and not isinstance(value, bool):
            self.fail(key, "must be true or false")
        return value

    def number(self, key: str) -> int | None:
        """Return an integer; None if there is none."""
        value = self._value(key)
        if value is not None and type(value) is not int:
            self.fail(key, "must be an integer")
        return value if type(value) is int else None

    def numbers(self, key: str, codes: str) -> array[int] | array[float] | None:
        """Return numbers of one of the types of ``array``; None if there are none."""
        value = self._value(key)
        if value is None:
            return None
        if not isinstance(value, array) or value.typecode not in codes:
            self.fail(key, f"must be an array of numbers of the type {' or '.join(codes)}")
        return value

    def texts(self, key: str) -> list[str] | None:
        """Return a list of texts; None if there is none."""
        value = self._value(key)
        if value is None:
            return None
        if not isinstance(value, list):
            self.fail(key, "must be an array of strings")
        items = [item for item in value if isinstance(item, bytes)]
        if len(items) < len(value):
            self.fail(key, "must be an array of strings")
        if not items:
            return []
        try:
            texts = b"\0".join(items).decode().split("\0")
            # A token may have a NUL.
            return texts if len(texts) == len(items) else [item.decode() for item in items]
        except UnicodeDecodeError:
            for number, item in enumerate(items):
                try:
                    item.decode()
                except UnicodeDecodeError as error:
                    self.fail_item(key, number, f"is not UTF-8: {error.reason}")
            raise

    def _value(self, key: str) -> object:
        entry = self.entries.get(_full(key))
        return None if entry is None else entry.value


def _full(key: str) -> str:
    return key if key.startswith(_KNOWN) else _GGML + key


def _is_wanted(key: str) -> bool:
    return key.startswith("tokenizer.") or key in _OTHERS
