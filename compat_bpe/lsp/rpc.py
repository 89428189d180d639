"""JSON-RPC over a pair of byte streams: errors, checked parameters, and messages on the wire.

A message is a header with its length, then JSON in UTF-8.
"""

from __future__ import annotations

import json
import re
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, BinaryIO, TypeVar

from ..files.checked import Checked
from ..files.whole import json_message
from ..unicode.text import brief, did_you_mean

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
REQUEST_CANCELLED = -32800
CONTENT_MODIFIED = -32801


class RpcError(Exception):
    """An error that is the answer to a request.

    Args:
        code: its number in the protocol.
        message: a sentence for people.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def invalid(field: str, reason: str) -> RpcError:
    """Return the error for a parameter that is wrong.

    >>> invalid("limit", "it must be a number").message
    'limit: it must be a number'
    """
    return RpcError(INVALID_PARAMS, f"{field}: {reason}" if field else reason)


_Default = TypeVar("_Default")

#: Fields that the protocol allows in the parameters of every request.
_OF_EVERY_REQUEST = {"workDoneToken", "partialResultToken"}
#: The greatest integer of the protocol.
GREATEST = (1 << 31) - 1

#: The most characters of a wrong value in a message.
_SHOWN = 40


def in_json(value: object) -> str:
    """Return a wrong value as the user has written it: in JSON, or its kind if it has parts.

    >>> in_json(None), in_json("ten"), in_json([1, 2])
    ('null', '"ten"', 'a list')
    """
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


class Param(Checked):
    """A value among the parameters of a message."""

    __slots__ = ()
    subject = "it "

    def error(self, reason: str) -> RpcError:
        return invalid(self.place, reason)

    def shown(self) -> str:
        return in_json(self.value)

    def number(self) -> int:
        value = self.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # Lua and JavaScript know no others
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= GREATEST:
            self.wrong(f"a whole number from 0 to {GREATEST}")
        return value

    def real(self) -> float:
        """Return a number that is not NaN."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
            self.wrong("a number")
        return value


class Params:
    """A JSON object whose fields are read with a check.

    Args:
        value: the object; anything else is an error.
        path: its name in messages; empty for the parameters as a whole.

    >>> params = Params({"limit": "ten"})
    >>> params.number("limit")
    Traceback (most recent call last):
    compat_bpe.lsp.rpc.RpcError: limit: it must be a whole number from 0 to 2147483647, not "ten"
    """

    def __init__(self, value: object, path: str = "") -> None:
        if value == []:
            value = {}  # Lua writes an object without fields so
        if not path and not isinstance(value, dict):
            raise invalid("", f"params must be an object, not {in_json(value)}")
        self._whole = Param(value, path)
        self._fields = self._whole.mapping()
        self._known: set[str] = set()

    def __contains__(self, field: str) -> bool:
        """Return True if a field is there and not null."""
        self._known.add(field)
        return self._fields.get(field) is not None

    def wrong(self, field: str, reason: str) -> RpcError:
        """Return the error for a field."""
        return self._whole.member(field).error(reason)

    def _field(self, field: str) -> Param:
        """Return a field that must be there."""
        if field not in self:
            raise self.wrong(field, "it is missing")
        return self._whole.member(field)

    def get(self, field: str) -> Any:
        """Return a field that must be there, as it is."""
        return self._field(field).value

    def inner(self, field: str) -> Params:
        """Return a field that must be an object."""
        one = self._field(field)
        return Params(one.value, one.place)

    def array(self, field: str) -> list[Any]:
        """Return a field that must be an array."""
        return self._field(field).sequence()

    def objects(self, field: str) -> list[Params]:
        """Return a field that must be an array of objects."""
        return [Params(one.value, one.place) for one in self._field(field).items()]

    def text(self, field: str) -> str:
        """Return a field that must be a string."""
        return self._field(field).text()

    def text_or(self, field: str, default: _Default) -> str | _Default:
        """Return a field that is a string if it is there."""
        return self.text(field) if field in self else default

    def number(self, field: str) -> int:
        """Return a field that must be a whole number, not negative."""
        return self._field(field).number()

    def number_or(self, field: str, default: _Default) -> int | _Default:
        """Return a field that is a whole number if it is there."""
        return self.number(field) if field in self else default

    def real_or(self, field: str, default: float) -> float:
        """Return a field that is a number if it is there."""
        return self._field(field).real() if field in self else default

    def flag_or(self, field: str, default: bool) -> bool:
        """Return a field that is true or false if it is there."""
        return self._field(field).truth() if field in self else default

    def choice_or(self, field: str, default: _Default, choices: Sequence[_Default]) -> _Default:
        """Return a field that is one of some strings if it is there."""
        if field not in self:
            return default
        one = self._field(field)
        if one.value not in choices:
            one.wrong(f"one of {', '.join(map(str, choices))}")
        return one.value  # type: ignore[no-any-return]

    def close(self) -> None:
        """Refuse fields that were not asked for: they are misspelt."""
        for field in self._fields:
            if field not in self._known | _OF_EVERY_REQUEST:
                hint = did_you_mean(field, self._known)
                raise self.wrong(field, f"there is no such field{hint}")


