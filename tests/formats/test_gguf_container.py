"""The container of GGUF: what is written is read, and what is damaged is refused by its place."""

from __future__ import annotations

import os
import struct
import time
from array import array
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.formats.gguf.container import ARRAY, BOOL, NUMBERS, STRING, Value, read_entries
from tests.formats.small_files import refusal
from tests.formats.small_gguf import (
    F32,
    I8,
    U8,
    U32,
    U64,
    Items,
    Typed,
    Written,
    gguf,
    strings,
    with_hole,
    write,
)
from tests.memory import traced
from tools.attack.growth import calls_of

WHOLE: dict[str, Written] = {
    "general.name": "Small",
    "general.flag": True,
    "general.size": Typed(11, -5),
    "tokens": strings("<unk>", "▁a", "é"),
    "scores": Items(F32, [0.0, -1.5, -2.25]),
    "nested": Items(ARRAY, [Items(U8, [1, 2]), strings("a"), Items(U64, [])]),
}


def read(path: Path, data: bytes) -> dict[str, Value]:
    path.write_bytes(data)
    return {key: entry.value for key, entry in read_entries(path).items()}


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("order", ["<", ">"])
def test_both_versions_in_both_byte_orders(tmp_path: Path, version: int, order: str) -> None:
    data = gguf(WHOLE, version=version, order=order, tensors=7) + b"weights, which are not read"
    assert read(tmp_path / "a.gguf", data) == {
        "general.name": b"Small",
        "general.flag": True,
        "general.size": -5,
        "tokens": [b"<unk>", "▁a".encode(), "é".encode()],
        "scores": array("f", [0.0, -1.5, -2.25]),
        "nested": [array("B", [1, 2]), [b"a"], array("Q")],
    }


def test_what_is_not_wanted_is_not_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gguf", WHOLE)
    assert list(read_entries(path, lambda key: key.startswith("general."))) == [
        "general.name",
        "general.flag",
        "general.size",
    ]


