"""The estimated count of a request to a model without a public tokenizer, by its characters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..encodings.registry import get_encoding
from ..encodings.resolve import CHARACTERS
from .base import ChatFormat, LeftOut, MessageCount, Request, refuse_template_parts
from .left_out import checked_left_out, endpoint_parts, members_left_out, with_left_out
from .messages import MEMBERS, Uncountable, content_texts, part_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..encodings.estimates import Estimate

_TEXTS = "the number covers texts, roles and tools, not the text that the service adds to them"

#: The members of a message that are counted.
_MEMBERS = frozenset((*MEMBERS, "function_call", "refusal"))

#: The parts of a content that are counted, each with the members that are its text.
#: https://platform.claude.com/docs/en/api/messages
_PARTS = {
    "tool_use": ("name", "input"),
    "server_tool_use": ("name", "input"),
    "thinking": ("thinking",),
    "document": ("title", "context"),
    "search_result": ("title", "source"),
}
#: The members of all other parts that are counted.
_TEXT_MEMBERS = ("text", "refusal")


class EstimateFormat(ChatFormat):
    """The estimated count of a request to a model without a public tokenizer.

    Args:
        estimate: converts a number of characters to tokens.
    """

    names_left_out = True

    def __init__(self, estimate: Estimate) -> None:
        super().__init__(get_encoding(CHARACTERS))
        self._estimate = estimate

    def count(self, request: Request) -> MessageCount:
        """Return the approximate number of tokens of a request.

        The characters of all messages and tools are added up, and the sum is divided once. Values
        that are not texts, such as a tool and the input of a call, are counted as JSON.

        Raises:
            ValueError: the request is damaged; or it is strict, and something is not counted.
        """
        refuse_template_parts(request, "an estimate")
        if request.variables:
            raise ValueError("variables need a chat template; an estimate has none")
        characters = 0
        left_out: list[LeftOut] = []
        for index, message in enumerate(request.messages):
            left_out += members_left_out(message, f"messages[{index}]", _MEMBERS)
            for name, value in message.items():
                if name == "content":
                    place = f"messages[{index}].{name}"
                    characters += sum(map(len, _texts(value, place, request.strict, left_out)))
                elif value is not None and name in _MEMBERS:
                    characters += _length(value)
        characters += sum(map(_length, request.tools or ()))
        if request.response_format is not None:
            characters += _length(request.response_format.given)
        left_out += endpoint_parts(request)
        count = MessageCount(
            self._estimate.tokens(characters), f"{self._estimate.reason}; {_TEXTS}"
        )
        return with_left_out(count, checked_left_out(request, left_out))

    def limit(self, tokens: int) -> int:
        return self._estimate.limit(tokens)


def _texts(content: Any, place: str, strict: bool, left_out: list[LeftOut]) -> Iterator[str]:
    """Yield the texts of a message's content; the places of all else are added to ``left_out``."""
    if not isinstance(content, (list, tuple)):
        yield from content_texts(content, place)
        return
    for index, part in enumerate(content):
        here = f"{place}[{index}]"
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "tool_result":
            yield from _texts(part.get("content"), f"{here}.content", strict, left_out)
            continue
        if isinstance(kind, str) and kind in _PARTS:
            yield from (_text(part[name]) for name in _PARTS[kind] if part.get(name) is not None)
            source = part.get("source") if kind == "document" else None
            if isinstance(source, dict):
                if source.get("type") == "text":
                    yield _text(source.get("data"))
                elif source.get("type") == "content":
                    yield from _texts(source.get("content"), f"{here}.source", strict, left_out)
                else:
                    left_out.append(LeftOut(f"{here}.source", str(source.get("type"))[:40]))
            elif kind == "search_result":
                yield from _texts(part.get("content"), f"{here}.content", strict, left_out)
            continue
        try:
            yield part_text(part, here)
        except Uncountable as error:
            if strict:
                raise
            left_out.append(LeftOut(here, error.kind))
            continue
        left_out += members_left_out(part, here, _TEXT_MEMBERS)


def _length(value: Any) -> int:
    return len(_text(value))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
