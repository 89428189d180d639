"""Read what a GGUF file says of itself, its vocabulary above all; the tensors are not read.

The format: ``GGUF``, a version, the numbers of tensors and of entries, then the entries: each a
key, the type of its value, and the value. All is little-endian.
"""

from __future__ import annotations

import struct
import sys
from array import array
from pathlib import Path
from typing import NamedTuple, Union

Numbers = Union["array[int]", "array[float]"]
Value = Union[float, str, list[str], Numbers]

_NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_STRING = 8
_ARRAY = 9


class Vocabulary(NamedTuple):
    """A vocabulary in a GGUF file.

    ``scores`` and ``types`` (1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte) are
    as long as ``tokens`` or empty; ``merges`` are pairs joined by a space.
    """

    tokens: list[str]
    scores: Numbers
    types: Numbers
    merges: list[str]
    charsmap: bytes


def read_vocabulary(path: Path) -> Vocabulary:
    """The vocabulary of a GGUF file.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no GGUF file, is damaged, or has no vocabulary.
    """
    try:
        entries = read_entries(path.read_bytes())
        tokens = entries.get("tokenizer.ggml.tokens")
        if not isinstance(tokens, list):
            raise ValueError("it has no vocabulary")
        scores = _array(entries, "scores", "f")
        types = _array(entries, "token_type", "i")
        if any(len(numbers) not in (0, len(tokens)) for numbers in (scores, types)):
            raise ValueError("it has not one score and one type for each token")
        merges = entries.get("tokenizer.ggml.merges", [])
        if not isinstance(merges, list):
            raise ValueError("its merges are not strings")
        charsmap = _array(entries, "precompiled_charsmap", "Bb").tobytes()
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return Vocabulary(tokens, scores, types, merges, charsmap)


def read_entries(data: bytes) -> dict[str, Value]:
    """The entries of a GGUF file by their keys.

    Raises:
        ValueError: it is no GGUF file, or is damaged.
    """
    reader = _Reader(data)
    if reader.take(4) != b"GGUF":
        raise ValueError("it is no GGUF file")
    version = reader.number("I")
    if version not in (2, 3):
        raise ValueError(f"it is of version {version} of GGUF, not of 2 or 3")
    reader.number("Q")  # tensors
    entries = {}
    for _ in range(int(reader.number("Q"))):
        key = reader.string()
        entries[key] = reader.value(int(reader.number("I")))
    return entries


def _array(entries: dict[str, Value], key: str, codes: str) -> Numbers:
    found = entries.get(f"tokenizer.ggml.{key}", array(codes[0]))
    if not isinstance(found, array) or found.typecode not in codes:
        raise ValueError(f"its {key} is not numbers of the right kind")
    return found


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        # Checked before anything of that size is made: a damaged size may be any.
        if size > len(self._data) - self._at:
            raise ValueError(f"it ends in the middle of what begins at byte {self._at}")
        self._at += size
        return self._data[self._at - size : self._at]

    def number(self, code: str) -> float:
        (number,) = struct.unpack("<" + code, self.take(struct.calcsize("<" + code)))
        return number  # type: ignore[no-any-return]

    def string(self) -> str:
        at = self._at
        try:
            return self.take(int(self.number("Q"))).decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"the string at byte {at} is not UTF-8") from error

    def value(self, kind: int) -> Value:
        if kind == _ARRAY:
            return self._list(int(self.number("I")), int(self.number("Q")))
        if kind == _STRING:
            return self.string()
        return self.number(self._code(kind))

    def _list(self, kind: int, size: int) -> Value:
        if kind == _STRING:
            return [self.string() for _ in range(size)]
        code = self._code(kind).replace("?", "B")
        numbers: array[float] = array(code)
        if numbers.itemsize != struct.calcsize("<" + code):
            raise ValueError("this machine's numbers are of other sizes")
        numbers.frombytes(self.take(size * numbers.itemsize))
        if sys.byteorder == "big":
            numbers.byteswap()
        return numbers

    def _code(self, kind: int) -> str:
        if kind not in _NUMBERS:
            raise ValueError(f"the value before byte {self._at} is of no known type: {kind}")
        return _NUMBERS[kind]
