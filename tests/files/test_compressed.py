"""Compressed files are read to their end, in blocks; what is damaged is an error."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.files import compressed
from compat_bpe.files.compressed import (
    is_compressed,
    kind_of_compression,
    read_blocks,
    read_lines,
    text_lines,
)
from tests.memory import on_linux, run_and_peak
from tools.attack.growth import calls_of


def zstd_module() -> Any:
    try:
        return compressed._import_zstd()
    except ImportError as error:
        pytest.skip(str(error))


def zstd(data: bytes) -> bytes:
    return bytes(zstd_module().compress(data))


#: What compresses, by ending.
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd,
}

of_each = pytest.mark.parametrize("ending", COMPRESS)


def read(path: Path, data: bytes) -> bytes:
    path.write_bytes(data)
    told: list[int] = []
    content = b"".join(read_blocks(str(path), told.append))
    assert sum(told) == len(data)
    return content


@of_each
@given(streams=st.lists(st.binary(max_size=300), min_size=1, max_size=3), zeros=st.integers(0, 9))
def test_streams_follow_each_other(
    ending: str, streams: list[bytes], zeros: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = b"".join(COMPRESS[ending](one) + bytes(zeros) for one in streams)
    path = tmp_path_factory.mktemp("x") / f"a{ending}"
    assert read(path, data) == b"".join(streams)
    assert b"".join(line for line, _ in read_lines(str(path), 1 << 20, lambda _: None)) == b"".join(
        streams
    )


@of_each
def test_streams_end_anywhere_in_a_block(ending: str, tmp_path: Path) -> None:
    noise = Random(3).randbytes(compressed.BLOCK + 77)
    data = COMPRESS[ending](noise) + COMPRESS[ending](b"end") + bytes(compressed.BLOCK * 2)
    assert read(tmp_path / f"a{ending}", data) == noise + b"end"


def with_header(flags: int, more: bytes) -> bytes:
    return b"\x1f\x8b\x08" + bytes([flags]) + bytes(6) + more + gzip.compress(b"x", mtime=0)[10:]


LONG_HEADERS = {
    "name": with_header(8, b"n" * 2_000_000 + b"\0"),
    "comment": with_header(16, b"n" * 2_000_000 + b"\0"),
    "extra": with_header(4, b"\xff\xff" + bytes(0xFFFF)),
    "zeros": gzip.compress(b"x") + bytes(2_000_000),
}


@pytest.mark.parametrize("data", LONG_HEADERS.values(), ids=LONG_HEADERS)
def test_a_long_header_is_not_read_byte_by_byte(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    assert read(path, data) == b"x"
    assert calls_of(lambda: read(path, data)) < 2_000
    assert calls_of(lambda: text_lines(data, "a.gz")) < 2_000
    assert text_lines(data, "a.gz") == ["x"]


@of_each
def test_a_file_that_is_cut_short_anywhere(ending: str, tmp_path: Path) -> None:
    data = COMPRESS[ending](b"some text" * 9)
    for end in range(len(data)):
        with pytest.raises(ValueError, match=r"cut short|damaged"):
            read(tmp_path / f"a{ending}", data[:end])
        # Also in a second stream.
        if end:
            with pytest.raises(ValueError, match=r"cut short|damaged"):
                read(tmp_path / f"a{ending}", data + data[:end])


@of_each
@pytest.mark.parametrize("after", [b"garbage", bytes(9) + b"garbage", b"x"])
def test_what_comes_after_the_data_is_not_left_out(
    ending: str, after: bytes, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"cut short|damaged"):
        read(tmp_path / f"a{ending}", COMPRESS[ending](b"some text") + after)


@of_each
def test_other_data_than_the_name_says(ending: str, tmp_path: Path) -> None:
    COMPRESS[ending](b"")  # skips what cannot be read here
    for other, compress in COMPRESS.items():
        for data in (b"just text", compress(b"some text")):
            if other != ending:
                with pytest.raises(ValueError, match=r"^(damaged|\w+ data that is cut short)"):
                    read(tmp_path / f"a{ending}", data)


@of_each
def test_a_changed_byte_is_found_or_makes_no_difference(ending: str, tmp_path: Path) -> None:
    """All these have checksums; bytes of gzip's header may change without harm."""
    data = COMPRESS[ending](b"some text")
    if ending == ".zst":  # its checksum must be asked for
        parameter = zstd_module().CompressionParameter.checksum_flag
        data = zstd_module().compress(b"some text", options={parameter: 1})
    for place in range(len(data)):
        changed = bytes([*data[:place], data[place] ^ 0x10, *data[place + 1 :]])
        try:
            content = read(tmp_path / f"a{ending}", changed)
        except ValueError:
            continue
        assert content == b"some text"


