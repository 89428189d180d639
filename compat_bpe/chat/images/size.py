"""The size of an image, from the first bytes of its data: PNG, JPEG, GIF and WebP.

Nothing is decoded. These are the formats that OpenAI's models take.
"""

from __future__ import annotations

from struct import error, unpack_from
from typing import NamedTuple

FORMATS = "PNG, JPEG, GIF or WebP"

#: The second bytes of JPEG's markers for a frame, which begins with the size of the image: C0 to
#: CF without those for tables (C4, CC) and the reserved C8 (ITU T.81, table B.1).
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
#: Those that no length follows: TEM, RST0 to RST7, SOI.
_WITHOUT_LENGTH = frozenset((0x01, *range(0xD0, 0xD9)))
#: Those after which there is no frame: the end of the image, and the start of its data.
_TOO_LATE = frozenset((0xD9, 0xDA))


class Size(NamedTuple):
    """The size of an image in pixels."""

    width: int
    height: int


def size_of(data: bytes) -> Size:
    """Return the size of an image.

    Args:
        data: the image, or so much of its beginning that the size is in it.

    Raises:
        ValueError: it is of no known format, or damaged.

    >>> size_of(b"GIF89a" + bytes([4, 1, 3, 0]))
    Size(width=260, height=3)
    """
    for start, read in _READERS:
        if data.startswith(start):
            try:
                size = read(data)
            except error:
                raise ValueError("the image ends before its size") from None
            if size is None:
                raise ValueError("the image is damaged: it does not say its size")
            if not min(size):
                raise ValueError(f"the image is damaged: its size is {size.width} x {size.height}")
            return size
    raise ValueError(f"not an image: neither {FORMATS}")


def _png(data: bytes) -> Size | None:
    if data[12:16] != b"IHDR":
        return None
    return Size(*unpack_from(">II", data, 16))


def _gif(data: bytes) -> Size:
    return Size(*unpack_from("<HH", data, 6))


def _jpeg(data: bytes) -> Size | None:
    at = 2
    while True:
        # Any number of bytes FF may stand before a marker.
        if unpack_from("B", data, at)[0] != 0xFF:
            return None
        while unpack_from("B", data, at)[0] == 0xFF:
            at += 1
        marker = data[at]
        at += 1
        if marker in _FRAMES:
            height, width = unpack_from(">HH", data, at + 3)
            return Size(width, height)
        if marker in _TOO_LATE or marker == 0:
            return None
        if marker not in _WITHOUT_LENGTH:
            # A length counts itself; one below 2 leads to a byte that is no FF.
            at += unpack_from(">H", data, at)[0]


def _webp(data: bytes) -> Size | None:
    kind = data[12:16]
    if data[8:12] != b"WEBP":
        return None
    if kind == b"VP8X":  # each side less one, in 24 bits
        low_w, high_w, low_h, high_h = unpack_from("<HBHB", data, 24)
        return Size((high_w << 16 | low_w) + 1, (high_h << 16 | low_h) + 1)
    if kind == b"VP8L":  # each side less one, in 14 bits
        mark, bits = unpack_from("<BI", data, 20)
        return Size((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1) if mark == 0x2F else None
    if kind == b"VP8 ":  # 14 bits for a side, 2 for how it is scaled
        mark, width, height = unpack_from("<3sHH", data, 23)
        return Size(width & 0x3FFF, height & 0x3FFF) if mark == b"\x9d\x01\x2a" else None
    return None


_READERS = (
    (b"\x89PNG\r\n\x1a\n", _png),
    (b"\xff\xd8", _jpeg),
    (b"GIF87a", _gif),
    (b"GIF89a", _gif),
    (b"RIFF", _webp),
)
