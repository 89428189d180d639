"""Images in a request: their sizes, and the tokens that OpenAI's models take for them.

The size is read from the first bytes of the data: PNG, JPEG, GIF and WebP, which OpenAI's models
take. Nothing is decoded.

The rules and numbers are those of the guide "Images and vision" as of 2026-09. There are two rules:
by tiles of 512 pixels, and by patches of 32 pixels. If the guide leaves something open, the count
has a note.

https://developers.openai.com/api/docs/guides/images-vision
"""

from __future__ import annotations

import binascii
import os
import re
from collections.abc import Mapping
from math import isqrt
from struct import error, unpack_from
from typing import Any, NamedTuple, NoReturn, Union

from ..encodings.model_names import plain_model_name
from ..files.whole import read_whole
from .base import MessageCount
from .messages import Uncountable, Value, fail

FORMATS = "PNG, JPEG, GIF or WebP"

#: The second bytes of JPEG's markers for a frame, which begins with the size of the image: C0 to
#: CF without those for tables (C4, CC) and the reserved C8 (ITU T.81, table B.1).
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
#: The markers that no length follows: TEM, RST0 to RST7, SOI.
_WITHOUT_LENGTH = frozenset((0x01, *range(0xD0, 0xD9)))
#: The markers after which there is no frame: the end of the image, and the start of its data.
_TOO_LATE = frozenset((0xD9, 0xDA))


class Size(NamedTuple):
    """The size of an image in pixels."""

    width: int
    height: int