@of_each
def test_first_bytes_tell(ending: str) -> None:
    kind = kind_of_compression(COMPRESS[ending](b"x"))
    assert kind is not None
    assert kind[1] == ending
    assert is_compressed(f"a{ending.upper()}")


@pytest.mark.parametrize("text", [b"BZh", b"(\xb5", b"\x1f", b"", b"BZh9 is text"])
def test_text_is_not_taken_for_data(text: bytes) -> None:
    assert kind_of_compression(text) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
@of_each
def test_a_named_pipe(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{ending}"
    os.mkfifo(path)
    data = COMPRESS[ending](b"some text" * 10_000)
    writer = threading.Thread(target=lambda: path.write_bytes(data))
    writer.start()
    content = b"".join(read_blocks(str(path), lambda _: None))
    writer.join()
    assert content == b"some text" * 10_000


_READ = """
import sys
from compat_bpe.files.compressed import read_blocks
size = 0
try:
    for block in read_blocks(sys.argv[1], lambda size: None):
        size += len(block)
except ValueError as error:
    print(error)
else:
    print(size)
"""


def peak(path: Path) -> tuple[str, float]:
    """What reading a file prints, and the most megabytes of memory."""
    printed, most = run_and_peak(_READ, str(path))
    return printed.decode().rstrip(), most / 1e6


#: The memory of a process that reads: PyPy alone takes more than half of it.
MOST_MEGABYTES = 100 if sys.implementation.name == "pypy" else 60


@on_linux
@of_each
def test_a_bomb_takes_little_memory(ending: str, tmp_path: Path) -> None:
    """32 MB of one letter, in one stream; zstd makes 3 KB of it, less than a block."""
    path = tmp_path / f"a{ending}"
    path.write_bytes(COMPRESS[ending](b"x" * 32_000_000))
    printed, megabytes = peak(path)
    assert printed == "32000000"
    assert megabytes < MOST_MEGABYTES


@on_linux
def test_a_window_that_is_too_large(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 29}]
    path = tmp_path / "a.xz"
    # PyPy takes no check by default.
    path.write_bytes(lzma.compress(b"x", check=lzma.CHECK_CRC64, filters=filters))
    printed, megabytes = peak(path)
    # PyPy has no words for it: "Unrecognised error from liblzma: 6".
    reasons = ("Memory usage limit exceeded", "Unrecognised error from liblzma: 6")
    assert printed in [f"damaged xz data: {reason}" for reason in reasons]
    assert megabytes < MOST_MEGABYTES
    path = tmp_path / "a.zst"
    module = zstd_module()
    parameters = module.CompressionParameter
    options = {parameters.window_log: 29, parameters.enable_long_distance_matching: 1}
    encoder = module.ZstdCompressor(options=options)
    path.write_bytes(encoder.compress(b"x") + encoder.flush())
    printed, megabytes = peak(path)
    assert printed.startswith("damaged zstd data: ")
    assert megabytes < MOST_MEGABYTES


def test_without_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression", "backports", "bz2", "lzma"):
        monkeypatch.setitem(sys.modules, name, None)
    for name, message in (
        ("a.zst", "Zstandard needs Python 3.14 or a package: pip install '"),
        ("a.bz2", "this Python was built without bz2"),
        ("a.xz", "this Python was built without lzma"),
    ):
        path = tmp_path / name
        path.write_bytes(b"")
        with pytest.raises(ImportError, match=f"^{message}"):
            list(read_blocks(str(path), lambda _: None))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\r\n\nb\x0b\xe2\x80\xa8", ["a\r", "", "b\x0b\u2028"]),
        (gzip.compress("é\nb\n".encode(), mtime=0), ["é", "b"]),
    ],
)
def test_lines_of_a_text_end_at_line_feeds(data: bytes, expected: list[str]) -> None:
    assert text_lines(data, "x") == expected


def test_a_text_that_inflates_too_far_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.compress(b"0" * 100_000, mtime=0)
    assert len(text_lines(data, "x")) == 1
    monkeypatch.setattr(compressed, "SIZE_LIMIT", len(data) + 10)
    with pytest.raises(ValueError, match=r"x: larger than \d+ bytes when it is unpacked"):
        text_lines(data, "x")
