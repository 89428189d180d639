"""The parts of a request that cannot be counted are named, and the rest is counted."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from .base import ChatFormat, MessageCount, Request
from .messages import Plain, Uncountable

#: Members of a message that are no text of a prompt in any format.
_NO_TEXT = frozenset(("annotations", "weight"))

#: Members of a part that say what it is, or are counted.
_PART_MEMBERS = frozenset(
    ("type", "text", "refusal", "image_url", "detail", "annotations", "logprobs", "id", "file_id")
)

#: The most places that a note names.
_NAMED = 8


def left_out_members(messages: list[Plain], known: Collection[str] | None) -> list[str]:
    """Return the places of the members of messages that are not counted.

    Args:
        messages: the messages.
        known: the members that are counted; None if all are.
    """
    if known is None:
        return []
    return [
        f"messages[{at}].{name}"
        for at, message in enumerate(messages)
        for name, value in message.items()
        if name not in known and name not in _NO_TEXT and value not in (None, [], {}, "")
    ]


def without_uncountable_parts(
    messages: list[Plain], check: Callable[[Any, str], None], *, strict: bool = False
) -> tuple[list[Plain], list[str]]:
    """Return messages without the parts that cannot be counted, and the places of those.

    Args:
        messages: the messages; those that lose nothing are returned themselves.
        check: raises ``Uncountable`` for such a part.
        strict: True to let it.

    Raises:
        ValueError: as ``check`` does for what is damaged, and ``Uncountable`` if it is strict.
    """
    kept, places = [], []
    for at, message in enumerate(messages):
        content = message.get("content")
        if isinstance(content, (list, tuple)):
            parts = []
            for number, part in enumerate(content):
                place = f"messages[{at}].content[{number}]"
                try:
                    check(part, place)
                except Uncountable as error:
                    if strict:
                        raise
                    places.append(f"{place} ({error.kind})")
                else:
                    parts.append(part)
                    places += [f"{place}.{name}" for name in part if name not in _PART_MEMBERS]
            if len(parts) < len(content):
                message = {**message, "content": parts}
        kept.append(message)
    return kept, places


def without_other_tools(request: Request) -> tuple[Request, list[str]]:
    """Return a request without the tools that are no functions, and the places of those.

    Such a tool is one that a service runs itself, or one of OpenAI's "custom" type.
    """
    kept, places = [], []
    for at, tool in enumerate(request.tools or ()):
        kind = tool.get("type")
        if isinstance(kind, str) and kind != "function" and not _describes_a_function(tool):
            places.append(f"tools[{at}] ({kind[:40]})")
        else:
            kept.append(tool)
    return (replace(request, tools=kept or None), places) if places else (request, [])


def counted_with_notes(chat: ChatFormat, request: Request) -> MessageCount:
    """Return the number of tokens of a request; its note names what is not counted.

    Raises:
        ValueError: the request is damaged; or it is strict, and something is not counted.
    """
    if chat.members is None:
        return chat.count(request)
    kept, places = without_other_tools(request)
    messages, parts = without_uncountable_parts(
        kept.messages, chat.check_part, strict=request.strict
    )
    places += left_out_members(request.messages, chat.members) + parts
    kept = kept.with_messages(messages)
    if not chat.knows_endpoints:
        places += endpoint_parts(request)
    check_strict(request, places)
    return with_left_out(chat.count(kept), places)


def endpoint_parts(request: Request) -> list[str]:
    """Return what a request has of a service that a format without endpoints does not count."""
    parts = [] if request.tool_choice in (None, "auto") else ["tool_choice"]
    if request.endpoint != "chat_completions":
        parts.append(
            "what Responses adds (DeepSeek's added 62 to 79 tokens in 7 recorded requests)"
        )
    return parts


def check_strict(request: Request, places: list[str]) -> None:
    """Raise ``ValueError`` if a request is strict and something of it is not counted."""
    if request.strict and places:
        raise ValueError(f"{places[0]}: cannot be counted{_others(places)}")


def with_left_out(count: MessageCount, places: list[str]) -> MessageCount:
    """Return a count with a note that names what is not counted.

    >>> with_left_out(MessageCount(8), ["messages[0].metadata"]).note
    'not counted: messages[0].metadata'
    """
    if not places:
        return count
    more = len(places) - _NAMED
    named = ", ".join(places[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return MessageCount(count, "; ".join(filter(None, (count.note, f"not counted: {named}"))))


def _others(places: list[str]) -> str:
    more = len(places) - 1
    return f", nor can {more} more" if more else ""


def _describes_a_function(tool: Plain) -> bool:
    """Return True for a tool of the caller's own: OpenAI's, or Anthropic's with its schema."""
    return isinstance(tool.get("function"), dict) or "input_schema" in tool
