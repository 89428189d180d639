"""Parameters of requests, checked as they are read; an error names the field."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeVar

from ..unicode.text import did_you_mean
from .errors import RpcError, invalid

_Default = TypeVar("_Default")

#: Fields that the protocol allows in the parameters of every request.
_OF_EVERY_REQUEST = {"workDoneToken", "partialResultToken"}
#: The greatest integer of the protocol.
GREATEST = (1 << 31) - 1

#: The most characters of a wrong value in a message.
_SHOWN = 40


def in_json(value: object) -> str:
    """Return a wrong value as the user has written it: in JSON, or what it is if it has parts.

    >>> in_json(None), in_json("ten"), in_json([1, 2])
    ('null', '"ten"', 'a list')
    """
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


class Params:
    """A JSON object whose fields are read with a check.

    Args:
        value: the object; anything else is an error.
        path: its name in messages; empty for the parameters as a whole.

    >>> params = Params({"limit": "ten"})
    >>> params.number("limit")
    Traceback (most recent call last):
    compat_bpe.lsp.errors.RpcError: limit: it must be a whole number from 0 to 2147483647, not "ten"
    """

    def __init__(self, value: object, path: str = "") -> None:
        if value == []:
            value = {}  # Lua writes an object without fields so
        if not isinstance(value, dict):
            raise invalid(
                path, f"{'it' if path else 'params'} must be an object, not {in_json(value)}"
            )
        self._fields: dict[str, Any] = value
        self._path = path
        self._known: set[str] = set()

    def __contains__(self, field: str) -> bool:
        """Return True if a field is there and not null."""
        self._known.add(field)
        return self._fields.get(field) is not None

    def path(self, field: str) -> str:
        """Return the name of a field in messages."""
        return f"{self._path}.{field}" if self._path else field

    def wrong(self, field: str, reason: str) -> RpcError:
        """Return the error for a field."""
        return invalid(self.path(field), reason)

    def get(self, field: str) -> Any:
        """Return a field that must be there, as it is."""
        if field not in self:
            raise self.wrong(field, "it is missing")
        return self._fields[field]

    def inner(self, field: str) -> Params:
        """Return a field that must be an object."""
        return Params(self.get(field), self.path(field))

    def array(self, field: str) -> list[Any]:
        """Return a field that must be an array."""
        value = self.get(field)
        if not isinstance(value, list):
            raise self.wrong(field, f"it must be a list, not {in_json(value)}")
        return value

    def objects(self, field: str) -> list[Params]:
        """Return a field that must be an array of objects."""
        path = self.path(field)
        return [Params(item, f"{path}[{at}]") for at, item in enumerate(self.array(field))]

    def text(self, field: str) -> str:
        """Return a field that must be a string."""
        value = self.get(field)
        if not isinstance(value, str):
            raise self.wrong(field, f"it must be a string, not {in_json(value)}")
        return value

    def text_or(self, field: str, default: _Default) -> str | _Default:
        """Return a field that is a string if it is there."""
        return self.text(field) if field in self else default

    def number(self, field: str) -> int:
        """Return a field that must be a whole number, not negative."""
        value = self.get(field)
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # Lua and JavaScript know no others
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= GREATEST:
            reason = f"it must be a whole number from 0 to {GREATEST}, not {in_json(value)}"
            raise self.wrong(field, reason)
        return value

    def number_or(self, field: str, default: _Default) -> int | _Default:
        """Return a field that is a whole number if it is there."""
        return self.number(field) if field in self else default

    def real_or(self, field: str, default: float) -> float:
        """Return a field that is a number if it is there."""
        if field not in self:
            return default
        value = self._fields[field]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
            raise self.wrong(field, f"it must be a number, not {in_json(value)}")
        return value

    def flag_or(self, field: str, default: bool) -> bool:
        """Return a field that is true or false if it is there."""
        if field not in self:
            return default
        value = self._fields[field]
        if not isinstance(value, bool):
            raise self.wrong(field, f"it must be true or false, not {in_json(value)}")
        return value

    def choice_or(self, field: str, default: _Default, choices: Sequence[_Default]) -> _Default:
        """Return a field that is one of some strings if it is there."""
        if field not in self:
            return default
        value = self._fields[field]
        if value not in choices:
            names = ", ".join(map(str, choices))
            raise self.wrong(field, f"it must be one of {names}, not {in_json(value)}")
        return value  # type: ignore[no-any-return]

    def close(self) -> None:
        """Refuse fields that nobody has asked for: they are mistakes in writing."""
        for field in self._fields:
            if field not in self._known | _OF_EVERY_REQUEST:
                hint = did_you_mean(field, self._known)
                raise self.wrong(field, f"there is no such field{hint}")
