"""Messages of Protocol Buffers: fields, each a number, a wire type and a value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

#: The wire types: an integer, 8 bytes, bytes of any length, the two ends of a group, 4 bytes.
VARINT, FIXED64, BYTES, GROUP, GROUP_END, FIXED32 = range(6)
#: The deepest nesting of groups, which are obsolete.
_DEEPEST = 100


class Damaged(ValueError):
    """A message is damaged; the arguments are the reason and the place in bytes."""


class Field(NamedTuple):
    """A field of a message.

    Args:
        number, wire: its number and its wire type.
        value: an integer, or bytes; empty for a group, which is skipped.
        start, end: the place of the value.
    """

    number: int
    wire: int
    value: int | bytes
    start: int
    end: int


def read_field(data: bytes, at: int, end: int) -> Field:
    """Return the field at a place.

    Args:
        data: the file.
        at, end: the place of the field, and the end of its message.

    Raises:
        Damaged: the field reaches beyond the end, or is not valid.
    """
    number, wire, start = _read_tag(data, at, end)
    if wire == VARINT:
        value, after = read_varint(data, start, end)
        return Field(number, wire, value, start, after)
    if wire == GROUP:
        return Field(number, wire, b"", start, _skip_group(data, start, end, number))
    if wire == GROUP_END:
        raise Damaged("a group ends that did not begin", at)
    start, after = _span(data, start, end, wire)
    return Field(number, wire, data[start:after], start, after)


def read_fields(data: bytes, at: int, end: int) -> Iterator[Field]:
    """Yield the fields of a message, by ``read_field``."""
    while at < end:
        field = read_field(data, at, end)
        yield field
        at = field.end


def read_varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    """Return an integer of at most 64 bits, and the place after it.

    Raises:
        Damaged: the integer has no end, or more than ten bytes.
    """
    number = 0
    for shift in range(0, 70, 7):
        if at + shift // 7 >= end:
            raise Damaged("a number has no end", at)
        byte = data[at + shift // 7]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number & (1 << 64) - 1, at + shift // 7 + 1
    raise Damaged("a number is longer than 10 bytes", at)


def _read_tag(data: bytes, at: int, end: int) -> tuple[int, int, int]:
    tag, after = read_varint(data, at, end)
    if after - at > 5 or tag >> 32 or not tag >> 3 or tag & 7 > FIXED32:
        raise Damaged("the number or type of a field is not valid", at)
    return tag >> 3, tag & 7, after


def _span(data: bytes, at: int, end: int, wire: int) -> tuple[int, int]:
    """Return the start and end of the bytes of a field."""
    start, size = at, 8 if wire == FIXED64 else 4
    if wire == BYTES:
        size, start = read_varint(data, at, end)
        if start - at > 5:
            raise Damaged("the length of a field is longer than 5 bytes", at)
    if size > end - start:
        raise Damaged("a field is longer than its message", at)
    return start, start + size


def _skip_group(data: bytes, at: int, end: int, number: int) -> int:
    open_groups = [number]
    while open_groups:
        start = at
        number, wire, at = _read_tag(data, at, end)
        if wire == GROUP:
            open_groups.append(number)
            if len(open_groups) > _DEEPEST:
                raise Damaged("groups are nested too deep", start)
        elif wire == GROUP_END:
            if open_groups.pop() != number:
                raise Damaged("a group ends that did not begin", start)
        elif wire == VARINT:
            _, at = read_varint(data, at, end)
        else:
            _, at = _span(data, at, end, wire)
    return at


def write_varint(number: int) -> bytes:
    """Return the bytes of an integer; a negative one is in two's complement of 64 bits.

    >>> write_varint(300)
    b'\\xac\\x02'
    """
    number &= (1 << 64) - 1
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    data.append(number)
    return bytes(data)


def write_field(number: int, wire: int, value: int | bytes) -> bytes:
    """Return the bytes of a field."""
    tag = write_varint(number << 3 | wire)
    if isinstance(value, int):
        return tag + write_varint(value)
    return tag + (write_varint(len(value)) if wire == BYTES else b"") + value
