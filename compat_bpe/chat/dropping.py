"""Messages without what costs most: their images, or what a tool returned."""

from __future__ import annotations

from typing import Any, Literal

from .messages import Plain

#: The parts that can be left out of a message that stays.
Dropped = Literal["images", "tool_results"]

#: The types of parts that are images, each with that of the text put there; the last is of
#: requests that a chat template takes.
_TEXT_FOR = {"image_url": "text", "input_image": "input_text", "image": "text"}

_IMAGE, _RESULT = "[image left out]", "[result left out]"


def stripped(message: Plain, what: Dropped) -> Plain | None:
    """Return a message with a short text for what it loses; None if it has nothing of that.

    A result that is no longer than that text stays.

    >>> stripped({"role": "tool", "content": "Sunny, with a light wind."}, "tool_results")
    {'role': 'tool', 'content': '[result left out]'}
    >>> stripped({"role": "user", "content": "Hi"}, "images")
    """
    content = message.get("content")
    if what == "tool_results":
        is_long = not isinstance(content, str) or len(content) > len(_RESULT)
        if message["role"] not in ("tool", "function") or not content or not is_long:
            return None
        return {**message, "content": _RESULT}
    if not isinstance(content, (list, tuple)):
        return None
    parts = [_text_for(part) for part in content]
    return None if parts == list(content) else {**message, "content": parts}


def _text_for(part: Any) -> Any:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or kind not in _TEXT_FOR:
        return part
    return {"type": _TEXT_FOR[kind], "text": _IMAGE}