def size_of(data: bytes) -> Size:
    """Return the size of an image.

    Args:
        data: the image, or enough of its beginning to have the size.

    Raises:
        ValueError: its format is not known, or it is damaged.

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
                raise ValueError("the image is damaged: its size is missing")
            if not min(size):
                raise ValueError(f"the image is damaged: its size is {size.width} x {size.height}")
            return size
    raise ValueError(f"not a {FORMATS} image")


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
            # A length counts itself; one below 2 leads to a byte that is not an FF.
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


DETAILS = ("low", "high", "auto", "original")

_ROUNDED = "OpenAI does not say how the sides of an image are rounded when it is made smaller"
_BY_ONE = "as published; OpenAI says that its service may count one token more or less"
_EARLIER = (
    "OpenAI's guide no longer says how images are made smaller for this model; its earlier rule is "
    "used"
)

# Tiles: an image is made smaller until it fits in a square, and then until its shorter side is
# no longer than this.
_SQUARE = 2048
_SHORT = 768
_TILE = 512

# Patches: an image is covered by squares of so many pixels. The service refuses more of them.
_PATCH = 32
_MOST_PATCHES = 30_000


class SizeNotKnown(ValueError):
    """The tokens of an image depend on its size, which is not known."""


class Tiles(NamedTuple):
    """A number for each image, and one for each of its tiles.

    >>> Tiles(85, 170).tokens(Size(2048, 4096), "high"), Tiles(85, 170).tokens(None, "low")
    (1105, 85)
    """

    base: int
    tile: int

    def tokens(self, size: Size | None, detail: str) -> MessageCount:
        """Return the number of tokens of an image.

        Args:
            size: its size; None if it is not known.
            detail: one of ``DETAILS``.

        Raises:
            SizeNotKnown: the size must be known.
            ValueError: the model has no rule for this detail.
        """
        if detail == "original":
            _refuse(detail)
        if detail == "low":
            return MessageCount(self.base)
        size = _known(size)
        # The factors that it is made smaller by: none, to fit in the square, for its shorter side.
        fractions = (1, 1), (_SQUARE, max(size)), (_SHORT, min(size))
        part, of = min(fractions, key=lambda fraction: fraction[0] / fraction[1])
        across, down = (_covering(side * part // of, _TILE) for side in size)
        # The guide rounds down if the shorter side is the reason, and leaves other cases open. A
        # side that is less than a pixel longer than some tiles may then need one more.
        is_near = any(side * part // of % _TILE == 0 < side * part % of for side in size)
        is_open = is_near and max(size) > _SQUARE
        return MessageCount(self.base + across * down * self.tile, _ROUNDED if is_open else "")


class Bound(NamedTuple):
    """The size to which an image is made smaller, if it is larger.

    Args:
        side: the longest side, in pixels.
        patches: the most patches; None if there is no such limit.
    """

    side: int
    patches: int | None = None


class Patches(NamedTuple):
    """A number for each patch.

    Args:
        each: the number, in hundredths of a token.
        limits: the limit of each detail that the model takes.
        note: the reason for which a number is an estimate.

    >>> Patches(162, {"high": Bound(2048, 6144)}).tokens(Size(1024, 1024), "high")
    1659
    """

    each: int
    limits: Mapping[str, Bound]
    note: str = _BY_ONE

    def tokens(self, size: Size | None, detail: str) -> MessageCount:
        """Return the number of tokens of an image; arguments and errors as of ``Tiles``."""
        if detail not in self.limits:
            _refuse(detail)
        count = patches(_known(size), self.limits[detail])
        if count > _MOST_PATCHES:
            raise ValueError(
                f"an image of {count:,} patches is refused: OpenAI accepts at most "
                f"{_MOST_PATCHES:,}; make it smaller, or choose a detail that shrinks it"
            )
        return MessageCount(_covering(count * self.each, 100), self.note)


def patches(size: Size, limit: Bound) -> int:
    """Return the number of patches that cover an image, which is made smaller to its limit.

    If there are too many patches, it is made so small that one side is a whole number of patches
    and their number is within the limit. With n patches along a side of w pixels, the other side,
    of h pixels, gets 32 * n * h / w pixels, rounded down. All this is exact in integers.

    >>> patches(Size(1024, 1024), Bound(2048, 1536)), patches(Size(1800, 2400), Bound(4096, 1536))
    (1024, 1452)
    """
    longest = max(size)
    if longest > limit.side:
        size = Size(*(max(1, (2 * side * limit.side + longest) // (2 * longest)) for side in size))
    width, height = size
    count = _covering(width, _PATCH) * _covering(height, _PATCH)
    if limit.patches is None or count <= limit.patches:
        return count
    # The patches along each side if there could be parts of one; then as many whole ones.
    across = max(1, isqrt(limit.patches * width // height))
    down = max(1, isqrt(limit.patches * height // width))
    if across * height <= down * width:  # the width loses the larger share
        down = _covering(max(1, _PATCH * across * height // width), _PATCH)
    else:
        across = _covering(max(1, _PATCH * down * width // height), _PATCH)
    return min(across * down, limit.patches)


_GPT_5_6 = {"low": Bound(512), "high": Bound(2048, 2500), "original": Bound(65_535)}
_GPT_5_5 = {"low": Bound(512), "high": Bound(2048, 2500), "original": Bound(6000, 10_000)}
_GPT_5_4 = {"low": Bound(2048, 6144), "high": Bound(2048, 2500), "original": Bound(6000, 10_000)}
_GPT_5_2 = dict.fromkeys(("low", "high", "auto"), Bound(2048, 6144))
_EARLIER_ONES = dict.fromkeys(("low", "high", "auto"), Bound(2048, 1536))

#: The rule for the images of a model.
ImageRule = Union[Tiles, Patches]

#: The first rule whose pattern matches the name of a model is its own.
_RULES: tuple[tuple[str, ImageRule], ...] = (
    (
        r"gpt-5\.6(-sol|-terra|-luna)?(-\d.*)?",
        Patches(120, {**_GPT_5_6, "auto": _GPT_5_6["original"]}),
    ),
    (r"gpt-5\.5(-\d.*)?", Patches(120, {**_GPT_5_5, "auto": _GPT_5_5["original"]})),
    (r"gpt-5\.4(-mini|-nano)?(-\d.*)?", Patches(120, {**_GPT_5_4, "auto": _GPT_5_4["high"]})),
    (r"gpt-5\.2(-\d.*)?", Patches(120, _GPT_5_2)),
    (r"gpt-4\.1-mini.*", Patches(162, _GPT_5_2)),
    (r"gpt-4\.1-nano.*", Patches(246, _EARLIER_ONES, _EARLIER)),
    (r"gpt-5-mini.*", Patches(120, _EARLIER_ONES, _EARLIER)),
    (r"gpt-5-nano.*", Patches(150, _EARLIER_ONES, _EARLIER)),
    (r"o4-mini.*", Patches(172, _EARLIER_ONES, _EARLIER)),
    (r"gpt-4o-mini.*", Tiles(2833, 5667)),
    (r"(chat)?gpt-4o.*", Tiles(85, 170)),
    (r"gpt-4\.1(-\d.*)?", Tiles(85, 170)),
    (r"gpt-5(-chat.*|-\d.*)?", Tiles(70, 140)),
    (r"gpt-5\.1(-\d.*)?", Tiles(70, 140)),
    (r"(o1|o1-pro|o3|o3-pro)(-\d.*)?", Tiles(75, 150)),
    (r"computer-use-preview.*", Tiles(65, 129)),
)


def rule_for_images(model: str) -> ImageRule | None:
    """Return the rule for the images of a model; None if OpenAI publishes none.

    >>> rule_for_images("gpt-4.1-2025-04-14")
    Tiles(base=85, tile=170)
    """
    name = model[3:] if model.startswith("ft:") else model
    for pattern, rule in _RULES:
        if re.fullmatch(pattern, name.partition(":")[0]):
            return rule
    return None


def _known(size: Size | None) -> Size:
    if size is None:
        raise SizeNotKnown(
            "the size of an image at an address is not known: give the image as a data URL"
        )
    return size


def _refuse(detail: str) -> NoReturn:
    raise ValueError(f"this model does not accept the detail {detail!r}")


def _covering(length: int, part: int) -> int:
    """Return the number of parts that cover a length."""
    return -(-length // part)


#: The types of the parts of a message that are images: of Chat Completions, and of Responses.
IMAGE_PARTS = ("image_url", "input_image")

#: The largest image that is read, in bytes.
_LARGEST = 50 << 20


def is_image(part: Any) -> bool:
    """Return True if a part of a message's content is an image that can be counted."""
    return isinstance(part, dict) and part.get("type") in IMAGE_PARTS


