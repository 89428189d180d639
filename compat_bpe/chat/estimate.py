"""The approximate number of tokens of a request to a model without a public tokenizer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..encodings.estimates import Factor
from .base import MessageCount, Request, refuse_template_parts
from .messages import content_texts, part_text

_TEXTS = "only texts, roles and tools are in the number, not what the service puts around them"

#: Members of a message that are no text of the prompt.
_IGNORED = frozenset(("cache_control", "annotations", "weight"))


def estimated_count(request: Request, factor: Factor) -> MessageCount:
    """Return the approximate number of tokens of a request.

    The characters of all messages and tools are added up, and the sum is divided once. What is no
    text, such as a tool and the input of a call, is counted as JSON.

    Args:
        request: the request.
        factor: the maker's number of characters to a token.

    Raises:
        ValueError: the request has something that cannot be counted, such as an image.
    """
    refuse_template_parts(request, "an estimate")
    if request.variables:
        raise ValueError("variables are for a chat template; an estimate has none")
    characters = 0
    for index, message in enumerate(request.messages):
        for name, value in message.items():
            if name == "content":
                characters += sum(map(len, _texts(value, f"messages[{index}].{name}")))
            elif value is not None and name not in _IGNORED:
                characters += _length(value)
    characters += sum(map(_length, request.tools or ()))
    if request.response_format is not None:
        characters += _length(request.response_format.given)
    return MessageCount(factor.tokens(characters), f"{factor.reason}; {_TEXTS}")


def _texts(content: Any, place: str) -> Iterator[str]:
    """Yield the texts of a message's content; its parts may be calls of tools and their results.

    https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview
    """
    if not isinstance(content, (list, tuple)):
        yield from content_texts(content, place)
        return
    for index, part in enumerate(content):
        here = f"{place}[{index}]"
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "tool_use":
            yield _text(part.get("name"))
            yield _text(part.get("input"))
        elif kind == "tool_result":
            yield from _texts(part.get("content"), f"{here}.content")
        else:
            yield part_text(part, here)


def _length(value: Any) -> int:
    return len(_text(value))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
