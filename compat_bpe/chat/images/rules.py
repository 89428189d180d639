"""The tokens of an image, by the rules that OpenAI publishes for its models.

The rules and numbers are those of the guide "Images and vision", in its state of 2026-11. There are
two: by tiles of 512 pixels, and by patches of 32 pixels. Where the guide leaves something open, the
count has a note.

https://platform.openai.com/docs/guides/images-vision
"""

from __future__ import annotations

import re
from math import isqrt
from typing import NamedTuple, Protocol

from ..base import MessageCount
from .size import Size

DETAILS = ("low", "high", "auto", "original")

_AUTO = "the service chooses the detail of an image; the high one is taken"
_LOW = "OpenAI publishes no number for an image of low detail; that of the high one is taken"
_SMALL = "OpenAI does not say whether a small image is made larger; it is taken as it is"
_ROUNDED = "OpenAI does not say how the tokens of an image are rounded"

# Tiles: an image is made smaller until it fits in a square, and then until its shorter side is
# no longer than this.
_SQUARE = 2048
_SHORT = 768
_TILE = 512

# Patches: an image is covered by squares of so many pixels, and made smaller if they are too many.
_PATCH = 32
_MOST_PATCHES = 1536


class ImageRule(Protocol):
    """The rule for the images of a model."""

    def tokens(self, size: Size | None, detail: str) -> MessageCount:
        """Return the number of tokens of an image.

        Args:
            size: its size; None if it is not known.
            detail: one of ``DETAILS``.

        Raises:
            ValueError: the size must be known; or the model has no rule for this detail.
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
        if detail == "low":
            return MessageCount(self.base)
        size = _known(size, detail)
        # The factors that it is made smaller by: none, to fit in the square, for its shorter side.
        fractions = (1, 1), (_SQUARE, max(size)), (_SHORT, min(size))
        part, of = min(fractions, key=lambda fraction: fraction[0] / fraction[1])
        across, down = (_covering(side * part, of * _TILE) for side in size)
        # A side that is less than a pixel longer than some tiles may be rounded, or take one more.
        is_rounded = any(side * part // of % _TILE == 0 < side * part % of for side in size)
        notes = [
            (detail == "auto", _AUTO),
            (min(size) < _SHORT, _SMALL),
            (is_rounded, _ROUNDED),
        ]
        return MessageCount(self.base + across * down * self.tile, _joined(notes))


class Patches(NamedTuple):
    """A number for each patch.

    Args:
        each: the number, in hundredths of a token.

    >>> Patches(162).tokens(Size(1024, 1024), "high")
    1659
    """

    each: int

    def tokens(self, size: Size | None, detail: str) -> MessageCount:
        hundredths = patches(_known(size, detail)) * self.each
        notes = [
            (detail == "auto", _AUTO),
            (detail == "low", _LOW),
            (hundredths % 100 > 0, _ROUNDED),
        ]
        return MessageCount(_covering(hundredths, 100), _joined(notes))


def patches(size: Size) -> int:
    """Return the number of patches that cover an image, which is made smaller if they are too many.

    It is made so small that one side is a whole number of patches, and that there are no more than
    the limit. With n patches along a side of w pixels, there are n * h / w along the other, of h
    pixels. All this is exact in integers.

    >>> patches(Size(1024, 1024)), patches(Size(1800, 2400))
    (1024, 1452)
    """
    width, height = size
    count = _covering(width, _PATCH) * _covering(height, _PATCH)
    if count <= _MOST_PATCHES:
        return count
    # The patches along each side if there could be parts of one; then as many whole ones.
    across = max(1, isqrt(_MOST_PATCHES * width // height))
    down = max(1, isqrt(_MOST_PATCHES * height // width))
    if across * height <= down * width:  # the width loses the larger share
        down = _covering(across * height, width)
    else:
        across = _covering(down * width, height)
    return min(across * down, _MOST_PATCHES)


#: The first rule whose pattern matches the name of a model is its own.
_RULES: tuple[tuple[str, ImageRule], ...] = (
    (r"gpt-4o-mini.*", Tiles(2833, 5667)),
    (r"(chat)?gpt-4o.*", Tiles(85, 170)),
    (r"(gpt-4\.1|gpt-5|gpt-5\.4)-mini.*", Patches(162)),
    (r"(gpt-4\.1|gpt-5)-nano.*", Patches(246)),
    (r"o4-mini.*", Patches(172)),
    (r"gpt-4\.1(-\d.*)?", Tiles(85, 170)),
    (r"gpt-5(-chat.*|-\d.*)?", Tiles(70, 140)),
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


def _known(size: Size | None, detail: str) -> Size:
    if detail == "original":
        raise ValueError("OpenAI's numbers for images of detail 'original' are not known here")
    if size is None:
        raise ValueError(
            "the size of an image at an address is not known: give the image as a data URL"
        )
    return size


def _covering(length: int, part: int) -> int:
    """Return the number of parts that cover a length."""
    return -(-length // part)


def _joined(notes: list[tuple[bool, str]]) -> str:
    return "; ".join(note for is_true, note in notes if is_true)