def image_tokens(
    image: bytes | str | os.PathLike[str] | tuple[int, int], *, model: str, detail: str = "auto"
) -> MessageCount:
    """Return the number of tokens that one of OpenAI's models takes for an image.

    Args:
        image: the image itself, or its file; or its width and height in pixels.
        model: the name of the model, such as ``"gpt-4o"``.
        detail: ``"low"``, ``"high"``, ``"auto"`` or ``"original"``, as in a request.

    Returns:
        The number, an ``int``. If the published rules do not give it exactly, ``is_estimate`` is
        True and ``note`` has the reason.

    Raises:
        KeyError: the rule for this model is not known.
        OSError: the file cannot be read.
        ValueError: it is not a PNG, JPEG, GIF or WebP, or damaged; or the detail is not known.

    >>> image_tokens((1024, 1024), model="gpt-4o", detail="high")
    765
    >>> count = image_tokens((1024, 1024), model="gpt-4.1-mini", detail="high")
    >>> count, count.note
    (1659, 'as published; OpenAI says that its service may count one token more or less')
    """
    rule = rule_for_images(plain_model_name(model))
    if rule is None:
        raise KeyError(f"OpenAI's rule for images of {model!r} is not known")
    if isinstance(image, tuple):
        size = Size(*image)
        if min(size) < 1:
            raise ValueError(
                f"an image of {size.width} x {size.height} pixels is too small: at least 1 x 1"
            )
    else:
        size = size_of(image if isinstance(image, bytes) else read_whole(image, _LARGEST))
    return rule.tokens(size, _checked_detail(detail, "detail"))


def part_tokens(part: dict[str, Any], rule: ImageRule | None, place: str) -> MessageCount:
    """Return the number of tokens of a part of a message that is an image.

    Args:
        part: an object whose ``"type"`` is one of ``IMAGE_PARTS``.
        rule: the model's rule for images; None if there is none.
        place: where it is in the request.

    Raises:
        Uncountable: there is no rule, or the size of the image is not known.
        ValueError: the image is damaged.
    """
    if rule is None:
        raise Uncountable(
            place,
            "an image cannot be counted: OpenAI's rule for this model's images is not known",
            "an image",
        )
    image: Any = part.get("image_url")
    detail, here = part.get("detail"), f"{place}.image_url"
    if isinstance(image, dict):
        image, detail, here = image.get("url"), image.get("detail"), f"{here}.url"
    image = Value(image, here).optional_text()
    detail = _checked_detail("auto" if detail is None else detail, f"{place}: detail")
    try:
        return rule.tokens(_size_at(image), detail)
    except SizeNotKnown as error:
        raise Uncountable(here, str(error), "an image at an address") from None
    except ValueError as error:
        fail(here, str(error))


def _size_at(address: str | None) -> Size | None:
    """Return the size of the image in a data URL; None for any other address."""
    if address is None or address[:5].lower() != "data:":
        return None
    head, comma, body = address.partition(",")
    if not comma:
        raise ValueError("the data URL lacks the comma before its data")
    if not head.lower().endswith(";base64"):
        from urllib.parse import unquote_to_bytes  # few data URLs are written like this

        return size_of(unquote_to_bytes(body))
    try:
        data = binascii.a2b_base64(body)
    except ValueError as error:
        raise ValueError(f"the data is not base64: {error}") from None
    return size_of(data)


def _checked_detail(detail: Any, place: str) -> str:
    if detail not in DETAILS:
        fail(place, f"{str(detail)[:40]!r} is not known; known: {', '.join(DETAILS)}")
    return str(detail)
