"""A writer of GGUF files, and small ones for tests."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Union

from compat_bpe.formats.gguf.container import ARRAY, BOOL, NUMBERS, STRING

U8, I8, U16, I16, U32, I32, F32 = range(7)
U64, I64, F64 = 10, 11, 12
CODES = {**NUMBERS, BOOL: "?"}


class Typed(NamedTuple):
    """A value and its type; that of an array is the type of its items."""

    kind: int
    value: Any


class Items(NamedTuple):
    """An array: the type of its items, and these; those of an array of arrays are ``Items``."""

    kind: int
    items: Sequence[Any]


#: A value: text, a truth, a typed number, or an array.
Written = Union[str, bytes, bool, Typed, Items]


def strings(*items: str) -> Items:
    return Items(STRING, items)


def gguf(
    entries: Mapping[str, Written] | Sequence[tuple[str, Written]],
    *,
    version: int = 3,
    order: str = "<",
    tensors: int = 0,
) -> bytes:
    """Return a file; ``order`` is the byte order as ``struct`` writes it."""
    pairs = list(entries.items()) if isinstance(entries, Mapping) else list(entries)
    head = b"GGUF" + struct.pack(order + "IQQ", version, tensors, len(pairs))
    return head + b"".join(_string(key, order) + _typed(value, order) for key, value in pairs)


def write(path: Path, entries: Mapping[str, Written], **options: Any) -> Path:
    path.write_bytes(gguf(entries, **options))
    return path


def _string(text: str | bytes, order: str) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    return struct.pack(order + "Q", len(data)) + data


def _typed(value: Written, order: str) -> bytes:
    if isinstance(value, bool):
        value = Typed(BOOL, value)
    if isinstance(value, Items):
        return struct.pack(order + "I", ARRAY) + _array(value, order)
    if isinstance(value, (str, bytes)):
        return struct.pack(order + "I", STRING) + _string(value, order)
    return struct.pack(order + "I" + CODES[value.kind], value.kind, value.value)


def _array(value: Items, order: str) -> bytes:
    head = struct.pack(order + "IQ", value.kind, len(value.items))
    if value.kind == STRING:
        return head + b"".join(_string(item, order) for item in value.items)
    if value.kind == ARRAY:
        return head + b"".join(_array(item, order) for item in value.items)
    return head + struct.pack(f"{order}{len(value.items)}{CODES[value.kind]}", *value.items)


def with_hole(path: Path, data: bytes, size: int) -> Path:
    """Write a file that goes on with zeros which take no room on the disk."""
    path.write_bytes(data)
    if sys.platform == "win32":
        subprocess.run(["fsutil", "sparse", "setflag", str(path)], check=True)
    with path.open("r+b") as file:
        file.truncate(size)
    return path
