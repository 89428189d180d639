"""The variables of a chat format in a request to a service.

A service takes some of them as members of the request: DeepSeek's says ``"thinking": {"type":
"enabled"}``, where its chat format has the variable ``thinking``, true or false.

https://api-docs.deepseek.com/guides/thinking_mode
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .base import ChatFormat
from .messages import fail

_THINKING = {"enabled": True, "disabled": False}


def service_variables(body: Mapping[str, Any], chat: ChatFormat) -> dict[str, Any]:
    """Return the variables that a request has as members of its own.

    Members that the format does not know as variables are left alone: they say how a reply is made,
    and are no text of the prompt.

    Args:
        body: the request, as the service takes it.
        chat: the format of the model.

    Raises:
        ValueError: a member is not what the service takes.

    >>> from compat_bpe.chat.choose import chosen_format
    >>> body = {"messages": [], "thinking": {"type": "enabled"}, "temperature": 0}
    >>> service_variables(body, chosen_format("deepseek-v3.1", None, None))
    {'thinking': True}
    >>> service_variables(body, chosen_format("gpt-4o", None, None))
    {}
    """
    values = {name: body[name] for name in chat.service_variables if body.get(name) is not None}
    if "thinking" in values:
        thinking = values["thinking"]
        kind = thinking.get("type") if isinstance(thinking, dict) else None
        if not isinstance(kind, str) or kind not in _THINKING:
            fail("thinking", f"must be an object whose type is {' or '.join(_THINKING)}")
        values["thinking"] = _THINKING[kind]
    return values
