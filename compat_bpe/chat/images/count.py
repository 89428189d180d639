"""``image_tokens``: the number of tokens of one image, by itself or as a part of a message."""

from __future__ import annotations

import binascii
import os
from typing import Any

from ...encodings.model_names import plain_model_name
from ...files.whole import read_whole
from ..base import MessageCount
from ..messages import Uncountable, fail
from .rules import DETAILS, ImageRule, SizeNotKnown, rule_for_images
from .size import Size, size_of

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
        The number, an ``int``. Where the published rules do not say it exactly, its
        ``is_estimate`` is True and its ``note`` says the reason.

    Raises:
        KeyError: no rule for this model is known.
        OSError: the file cannot be read.
        ValueError: it is no PNG, JPEG, GIF or WebP, or damaged; or the detail is not known.

    >>> image_tokens((1024, 1024), model="gpt-4o", detail="high")
    765
    >>> count = image_tokens((1024, 1024), model="gpt-4.1-mini", detail="high")
    >>> count, count.note
    (1659, 'as published; OpenAI says that its service may count one token more or less')
    """
    rule = rule_for_images(plain_model_name(model))
    if rule is None:
        raise KeyError(f"no rule of OpenAI's for the images of {model!r} is known here")
    if isinstance(image, tuple):
        size = Size(*image)
        if min(size) < 1:
            raise ValueError(f"an image of {size.width} x {size.height} pixels has no size")
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
            "an image cannot be counted: OpenAI's rule for this model's images is not known here",
            "an image",
        )
    image: Any = part.get("image_url")
    detail, here = part.get("detail"), f"{place}.image_url"
    if isinstance(image, dict):
        image, detail, here = image.get("url"), image.get("detail"), f"{here}.url"
    if image is not None and not isinstance(image, str):
        fail(here, "must be a string")
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
        raise ValueError("a data URL has a comma before its data")
    if not head.lower().endswith(";base64"):
        from urllib.parse import unquote_to_bytes  # hardly any is written so

        return size_of(unquote_to_bytes(body))
    try:
        data = binascii.a2b_base64(body)
    except ValueError as error:
        raise ValueError(f"the data are no base64: {error}") from None
    return size_of(data)


def _checked_detail(detail: Any, place: str) -> str:
    if detail not in DETAILS:
        fail(place, f"{str(detail)[:40]!r} is not known; known: {', '.join(DETAILS)}")
    return str(detail)