def test_places_are_those_of_values(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gguf", {"k": Typed(U32, 9)})
    assert read_entries(path)["k"].place == 24 + 8 + 1 + 4


numbers = {
    kind: st.floats(width=32 if code == "f" else 64, allow_nan=False)
    if code in "fd"
    else st.booleans()
    if kind == BOOL
    else st.integers(
        -(1 << 8 * struct.calcsize("<" + code) - 1) if code.islower() else 0,
        (1 << 8 * struct.calcsize("<" + code) - code.islower()) - 1,
    )
    for kind, code in NUMBERS.items()
}
texts = st.text(max_size=5)
flat = st.one_of(
    st.lists(texts, max_size=4).map(partial(Items, STRING)),
    *(st.lists(one, max_size=4).map(partial(Items, kind)) for kind, one in numbers.items()),
)
arrays = flat | st.lists(flat, max_size=3).map(partial(Items, ARRAY))
values = st.one_of(texts, arrays, *(one.map(partial(Typed, kind)) for kind, one in numbers.items()))


def plain(value: Any) -> Value:
    """Return what a written value is read as."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, Typed):
        read_as: Value = value.value
        return read_as
    if value.kind in NUMBERS:
        return array(NUMBERS[value.kind], value.items)
    return [plain(item) for item in value.items]


@given(
    st.dictionaries(st.text(min_size=1, max_size=8), values, max_size=6),
    st.sampled_from([2, 3]),
    st.sampled_from(["<", ">"]),
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, entries: dict[str, Any], version: int, order: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "a.gguf"
    data = gguf(entries, version=version, order=order)
    assert read(path, data) == {key: plain(value) for key, value in entries.items()}


def test_a_file_that_is_larger_than_a_block(tmp_path: Path) -> None:
    words = [f"{number:x}" * (1 + number % 40) for number in range(20_000)]
    long = "é" * 300_000
    entries: dict[str, Written] = {
        "a": strings(*words),
        "b": long,
        "c": strings(long, *words),
        "d": Typed(U8, 7),
    }
    found = read(tmp_path / "a.gguf", gguf(entries))
    assert found["a"] == [word.encode() for word in words]
    assert found["c"] == [long.encode(), *(word.encode() for word in words)]
    assert (found["b"], found["d"]) == (long.encode(), 7)


@pytest.mark.parametrize("order", ["<", ">"])
def test_cut_anywhere(tmp_path: Path, order: str) -> None:
    path, data = tmp_path / "cut.gguf", gguf(WHOLE, order=order)
    path.write_bytes(data)
    for size in reversed(range(len(data))):
        os.truncate(path, size)
        with pytest.raises(ValueError, match=r"cut\.gguf: byte \d+: "):
            read_entries(path)


@pytest.mark.parametrize("order", ["<", ">"])
def test_any_byte_changed(tmp_path: Path, order: str) -> None:
    path, data = tmp_path / "bad.gguf", gguf(WHOLE, order=order)
    path.write_bytes(data)
    start = time.process_time()
    with path.open("r+b", buffering=0) as file:
        for place, byte in enumerate(data):
            for change in (1, 0x80, 0xFF):
                file.seek(place)
                file.write(bytes([byte ^ change]))
                try:
                    read_entries(path)
                except ValueError as error:
                    assert str(error).startswith(f"{path}: byte ")  # noqa: PT017
            file.seek(place)
            file.write(bytes([byte]))
    assert time.process_time() - start < 60  # no damage makes it long
    assert len(read_entries(path)) == len(WHOLE)


def head(count: int = 1, key: bytes = b"k") -> bytes:
    return b"GGUF" + struct.pack("<IQQQ", 3, 0, count, len(key)) + key


def listed(kind: int, count: int, *, of: bytes = b"") -> bytes:
    return head() + struct.pack("<IIQ", ARRAY, kind, count) + of


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "byte 0: the file ends"),
        (b"GGUX" + bytes(40), "byte 0: not a GGUF file"),
        (gguf({}, version=1), "byte 4: version 1 of GGUF is not known, only 2 and 3"),
        (gguf({}, version=1, order=">"), "byte 4: version 1 of GGUF is not known"),
        (gguf({}, version=4), "byte 4: version 4 of GGUF"),
        (head(1 << 40), "byte 16: 1099511627776 keys do not fit"),
        (head(key=b"") + bytes(99), "byte 24: a key has from 1 to 65535 bytes, not 0"),
        (head(key=b"x" * 65536) + bytes(99), "byte 24: a key has from 1 to 65535 bytes, not 65536"),
        (head(key=b"a\xff") + bytes(99), "byte 33: the key is not UTF-8: invalid start byte"),
        (gguf([("a", True), ("a", True)]), "byte 38: the key 'a' comes twice"),
        (head() + struct.pack("<I", 13) + bytes(9), "byte 33: unknown type 13 of a value"),
        (listed(13, 0), "byte 37: unknown type 13 of a value"),
        (head() + struct.pack("<IQ", STRING, 1 << 62), "byte 37: 4611686018427387904 items do"),
        (listed(STRING, 1 << 62), "byte 41: 4611686018427387904 items do not fit; the file"),
        (listed(F32, 1 << 62), "byte 41: 4611686018427387904 items do not fit; the file"),
        (listed(ARRAY, 1 << 62), "byte 41: 4611686018427387904 items do not fit; the file"),
        (listed(STRING, 1, of=struct.pack("<Q", 1 << 63)), "byte 49: 9223372036854775808 items"),
        (listed(I8, 3, of=b"ab"), "byte 41: 3 items do not fit; the file is cut off or damaged"),
        (listed(ARRAY, 1, of=struct.pack("<IQ", ARRAY, 1) * 9), "arrays are nested more than 4"),
        (listed(STRING, 1 << 23, of=bytes(1 << 26)), "byte 41: its arrays have more than 4,194,30"),
    ],
)
def test_damage_is_named_by_its_place(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "bad.gguf"
    reason, peak = traced(lambda: refusal(path, lambda: read(path, data)))
    assert message in reason
    assert peak < 4 << 20


def test_the_weights_cost_neither_time_nor_memory(tmp_path: Path) -> None:
    path = with_hole(tmp_path / "large.gguf", gguf(WHOLE, tensors=300), 40 << 30)
    entries, peak = traced(lambda: read_entries(path))
    assert len(entries) == len(WHOLE)
    assert peak < 4 << 20
    # To read 40 GB, a block of 256 KB after another, would take 160,000.
    assert calls_of(lambda: read_entries(path)) < 10_000


@pytest.mark.parametrize(
    "data",
    [
        head() + struct.pack("<IQ", STRING, 30 << 30),
        listed(F32, 8 << 30),
        listed(STRING, 4 << 30),
        listed(ARRAY, 2 << 30),
        head(1 << 31, b"a") + struct.pack("<IB", U8, 0),
    ],
)
def test_lengths_that_a_large_file_has_room_for(tmp_path: Path, data: bytes) -> None:
    path = with_hole(tmp_path / "large.gguf", data, 40 << 30)
    with pytest.raises(ValueError, match=r"large\.gguf: byte \d+: "):
        read_entries(path)
    assert calls_of(lambda: read_entries(path)) < 10_000


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("key", [b"a", b"tokenizer.ggml.tokens"])
def test_arrays_of_very_many_empty_arrays(tmp_path: Path, depth: int, key: bytes) -> None:
    empty = struct.pack("<IQ", STRING, 0)
    for _ in range(depth - 1):
        empty = struct.pack("<IQ", ARRAY, 1) + empty
    count = 100_000
    data = head(1, key) + struct.pack("<IIQ", ARRAY, ARRAY, count) + empty * count
    path = tmp_path / "a.gguf"
    path.write_bytes(data)
    assert calls_of(lambda: read_entries(path)) < 10_000
    with pytest.raises(ValueError, match=r"a\.gguf: byte \d+: .* more than 65,536 arrays"):
        read_entries(path)


def test_more_keys_than_any_file_has(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gguf", {f"k{number}": True for number in range((1 << 16) + 1)})
    with pytest.raises(ValueError, match=r"byte 16: 65537 keys .* are more than in any known file"):
        read_entries(path)
