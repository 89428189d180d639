"""``count_messages``, and ``count_parts``: the tokens that each part of a request adds."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Callable

from ..encodings.encoding import Encoding
from .base import ChatFormat, Endpoint, MessageCount, Request
from .choose import chosen_format
from .images import is_image
from .left_out import counted_with_notes
from .messages import Object, Plain
from .template import ChatTemplate


def count_messages(
    messages: Sequence[Object],
    *,
    model: str | None = None,
    encoding: Encoding | str | os.PathLike[str] | None = None,
    tools: Sequence[Object] | None = None,
    template: ChatTemplate | str | None = None,
    documents: Sequence[Object] | None = None,
    add_generation_prompt: bool = True,
    continue_final_message: bool | str = False,
    variables: Mapping[str, Any] | None = None,
    response_format: Mapping[str, Any] | None = None,
    tool_choice: str | Mapping[str, Any] | None = None,
    endpoint: Endpoint = "chat_completions",
    estimate: bool = False,
    strict: bool = False,
    as_of: str | None = None,
) -> MessageCount:
    """Return the number of tokens of a conversation as a model gets it.

    The format is that of the model: OpenAI's rules, the harmony format of ``gpt-oss``, DeepSeek's,
    or the chat template of any other model. The name of a special token in a message is plain
    text to OpenAI's models. In the text that DeepSeek's format or a chat template makes of a
    conversation, it is the token, as in ``transformers``.

    Args:
        messages: the conversation: objects with a ``"role"``, mostly a ``"content"`` (a text, a
            list of parts, or None beside ``"tool_calls"``), and perhaps a ``"name"``. Dicts, or
            objects with ``model_dump()`` as openai's, litellm's and Anthropic's clients have them,
            or LangChain's messages. Parts are texts and, for OpenAI's models, images. The size of
            an image is read from its data: give it as a data URL, or with a low detail.
        model: the name of the model, such as ``"gpt-4o"``, which decides encoding and format.
        encoding: the encoding, its name, or the path of a vocabulary. The chat template beside a
            file is used.
        tools: the tools that the model may call, as in a request.
        template: the chat template, of ``load_chat_template``, or its text in Jinja.
        documents: documents for a chat template.
        add_generation_prompt: True to count the tokens with which the reply begins, too.
        continue_final_message: True, or the name of a member of the last message, if the model
            goes on with that message; for a chat template.
        variables: the other values that a format takes: those of a chat template, such as
            ``{"enable_thinking": False}``; for ``gpt-oss`` ``reasoning_effort``,
            ``model_identity``, ``knowledge_cutoff`` and ``conversation_start_date``; for DeepSeek
            ``thinking``, and since V4 ``reasoning_effort``.
        response_format: the form of the reply, as in a request: an object whose ``"type"`` is
            ``"text"``, ``"json_object"`` or ``"json_schema"``.
        tool_choice: which tools the model may call, as in a request.
        endpoint: ``"chat_completions"`` or ``"responses"``: OpenAI's two endpoints bill the same
            messages and tools differently.
        estimate: True to estimate the number for a model without a public tokenizer, such as
            Claude's: from the number of characters, if the maker publishes how many make a token.
            It changes nothing for other models, or with an encoding.
        strict: True to refuse a request if a part of it cannot be counted. Otherwise the rest is
            counted, and the note of the count names that part.
        as_of: the day of the request, such as ``"2025-06-30"``, for a name that has meant different
            models over time: DeepSeek's ``deepseek-chat`` and ``deepseek-reasoner``. None for the
            last model.

    Returns:
        The number, an ``int``. If the rules do not give it exactly, ``is_estimate`` is True and
        ``note`` has the reason.

    Raises:
        ImportError: a chat template needs the extra ``compat-bpe[chat]``.
        KeyError: the model is unknown; or it has no public tokenizer, and ``estimate`` is False or
            no estimate is possible.
        OSError: a file cannot be read.
        ValueError: a message or tool is wrong, with its place; or it has a part that cannot be
            counted, such as audio; or the format is not known; or the chat template fails.

    >>> messages = [
    ...     {"role": "system", "content": "You are a helpful assistant."},
    ...     {"role": "user", "content": "hello"},
    ... ]
    >>> count_messages(messages, model="gpt-4o")
    18
    >>> count_messages(messages, model="deepseek-v3")
    10
    >>> count = count_messages(messages, model="claude-sonnet-4-5", estimate=True)
    >>> count, count.is_estimate
    (13, True)
    """
    count = counter_of(chosen_format(model, encoding, template, as_of, estimate=estimate))
    return count(
        Request.checked(
            messages,
            tools,
            documents,
            add_generation_prompt,
            continue_final_message,
            variables,
            response_format,
            tool_choice,
            endpoint,
            strict,
        )
    )


#: Counts a request.
RequestCounter = Callable[[Request], MessageCount]


def counter_of(chat: ChatFormat) -> RequestCounter:
    """Return the function that counts requests by a format."""
    return partial(counted_with_notes, chat)


@dataclass(frozen=True)
class RequestPart:
    """A part of a request.

    Args:
        name: the role of a message, or roles joined by ``" + "``; or ``"images"``, ``"tools"``,
            ``"response_format"``, or ``"reply"`` for the tokens with which the reply begins.
        messages: the indexes of its messages, from 0 on; empty for other parts.
        tokens: the tokens that it adds. The number may be negative: a part may make a format leave
            out earlier text, such as the thoughts of an earlier answer.
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
    """Return the parts of a request, with the number of tokens that each adds.

    The request is counted as it grows: by its first message, by its first two, and so on, then by
    the images in each, by the tools, by the form of the reply, and by its beginning. The sum is
    exactly the result of ``count_messages``. Messages that a format takes only together, such as
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
    count = counter_of(chosen_format(model, encoding, template, as_of, estimate=estimate))
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
    count(request)  # errors are about the whole request, not about its beginning
    return list(parts_of(request, count))


def parts_of(request: Request, count: RequestCounter) -> Iterator[RequestPart]:
    """Yield the parts of a request, with the number of tokens that each adds."""
    so_far = 0
    names: list[str] = []
    numbers: list[int] = []
    for name, number, grown in _growing(request):
        names.append(name)
        if number is not None:
            numbers.append(number)
        try:
            tokens = count(grown)
        except ValueError:  # the format takes this only with the next parts; it takes the whole
            continue
        shown = " + ".join(dict.fromkeys(names))
        if shown != "images" or tokens > so_far:  # those that cannot be counted are in the note
            yield RequestPart(shown, tuple(dict.fromkeys(numbers)), tokens - so_far)
        so_far, names, numbers = tokens, [], []


def _growing(request: Request) -> Iterator[tuple[str, int | None, Request]]:
    """Yield the name of each part, the index of its message, and the request up to that part."""
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
