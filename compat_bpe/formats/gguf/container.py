"""The container: a head, then keys with their values; the weights behind them are not touched.

A file begins with ``GGUF``, the version (32 bits), the numbers of tensors and of keys (64 bits
each). Then comes each key as a string, the type of its value (32 bits), and the value. A string is
its length in bytes (64 bits) and its UTF-8; an array is the type of its items, their number (64
bits), and the items. Numbers are in the byte order of the machine that the file is for.

Source: ``docs/gguf.md`` of ggml, and gguf 0.19.0 (``gguf/constants.py``).
"""

from __future__ import annotations

import os
import struct
import sys
from array import array
from collections.abc import Callable
from typing import BinaryIO, NamedTuple, NoReturn, Union

from ...files.whole import SIZE_LIMIT, open_regular

#: A value in a file. Numbers in an array are in an ``array``; truths there are bytes.
Value = Union[bool, int, float, bytes, list["Value"], "array[int]", "array[float]"]

MAGIC = b"GGUF"
#: The types of values that are no numbers.
BOOL, STRING, ARRAY = 7, 8, 9
#: The types that are numbers, each with its code in ``struct`` and ``array``.
NUMBERS = dict(zip((*range(7), BOOL, 10, 11, 12), "BbHhIifBQqd"))
_SIZES = {kind: struct.calcsize("<" + code) for kind, code in NUMBERS.items()}

#: The longest key, in bytes; also the limit of the format.
_LONGEST_KEY = (1 << 16) - 1
#: The most strings and arrays that all arrays of a file may have together. The largest
#: vocabularies have some 800,000 tokens and merges.
_MOST_ITEMS = 1 << 22
#: The most keys of a file. Known files have less than a hundred.
_MOST_KEYS = 1 << 16
#: The deepest that arrays may be within each other, and the most of these. Known files have none
#: within another, and llama.cpp refuses them.
_DEEPEST = 4
_MOST_NESTED = 1 << 16
#: The number of bytes that are read at a time.
_BLOCK = 1 << 18


class Entry(NamedTuple):
    """A value, and the place of it in the file, in bytes."""

    value: Value
    place: int


def read_entries(
    path: str | os.PathLike[str], is_wanted: Callable[[str], bool] = lambda key: True
) -> dict[str, Entry]:
    """Return what a GGUF file says by keys; the weights are neither read nor looked for.

    Args:
        path: the file.
        is_wanted: says by the key which values are kept.

    Raises:
        OSError: the file cannot be read.
        ValueError: ``{file}: byte {place}: {reason}``. It is no GGUF file, is damaged, or is larger
            than any known one.
    """
    source = os.fspath(path)
    with open_regular(source) as file:
        return _Reader(file, source).entries(is_wanted)


