"""``count_parts``: what each part of a request adds to the number of its tokens."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..encodings.encoding import Encoding
from .base import Endpoint, Request
from .count import Counter, chosen_counter
from .images.count import is_image
from .messages import Object, Plain
from .template import ChatTemplate


@dataclass(frozen=True)
class RequestPart:
    """A part of a request.

    Args:
        name: the role of a message, or roles joined by ``" + "``; or ``"images"``, ``"tools"``,
            ``"response_format"``, or ``"reply"`` for the tokens with which the reply begins.
        messages: the indexes of its messages, from 0 on; empty for what is of no message.
        tokens: the tokens that it adds. A part may make a format leave out what came before, such
            as the thoughts of an earlier answer; then the number may be below 0.
    """

    name: str
    messages: tuple[int, ...]
    tokens: int


def count_parts(
    messages: Sequence[Object],
    *,
    model: str | None = None,
    encoding: Encoding | str | os.PathLike[str] | None = None,
    tools: Sequence[Object] | None = None,
    template: ChatTemplate | str | None = None,
    documents: Sequence[Object] | None = None,
    variables: Mapping[str, Any] | None = None,
    response_format: Mapping[str, Any] | None = None,
    tool_choice: str | Mapping[str, Any] | None = None,
    endpoint: Endpoint = "chat_completions",
    estimate: bool = False,
    strict: bool = False,
    as_of: str | None = None,
) -> list[RequestPart]:
    """Return what each part of a request adds to the number of its tokens.

    The request is counted as it grows: by its first message, by its first two, and so on, then by
    the images in each, by the tools, by the form of the reply, and by its beginning. So the sum is
    exactly what ``count_messages`` returns. Messages that a format takes only together, such as
    those of the system and the user, are one part with the roles of both.

    Args:
        messages, model, encoding, tools, template, documents, variables, response_format,
            tool_choice, endpoint, estimate, strict, as_of: as in ``count_messages``.

    Raises:
        ImportError, KeyError, OSError, ValueError: as in ``count_messages``.

    >>> messages = [
    ...     {"role": "system", "content": "You are a helpful assistant."},
    ...     {"role": "user", "content": "hello"},
    ... ]
    >>> for part in count_parts(messages, model="gpt-4o"):
    ...     print(part.name, part.messages, part.tokens)
    system (0,) 10
    user (1,) 5
    reply () 3
    """
    count, _ = chosen_counter(model, encoding, template, estimate, as_of)
    request = Request.checked(
        messages,
        tools,
        documents,
        variables=variables,
        response_format=response_format,
        tool_choice=tool_choice,
        endpoint=endpoint,
        strict=strict,
    )
    count(request)  # what is wrong is said of the whole request, not of a beginning of it
    return list(parts_of(request, count))


def parts_of(request: Request, count: Counter) -> Iterator[RequestPart]:
    """Yield the parts of a request, each with what it adds to the number of tokens."""
    so_far = 0
    names: list[str] = []
    numbers: list[int] = []
    for name, number, grown in _growing(request):
        names.append(name)
        if number is not None:
            numbers.append(number)
        try:
            tokens = count(grown)
        except ValueError:  # the format takes this only with what follows; it takes the whole
            continue
        shown = " + ".join(dict.fromkeys(names))
        if shown != "images" or tokens > so_far:  # those that cannot be counted are in the note
            yield RequestPart(shown, tuple(dict.fromkeys(numbers)), tokens - so_far)
        so_far, names, numbers = tokens, [], []


def _growing(request: Request) -> Iterator[tuple[str, int | None, Request]]:
    """Yield the request as it grows, each time with what has come, and of which message."""
    texts = [_without_images(message) for message in request.messages]
    bare = replace(
        request, tools=None, response_format=None, tool_choice=None, add_generation_prompt=False
    )
    for number, message in enumerate(texts):
        yield message["role"], number, bare.with_messages(texts[: number + 1])
    for number, message in enumerate(request.messages):
        if message is not texts[number]:
            texts[number] = message
            yield "images", number, bare.with_messages(list(texts))
    if request.tools:
        with_tools = replace(bare, tools=request.tools, tool_choice=request.tool_choice)
        yield "tools", None, with_tools.with_messages(request.messages)
    if request.response_format is not None:
        yield "response_format", None, replace(request, add_generation_prompt=False)
    yield "reply", None, request


def _without_images(message: Plain) -> Plain:
    """Return a message without its images; the message itself if it has none."""
    content = message.get("content")
    if not isinstance(content, (list, tuple)):
        return message
    kept = [part for part in content if not is_image(part)]
    return message if len(kept) == len(content) else {**message, "content": kept}
