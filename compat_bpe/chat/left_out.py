"""Parts of a request that are not counted: they are named in the note, or refused if strict."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from .base import ChatFormat, LeftOut, MessageCount, Request
from .messages import Plain, RequestError, Uncountable

#: Members that a reply has beside its text, as a client or a transcript keeps it.
REPLY_MEMBERS = frozenset(
    ("id", "type", "model", "stop_reason", "stop_sequence", "stop_details", "usage", "container")
    + ("created", "created_at", "timestamp", "uuid", "status", "parsed", "provider_specific_fields")
)

#: Members of a message or a part that are not text of a prompt in any format.
_NO_TEXT = REPLY_MEMBERS | {"annotations", "weight"}

#: Members of a part that are counted, or decide how.
_PART_MEMBERS = frozenset(("text", "refusal", "image_url", "detail", "logprobs", "file_id"))

#: The kinds of parts that are images, as ``LeftOut`` has them.
_IMAGES = ("an image", "an image at an address", "image", "image_url", "input_image")

#: The parts that a chat template shows as a mark or not at all, but a model sees as many tokens.
_MEDIA = frozenset((*_IMAGES, "input_audio", "audio", "audio_url", "video", "video_url", "file"))

#: The most places that a note names.
_NAMED = 8


def members_left_out(value: Plain, place: str, known: Collection[str]) -> list[LeftOut]:
    """Return the members of a message, or of a part of one, that are not counted.

    Args:
        value: the message or part.
        place: where it is in the request.
        known: the members that are counted.
    """
    return [
        LeftOut(f"{place}.{name}")
        for name, one in value.items()
        if name not in known and name not in _NO_TEXT and one not in (None, [], {}, "")
    ]


def countable_message(
    message: Plain, place: str, chat: ChatFormat, *, strict: bool = False
) -> tuple[Plain, list[LeftOut]]:
    """Return the parts of a message that a format counts, and the others.

    Args:
        message: the message; it is returned itself if it loses no part.
        place: where it is in the request.
        chat: the format.
        strict: True to refuse a part that cannot be counted.

    Raises:
        ValueError: the content is damaged; or ``Uncountable``, if it is strict.
    """
    content = message.get("content")
    if chat.members is None:
        parts = content if isinstance(content, (list, tuple)) and not chat.names_left_out else ()
        return message, [
            LeftOut(f"{place}.content[{at}]", part["type"])
            for at, part in enumerate(parts)
            if isinstance(part, dict) and part.get("type") in _MEDIA
        ]
    left_out = members_left_out(message, place, chat.members)
    if not isinstance(content, (list, tuple)):
        return message, left_out
    kept = []
    for at, part in enumerate(content):
        here = f"{place}.content[{at}]"
        try:
            chat.check_part(part, here)
        except Uncountable as error:
            if strict:
                raise
            left_out.append(LeftOut(here, error.kind))
        else:
            kept.append(part)
            left_out += members_left_out(part, here, _PART_MEMBERS)
    return (message if len(kept) == len(content) else {**message, "content": kept}), left_out


def without_other_tools(request: Request) -> tuple[Request, list[LeftOut]]:
    """Return a request without the tools that are not functions, and those tools.

    Such a tool is one that a service runs itself, or one of OpenAI's "custom" type.
    """
    kept, left_out = [], []
    for at, tool in enumerate(request.tools or ()):
        kind = tool.get("type")
        if isinstance(kind, str) and kind != "function" and not _describes_a_function(tool):
            left_out.append(LeftOut(f"tools[{at}]", kind[:40]))
        else:
            kept.append(tool)
    return (replace(request, tools=kept or None), left_out) if left_out else (request, [])


def counted_with_notes(chat: ChatFormat, request: Request) -> MessageCount:
    """Return the number of tokens of a request; its note names the uncounted parts.

    Raises:
        ValueError: the request is damaged; or it is strict, and something is not counted.
    """
    kept, left_out = countable_request(chat, request)
    messages = []
    for at, message in enumerate(request.messages):
        message, more = countable_message(message, f"messages[{at}]", chat, strict=request.strict)
        messages.append(message)
        left_out += more
    count = chat.count(kept.with_messages(messages))
    return with_left_out(count, checked_left_out(request, left_out))


def countable_request(chat: ChatFormat, request: Request) -> tuple[Request, list[LeftOut]]:
    """Return a request without the tools that a format does not count, and the uncounted parts."""
    if chat.members is None:
        return request, []
    kept, left_out = without_other_tools(request)
    return kept, left_out + ([] if chat.knows_endpoints else endpoint_parts(request))


def endpoint_parts(request: Request) -> list[LeftOut]:
    """Return the parts that only a format with endpoints counts, such as ``tool_choice``."""
    parts = [] if request.tool_choice in (None, "auto") else [LeftOut("tool_choice")]
    if request.endpoint != "chat_completions":
        recorded = "DeepSeek's added 62 to 79 tokens in 7 recorded requests"
        parts.append(LeftOut("text added by Responses", recorded))
    return parts


def checked_left_out(request: Request, left_out: Sequence[LeftOut]) -> list[LeftOut]:
    """Return all uncounted parts of a request, with their places in the caller's request.

    Raises:
        RequestError: the request is strict, and there are some.
    """
    every = [*request.left_out, *(one._replace(place=request.place(one.place)) for one in left_out)]
    if request.strict and every:
        more = f", nor can {len(every) - 1} more" if len(every) > 1 else ""
        raise RequestError(str(every[0]), f"cannot be counted{more}")
    return every


def with_left_out(count: MessageCount, left_out: Sequence[LeftOut]) -> MessageCount:
    """Return a count with a note that names the uncounted parts.

    >>> with_left_out(MessageCount(8), [LeftOut("messages[0].metadata")]).note
    'not counted: messages[0].metadata'
    >>> with_left_out(MessageCount(8), [LeftOut("messages[0].content[1]", "image")]).note
    '1 image not counted, so the number is a lower bound: messages[0].content[1] (image)'
    """
    images = [str(one) for one in left_out if one.kind in _IMAGES]
    rest = [str(one) for one in left_out if one.kind not in _IMAGES]
    notes = [count.note]
    if images:
        what = "1 image" if len(images) == 1 else f"{len(images)} images"
        bound = "" if count.note else ", so the number is a lower bound"
        notes.append(f"{what} not counted{bound}: {_named(images)}")
    if rest:
        notes.append(f"not counted: {_named(rest)}")
    return MessageCount(count, "; ".join(filter(None, notes)))


def _named(places: list[str]) -> str:
    more = len(places) - _NAMED
    return ", ".join(places[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _describes_a_function(tool: Plain) -> bool:
    """Return True for a tool of the caller's own: OpenAI's, or Anthropic's with its schema."""
    return isinstance(tool.get("function"), dict) or "input_schema" in tool