class _Reader:
    """A reader of a file from its beginning to the end of the last value.

    Args:
        file: the file.
        source: its name, for messages.
    """

    def __init__(self, file: BinaryIO, source: str) -> None:
        self._file = file
        self._source = source
        self._size = os.fstat(file.fileno()).st_size
        #: A stretch of the file, where it begins, and the next place to read within it.
        self._data = b""
        self._begin = 0
        self._at = 0
        self._order = "<"
        self._items = 0
        self._nested = 0

    def entries(self, is_wanted: Callable[[str], bool]) -> dict[str, Entry]:
        """Return the wanted values by their keys."""
        count = self._head()
        kept: dict[str, Entry] = {}
        keys: set[str] = set()
        for _ in range(count):
            place = self._place
            key = self._key()
            if key in keys:
                self._fail(f"the key {key!r} comes twice", place)
            keys.add(key)
            kind = self._number("I")
            place = self._place
            wanted = is_wanted(key)
            value = self._value(kind, wanted, 0)
            if wanted:
                kept[key] = Entry(value, place)
        return kept

    def _head(self) -> int:
        """Read what comes before the keys, and return their number."""
        if self._take(4) != MAGIC:
            self._fail("it is no GGUF file", 0)
        data = self._take(4)
        version = int.from_bytes(data, "little")
        if version & 0xFFFF == 0:
            self._order = ">"
            version = int.from_bytes(data, "big")
        if version not in (2, 3):
            self._fail(f"version {version} of GGUF is not known, only 2 and 3", 4)
        self._number("Q")  # the number of tensors
        place = self._place
        count = self._number("Q")
        # A key takes at least its length, its type and a byte.
        if count > min(_MOST_KEYS, (self._size - self._place) // 13):
            self._fail(f"{count} keys are more than it has room for, or than any file has", place)
        return count

    def _key(self) -> str:
        place = self._place
        length = self._number("Q")
        if not 0 < length <= _LONGEST_KEY:
            self._fail(f"a key of {length} bytes is none", place)
        try:
            return self._take(length).decode()
        except UnicodeDecodeError as error:
            self._fail(f"the key is not UTF-8: {error.reason}", place + 8 + error.start)

    def _value(self, kind: int, wanted: bool, depth: int) -> Value:
        if kind == STRING:
            place = self._place
            return self._take(self._room(self._number("Q"), 1, place))
        if kind == ARRAY:
            return self._array(wanted, depth + 1)
        if kind not in NUMBERS:
            self._fail(f"there is no type {kind} of values", self._place - 4)
        (value,) = struct.unpack(self._order + NUMBERS[kind], self._take(_SIZES[kind]))
        return bool(value) if kind == BOOL else value

    def _array(self, wanted: bool, depth: int) -> Value:
        if depth > _DEEPEST:
            self._fail(f"arrays are nested more than {_DEEPEST} deep", self._place)
        kind = self._number("I")
        place = self._place
        count = self._number("Q")
        if kind in NUMBERS:
            return self._numbers(kind, self._room(count, _SIZES[kind], place), wanted)
        if kind not in (STRING, ARRAY):
            self._fail(f"there is no type {kind} of values", place - 4)
        self._room(count, 8 if kind == STRING else 12, place)
        if kind == ARRAY:
            self._nested += count
            if self._nested > _MOST_NESTED:
                self._fail(f"its arrays have more than {_MOST_NESTED:,} arrays", place)
        self._items += count
        if self._items > _MOST_ITEMS:
            self._fail(f"its arrays have more than {_MOST_ITEMS:,} strings", place)
        if kind == STRING:
            return self._strings(count, wanted)
        values = [self._array(wanted, depth + 1) for _ in range(count)]
        return values if wanted else []

    def _numbers(self, kind: int, size: int, wanted: bool) -> Value:
        numbers: array[float] = array(NUMBERS[kind])
        if not wanted:
            self._take(size)
            return numbers
        if numbers.itemsize != _SIZES[kind]:
            self._fail("this machine's numbers are of other sizes", self._place)
        numbers.frombytes(self._take(size))
        if (self._order == "<") != (sys.byteorder == "little"):
            numbers.byteswap()
        return numbers

    def _strings(self, count: int, wanted: bool) -> list[Value]:
        """Read strings; in the usual case without a call for each."""
        strings: list[Value] = []
        add = strings.append if wanted else len
        unpack = struct.Struct(self._order + "Q").unpack_from
        left = count
        while left:
            data, at = self._data, self._at
            end = len(data)
            while left:
                start = at + 8
                if start > end:
                    break
                stop = start + unpack(data, at)[0]
                if stop > end:
                    break
                add(data[start:stop])
                at = stop
                left -= 1
            self._at = at
            if left:  # It is not in the stretch as a whole.
                place = self._place
                add(self._take(self._room(self._number("Q"), 1, place)))
                left -= 1
        return strings

    @property
    def _place(self) -> int:
        return self._begin + self._at

    def _number(self, code: str) -> int:
        number: int
        (number,) = struct.unpack(self._order + code, self._take(8 if code == "Q" else 4))
        return number

    def _room(self, count: int, size: int, place: int) -> int:
        """Return the number of bytes that some items take; the file must have as many."""
        if count * size > self._size - self._place:
            self._fail(f"{count} items are more than the file has room for", place)
        return count * size

    def _take(self, size: int) -> bytes:
        """Return the next bytes."""
        at = self._at
        self._at += size
        if self._at <= len(self._data):
            return self._data[at : self._at]
        place = self._begin + at
        if place + size > self._size:
            self._fail("the file ends in the middle of a value", place)
        if place + size > SIZE_LIMIT:
            self._fail(f"what comes before the weights is larger than {SIZE_LIMIT:,} bytes", place)
        # The rest of the stretch goes before the next one.
        rest = self._data[at:]
        self._data = rest + self._file.read(max(_BLOCK, size) - len(rest))
        self._begin, self._at = place, size
        if size > len(self._data):
            self._fail("the file ends in the middle of a value", place)
        return self._data[:size]

    def _fail(self, reason: str, place: int) -> NoReturn:
        raise ValueError(f"{self._source}: byte {place}: {reason}")
