"""A value from outside that knows its place, and raises an error with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NoReturn, TypeVar

_Value = TypeVar("_Value", bound="Checked")


class Checked:
    """A value of JSON, and its place.

    Subclasses override ``error``, which makes the error, and ``shown``, the words for a value of
    the wrong kind.

    Args:
        value: the value.
        place: where it is, such as ``messages[2].content``; empty for the whole.

    >>> whole = Checked({"name": "a", "sizes": [1, "2"]})
    >>> whole.member("name").text()
    'a'
    >>> [size.number() for size in whole.member("sizes").items()]
    Traceback (most recent call last):
    ValueError: sizes[1]: must be an integer, not a string
    """

    __slots__ = ("place", "value")

    #: The name of the value in messages, with a space; empty if its place is enough.
    subject: ClassVar[str] = ""
    #: The kinds of values, in the words of messages.
    kinds: ClassVar[Mapping[type, str]] = {
        dict: "an object",
        list: "a list",
        str: "a string",
        bool: "true or false",
        int: "an integer",
        float: "a float",
        type(None): "null",
    }

    def __init__(self, value: Any, place: str = "") -> None:
        self.value = value
        self.place = place

    def error(self, reason: str) -> Exception:
        """Return the error for this value."""
        return ValueError(f"{self.place}: {reason}" if self.place else reason)

    def fail(self, reason: str) -> NoReturn:
        """Raise the error for this value."""
        raise self.error(reason)

    def wrong(self, expected: str) -> NoReturn:
        """Raise the error for a value of the wrong kind."""
        self.fail(f"{self.subject}must be {expected}, not {self.shown()}")

    def shown(self) -> str:
        """Return the words for the value in a message, such as its kind."""
        return self.kinds.get(type(self.value)) or f"a {type(self.value).__name__}"

    def inner(self: _Value, value: Any, place: str) -> _Value:
        """Return a value within this one."""
        return type(self)(value, place)

    def member(self: _Value, key: str) -> _Value:
        """Return a member of an object; its value is None if it is missing."""
        return self.inner(self.mapping().get(key), f"{self.place}.{key}" if self.place else key)

    def items(self: _Value, place: str | None = None) -> Iterator[_Value]:
        """Yield the items of a list; ``place`` is the list's name in messages."""
        place = self.place if place is None else place
        for number, item in enumerate(self.sequence()):
            yield self.inner(item, f"{place}[{number}]")

    def mapping(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            self.wrong("an object")
        return self.value

    def sequence(self) -> list[Any]:
        if not isinstance(self.value, list):
            self.wrong("a list")
        return self.value

    def text(self) -> str:
        if not isinstance(self.value, str):
            self.wrong("a string")
        return self.value

    def truth(self) -> bool:
        if not isinstance(self.value, bool):
            self.wrong("true or false")
        return self.value

    def number(self) -> int:
        if type(self.value) is not int:  # a bool is an int to isinstance()
            self.wrong("an integer")
        return self.value
