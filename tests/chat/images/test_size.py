"""The sizes of images, read from their first bytes."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.chat.images.size import size_of
from tests.chat.images import made

low = st.integers(1, 0x3FFF)


@given(st.sampled_from(sorted(made.FORMATS)), low, low)
def test_formats(name: str, width: int, height: int) -> None:
    data = made.FORMATS[name](width, height)
    assert size_of(data) == (width, height)
    assert size_of(data + b"more") == (width, height)


@given(st.sampled_from(sorted(made.FORMATS)), low, low, st.data())
def test_an_end_before_the_size_is_refused(
    name: str, width: int, height: int, data: st.DataObject
) -> None:
    image = made.FORMATS[name](width, height)
    cut = image[: data.draw(st.integers(0, len(image) - 1))]
    try:
        size = size_of(cut)
    except ValueError:
        return
    assert size == (width, height)  # what was cut off came after it


@given(st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"GIF89a", b"RIFF"]), st.binary())
def test_any_bytes_give_a_size_or_a_value_error(start: bytes, rest: bytes) -> None:
    with suppress(ValueError):
        assert min(size_of(start + rest)) > 0


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"\x89PNG\r\n\x1a\n" + bytes(4) + b"CgBI" + bytes(20),
        made.png(0, 5),
        b"RIFF" + bytes(4) + b"WAVEfmt " + bytes(20),
        b"RIFF" + bytes(4) + b"WEBPVP8 " + bytes(20),
        b"\xff\xd8\xff\xe0\x00\x01" + bytes(20),  # a length that is less than itself
        b"\xff\xd8\xff\xda" + struct.pack(">H", 2) + bytes(20),  # data without a frame
        b"\xff\xd8\x00\xc0" + bytes(20),
    ],
)
def test_what_is_no_image_or_damaged_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="image"):
        size_of(data)


@pytest.mark.parametrize("marker", range(0xC0, 0xD0))
def test_jpeg_frames(marker: int) -> None:
    data = made.jpeg(7, 9).replace(b"\xff\xc2", bytes([0xFF, marker]))
    if marker in (0xC4, 0xC8, 0xCC):  # tables, and what is reserved
        with pytest.raises(ValueError, match="ends before its size"):
            size_of(data)
    else:
        assert size_of(data) == (7, 9)


def test_jpeg_segments_are_passed_over() -> None:
    segment = b"\xff\xe1" + struct.pack(">H", 60002) + b"\xff\xc0" * 30000
    fill = b"\xff" * 5
    data = b"\xff\xd8" + segment * 30 + fill + made.jpeg(7, 9)[2:]
    assert size_of(data) == (7, 9)