def error_as_json(error: Exception) -> dict[str, Any]:
    """Return an error as it is sent; also print it if it is a bug of the server."""
    if isinstance(error, RpcError):
        return {"code": error.code, "message": brief(error.message)}
    _log("".join(traceback.format_exception(type(error), error, error.__traceback__)))
    return {"code": INTERNAL_ERROR, "message": brief(f"{type(error).__name__}: {error}")}


def _log(text: str) -> None:
    with suppress(OSError, ValueError):  # nobody reads it: the session goes on
        print(text, file=sys.stderr)


def is_id(number: object) -> bool:
    """Return True if a value can be the number of a request."""
    return isinstance(number, (int, str)) and not isinstance(number, bool)


def uri_in(params: Any) -> Any:
    """Return the URI of the document that parameters are about, if there is one."""
    if isinstance(params, dict):
        identifier = params.get("textDocument")
        if isinstance(identifier, dict) and isinstance(identifier.get("uri"), str):
            return identifier["uri"]
        arguments = params.get("arguments")
        if isinstance(arguments, list) and arguments and isinstance(arguments[0], str):
            return arguments[0]
    return None


#: The greatest length of a message in bytes. 50 MB of text may take 300 MB as JSON.
LONGEST = 1 << 30
#: The greatest length of a line of a header.
_LONGEST_LINE = 1 << 13
#: The bytes of too long a message that are read at a time, and dropped.
_PORTION = 1 << 20

#: At the end of a line, since the rest of a broken message may come before it.
_LENGTH = re.compile(rb"Content-Length:[ \t]*(\d{1,18})[ \t]*\r?\n\Z", re.IGNORECASE)
_OTHER_HEADER = re.compile(rb"Content-Type:", re.IGNORECASE)


class Disconnected(Exception):
    """The other side is gone."""


class Wire:
    """Two byte streams on which messages are read and written.

    Args:
        reader: the stream to read from; one thread reads.
        writer: the stream to write to; several threads may write.
    """

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self._reader = reader
        self._writer = writer
        self._lock = threading.Lock()

    def read(self) -> tuple[Any, int]:
        """Return the next message, and its length in bytes.

        Raises:
            Disconnected: there is none any more.
            RpcError: the input is not a message; the next message can still be read.
        """
        length = self._read_header()
        if length > LONGEST:
            while length > 0:
                length -= len(self._read_bytes(min(length, _PORTION)))
            raise RpcError(INVALID_REQUEST, f"a message of more than {LONGEST:,} bytes")
        data = self._read_bytes(length)
        try:
            # A byte that is not UTF-8 spoils one character, not the message.
            return json.loads(data.decode("utf-8", "replace")), length
        except (ValueError, RecursionError, MemoryError) as error:
            raise RpcError(
                PARSE_ERROR, f"a message is not JSON: {json_message(str(error))}"
            ) from None

    def write(self, message: dict[str, Any]) -> None:
        """Write a message.

        Raises:
            Disconnected: nobody reads it.
        """
        # Escapes also are the only form in which a surrogate can be sent.
        data = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
        try:
            with self._lock:
                self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
                self._writer.flush()
        except (OSError, ValueError):  # ValueError: the stream is closed
            raise Disconnected from None

    def _read_header(self) -> int:
        """Return the length of the next message; skip lines that are not a header."""
        length: int | None = None
        is_broken = False
        while True:
            try:
                line = self._reader.readline(_LONGEST_LINE)
            except (OSError, ValueError):
                raise Disconnected from None
            if not line:
                raise Disconnected
            if line in (b"\r\n", b"\n"):
                if length is not None:
                    break
                continue
            match = _LENGTH.search(line)
            if match is not None:
                length = int(match[1])
                is_broken = is_broken or match.start() > 0
            elif not _OTHER_HEADER.match(line):
                is_broken = True
        if is_broken:
            _log("compat-bpe lsp: input that is not a message was skipped")
        return length

    def _read_bytes(self, length: int) -> bytes:
        try:
            data = self._reader.read(length)
        except (OSError, ValueError):
            raise Disconnected from None
        if len(data) < length:
            raise Disconnected
        return data
