"""The tokens of an image, by the rules that OpenAI publishes for its models.

The rules and numbers are those of the guide "Images and vision", in its state of 2026-09. There are
two: by tiles of 512 pixels, and by patches of 32 pixels. Where the guide leaves something open, the
count has a note.

https://developers.openai.com/api/docs/guides/images-vision
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isqrt
from typing import NamedTuple, NoReturn, Protocol

from ..base import MessageCount
from .size import Size

DETAILS = ("low", "high", "auto", "original")

_ROUNDED = "OpenAI does not say how the sides of an image are rounded when it is made smaller"
_BY_ONE = "as published; OpenAI says that its service may count one token more or less"
_EARLIER = (
    "OpenAI's guide no longer says how images are made smaller for this model; what it said before "
    "is taken"
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


class ImageRule(Protocol):
    """The rule for the images of a model."""

    def tokens(self, size: Size | None, detail: str) -> MessageCount:
        """Return the number of tokens of an image.

        Args:
            size: its size; None if it is not known.
            detail: one of ``DETAILS``.

        Raises:
            SizeNotKnown: the size must be known.
            ValueError: the model has no rule for this detail.
        """
        ...


class Tiles(NamedTuple):
    """A number for each image, and one for each of its tiles.

    >>> Tiles(85, 170).tokens(Size(2048, 4096), "high"), Tiles(85, 170).tokens(None, "low")
    (1105, 85)
    """

    base: int
    tile: int

    def tokens(self, size: Size | None, detail: str) -> MessageCount:
        if detail == "original":
            _refuse(detail)
        if detail == "low":
            return MessageCount(self.base)
        size = _known(size)
        # The factors that it is made smaller by: none, to fit in the square, for its shorter side.
        fractions = (1, 1), (_SQUARE, max(size)), (_SHORT, min(size))
        part, of = min(fractions, key=lambda fraction: fraction[0] / fraction[1])
        across, down = (_covering(side * part // of, _TILE) for side in size)
        # The guide rounds down when the shorter side is the reason, and does not say it else. A
        # side that is less than a pixel longer than some tiles may then take one more.
        is_near = any(side * part // of % _TILE == 0 < side * part % of for side in size)
        is_open = is_near and max(size) > _SQUARE
        return MessageCount(self.base + across * down * self.tile, _ROUNDED if is_open else "")


class Limit(NamedTuple):
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

    >>> Patches(162, {"high": Limit(2048, 6144)}).tokens(Size(1024, 1024), "high")
    1659
    """

    each: int
    limits: Mapping[str, Limit]
    note: str = _BY_ONE

    def tokens(self, size: Size | None, detail: str) -> MessageCount:
        if detail not in self.limits:
            _refuse(detail)
        count = patches(_known(size), self.limits[detail])
        if count > _MOST_PATCHES:
            raise ValueError(
                f"an image of {count:,} patches is refused: OpenAI takes {_MOST_PATCHES:,}; make "
                "it smaller, or give a detail that does"
            )
        return MessageCount(_covering(count * self.each, 100), self.note)


def patches(size: Size, limit: Limit) -> int:
    """Return the number of patches that cover an image, which is made smaller to its limit.

    If there are too many patches, it is made so small that one side is a whole number of them, and
    that there are no more than the limit. With n patches along a side of w pixels, the other, of h
    pixels, has 32 * n * h / w pixels, rounded down. All this is exact in integers.

    >>> patches(Size(1024, 1024), Limit(2048, 1536)), patches(Size(1800, 2400), Limit(4096, 1536))
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


_GPT_5_6 = {"low": Limit(512), "high": Limit(2048, 2500), "original": Limit(65_535)}
_GPT_5_5 = {"low": Limit(512), "high": Limit(2048, 2500), "original": Limit(6000, 10_000)}
_GPT_5_4 = {"low": Limit(2048, 6144), "high": Limit(2048, 2500), "original": Limit(6000, 10_000)}
_GPT_5_2 = dict.fromkeys(("low", "high", "auto"), Limit(2048, 6144))
_EARLIER_ONES = dict.fromkeys(("low", "high", "auto"), Limit(2048, 1536))

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
    raise ValueError(f"the detail {detail!r} is not one that this model takes")


def _covering(length: int, part: int) -> int:
    """Return the number of parts that cover a length."""
    return -(-length // part)
