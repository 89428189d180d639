"""The tokens of a conversation as a model gets it."""

from __future__ import annotations

from typing import Any

from compat_bpe import Encoding
from compat_bpe.encodings.resolve import Terms, UnresolvedError, resolve

#: How the page writes what an error tells its visitors to give.
TERMS = Terms("{}", "{}", "", listing="choose one of the list, or write its whole name")


def encoding_of(model: str) -> str:
    """Return the name of the encoding of a model.

    Raises:
        ValueError: the model is not known.

    >>> encoding_of("gpt-4o")
    'o200k_base'
    """
    try:
        return resolve(model, "model", files=False).encoding_name
    except UnresolvedError as error:
        raise ValueError(error.message(TERMS)) from None


def count_conversation(
    encoding: Encoding,
    model: str,
    messages: list[dict[str, Any]],
    tools: list[dict[str, Any]] | None = None,
    response_format: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the tokens of a conversation, with the tools and the form of the reply.

    Returns:
        ``count``, with the tokens that the reply begins with; ``note``, the reason for which it is
        an estimate, or empty; ``parts``, the tokens of each message's own text; ``texts``.

    Raises:
        ValueError: a message is wrong, or no format is known for the model.

    >>> from compat_bpe import get_encoding
    >>> messages = [{"role": "user", "content": "hello"}]
    >>> count_conversation(get_encoding("o200k_base"), "gpt-4o", messages)
    {'count': 8, 'note': '', 'parts': [1], 'texts': ['hello']}
    """
    from compat_bpe.chat import count_messages  # most visits count a text only

    found = count_messages(
        messages, model=model, encoding=encoding, tools=tools, response_format=response_format
    )
    texts = [_text_of(one) for one in messages]
    return {
        "count": int(found),
        "note": found.note,
        "parts": [encoding.count(text) for text in texts],
        "texts": texts,
    }


def _text_of(message: dict[str, Any]) -> str:
    """Return the text of a message, also of one in parts or with none beside its tool calls."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content)  # an image has none
    return content or ""
