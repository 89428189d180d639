"""The tokens of a request as a model gets it, and of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from compat_bpe.chat.base import Request
from compat_bpe.chat.choose import NoFormatError
from compat_bpe.chat.images import is_image
from compat_bpe.chat.requests import stored_requests, whole_request

from .tokenizers import Tokenizer


def read_request(text: str) -> dict[str, Any]:
    """Return a request as services take it and files keep it: ``request``, and a ``note``.

    Raises:
        ValueError: it is none.

    >>> read_request('[{"role": "user", "content": "Hi"}]')
    {'request': {'messages': [{'role': 'user', 'content': 'Hi'}]}, 'note': ''}
    """
    stored = stored_requests(text)
    first = stored[0]
    notes = [f"this is the first of {len(stored)} requests"] * (len(stored) > 1)
    notes += [f"not counted: {one}" for one in first.left_out]
    return {"request": dict(first.body), "note": "; ".join(notes)}


def count_conversation(
    tokenizer: Tokenizer, model: str | None, request: dict[str, Any]
) -> dict[str, Any]:
    """Return the tokens of a request: its messages, tools and form of the reply.

    Args:
        tokenizer: what counts where no model is given.
        model: the name of the model; None if an encoding was chosen.
        request: the request, in any form that ``count_request`` takes.

    Returns:
        ``count``, with the tokens that the reply begins with; ``note``, the reason for which it is
        an estimate, or empty; ``parts``, the tokens of ``images``, ``tools`` and
        ``response_format``, where it has them.

    Raises:
        ValueError: the request is wrong, or no format is known.

    >>> from compat_bpe import get_encoding
    >>> request = {"messages": [{"role": "user", "content": "hello"}]}
    >>> count_conversation(Tokenizer(get_encoding("o200k_base")), "gpt-4o", request)
    {'count': 8, 'note': '', 'parts': {}}
    """
    try:
        whole = whole_request(
            request,
            model=model,
            encoding=None if model else tokenizer.encoding,
            template=None,
            estimate=True,
            strict=False,
            as_of=None,
        )
    except NoFormatError as error:
        raise ValueError(f"{error.reason}: choose a model whose format is known") from None
    count = whole.count()
    parts: dict[str, int] = {}
    rest = int(count)
    for name, without in _shorter(whole.request):
        tokens = int(whole.counter(without))
        if rest > tokens:  # what cannot be counted is in the note
            parts[name] = rest - tokens
        rest = tokens
    return {"count": int(count), "note": count.note, "parts": parts}


def _shorter(request: Request) -> Iterator[tuple[str, Request]]:
    """Yield the request without one more of its parts each time, and the name of that part."""
    if request.response_format is not None:
        request = replace(request, response_format=None)
        yield "response_format", request
    if request.tools:
        request = replace(request, tools=None, tool_choice=None)
        yield "tools", request
    messages = [
        {**message, "content": [one for one in message["content"] if not is_image(one)]}
        if isinstance(message.get("content"), (list, tuple))
        else message
        for message in request.messages
    ]
    if messages != list(request.messages):
        yield "images", request.with_messages(messages)
