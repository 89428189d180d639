"""Small images of each format, so far as their sizes go."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable


def png(width: int, height: int) -> bytes:
    """Return a PNG of black pixels, whole up to a size that is quick to make."""
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes((width // 8 + 2) * height)) if width * height < 10_000 else b""
    chunks = [(b"IHDR", header), (b"IDAT", rows), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def jpeg(width: int, height: int) -> bytes:
    """Return the beginning of a JPEG, up to its frame."""
    application = b"\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + bytes(9)
    tables = b"\xff\xc4" + struct.pack(">H", 4) + b"\xff\xc0"
    frame = b"\xff\xc2" + struct.pack(">HBHHB", 17, 8, height, width, 3) + bytes(9)
    return b"\xff\xd8" + application + tables + frame


def gif(width: int, height: int) -> bytes:
    """Return the header of a GIF."""
    return b"GIF89a" + struct.pack("<HH", width, height) + bytes(3)


def _webp(kind: bytes, data: bytes) -> bytes:
    return (
        b"RIFF"
        + struct.pack("<I", len(data) + 12)
        + b"WEBP"
        + kind
        + struct.pack("<I", len(data))
        + data
    )


def webp_lossy(width: int, height: int) -> bytes:
    """Return a WebP with a VP8 frame; the scale in the upper bits is no part of the size."""
    return _webp(b"VP8 ", bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", width | 0x4000, height))


def webp_lossless(width: int, height: int) -> bytes:
    """Return a WebP with a lossless frame."""
    bits = (width - 1) | (height - 1) << 14 | 1 << 28
    return _webp(b"VP8L", b"\x2f" + struct.pack("<I", bits))


def webp_extended(width: int, height: int) -> bytes:
    """Return a WebP with an extended header."""
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return _webp(b"VP8X", bytes(4) + sides)


FORMATS: dict[str, Callable[[int, int], bytes]] = {
    "png": png,
    "jpeg": jpeg,
    "gif": gif,
    "webp lossy": webp_lossy,
    "webp lossless": webp_lossless,
    "webp extended": webp_extended,
}

PNG = png(100, 50)


def address(data: bytes = PNG) -> str:
    """Return an image as the address of a request."""
    return "data:image/png;base64," + base64.b64encode(data).decode()
