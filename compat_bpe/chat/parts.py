"""``count_parts``: what each part of a request adds to the number of its tokens."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Callable

from ..encodings.encoding import Encoding
from .base import MessageCount, Request
from .count import counter_of
from .images.count import IMAGE_PARTS
from .messages import Plain
from .template import ChatTemplate


@dataclass(frozen=True)
class RequestPart:
    """A part of a request.

    Args:
        name: the role of a message, or roles joined by ``" + "``; or ``"images"``, ``"tools"``, or
            ``"reply"`` for the tokens with which the reply begins.
        messages: the indexes of its messages, from 0 on; empty for tools and reply.
        tokens: the tokens that it adds. A part may make a format leave out what came before, such
            as the thoughts of an earlier answer; then the number may be below 0.
    """

    name: str
    messages: tuple[int, ...]
    tokens: int


def count_parts(
    messages: Sequence[Mapping[str, Any]],
    *,
    model: str | None = None,
    encoding: Encoding | str | os.PathLike[str] | None = None,
    tools: Sequence[Mapping[str, Any]] | None = None,
    template: ChatTemplate | str | None = None,
    documents: Sequence[Mapping[str, Any]] | None = None,
    variables: Mapping[str, Any] | None = None,
    estimate: bool = False,
) -> list[RequestPart]:
    """Return what each part of a request adds to the number of its tokens.

    The request is counted as it grows: by its first message, by its first two, and so on, then by
    the images in each, by the tools, and by the beginning of the reply. So the sum is exactly what
    ``count_messages`` returns. Messages that a format takes only together, such as those of the
    system and the user, are one part with the roles of both.

    Args:
        messages, model, encoding, tools, template, documents, variables, estimate: as in
            ``count_messages``.

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
    count = counter_of(model, encoding, template, estimate)
    request = Request.checked(messages, tools, documents, variables=variables)
    count(request)  # what is wrong is said of the whole request, not of a beginning of it
    return list(_parts(request, count))


def _parts(request: Request, count: Callable[[Request], MessageCount]) -> Iterator[RequestPart]:
    """Yield the parts of a request, each with what it adds to the number of tokens."""
    texts = [_without_images(message) for message in request.messages]
    so_far = 0
    growing = replace(request, tools=None, add_generation_prompt=False)
    waiting: list[int] = []
    for number in range(len(texts)):
        waiting.append(number)
        growing = growing.with_messages(texts[: number + 1])
        try:
            tokens = count(growing)
        except ValueError:  # the format takes this message only with what follows
            continue
        yield RequestPart(_roles(texts, waiting), tuple(waiting), tokens - so_far)
        so_far, waiting = tokens, []
    if waiting:
        # The format takes the last messages only as a whole request: all that is left is one part.
        yield RequestPart(
            f"{_roles(texts, waiting)} + reply", tuple(waiting), count(request) - so_far
        )
        return
    for number, message in enumerate(request.messages):
        if message is not texts[number]:
            texts[number] = message
            tokens = count(growing.with_messages(list(texts)))
            yield RequestPart("images", (number,), tokens - so_far)
            so_far = tokens
    if request.tools:
        growing = replace(growing, messages=request.messages, tools=request.tools)
        tokens = count(growing)
        yield RequestPart("tools", (), tokens - so_far)
        so_far = tokens
    yield RequestPart("reply", (), count(request) - so_far)


def _roles(messages: list[Plain], numbers: list[int]) -> str:
    return " + ".join(dict.fromkeys(messages[number]["role"] for number in numbers))


def _without_images(message: Plain) -> Plain:
    """Return a message without its images; the message itself if it has none."""
    content = message.get("content")
    if not isinstance(content, (list, tuple)):
        return message
    kept = [part for part in content if not _is_image(part)]
    return message if len(kept) == len(content) else {**message, "content": kept}


def _is_image(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in IMAGE_PARTS
