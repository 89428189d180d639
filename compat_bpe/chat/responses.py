"""Requests to OpenAI's endpoint Responses, as messages, tools and the form of a reply.

https://developers.openai.com/api/reference/resources/responses
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .messages import Plain, fail, kind_of

#: The members of a request that hold what is not in it: the service reads it from elsewhere.
_ELSEWHERE = ("previous_response_id", "conversation", "prompt", "context_management")


def is_for_responses(body: Mapping[str, Any]) -> bool:
    """Return True if a request is one to Responses: its messages are its ``input``.

    >>> is_for_responses({"input": "Hi"}), is_for_responses({"messages": []})
    (True, False)
    """
    return "input" in body and "messages" not in body


def chat_request(body: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of ``count_messages`` for a request to Responses.

    Args:
        body: the request.

    Returns:
        The arguments, and the places of what has no place in them.

    Raises:
        ValueError: the request is damaged.

    >>> arguments, left_out = chat_request({"instructions": "Be brief.", "input": "Hi"})
    >>> arguments["messages"]
    [{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'Hi'}]
    """
    left_out = [name for name in _ELSEWHERE if body.get(name) is not None]
    messages: list[Plain] = []
    if body.get("instructions"):
        messages.append({"role": "system", "content": body["instructions"]})
    given = body["input"]
    if isinstance(given, str):
        messages.append({"role": "user", "content": given})
    elif isinstance(given, (list, tuple)):
        for at, item in enumerate(given):
            place = f"input[{at}]"
            if not isinstance(item, Mapping):
                fail(place, f"must be an object, not {kind_of(item)}")
            message = _message(item, place)
            if message is None:
                left_out.append(f"{place} ({str(item.get('type'))[:40]})")
            else:
                messages.append(message)
    else:
        fail("input", f"must be a string or a list, not {kind_of(given)}")
    arguments: dict[str, Any] = {"messages": messages, "endpoint": "responses"}
    for name in ("tools", "tool_choice"):
        if body.get(name):
            arguments[name] = body[name]
    text = body.get("text")
    form = text.get("format") if isinstance(text, Mapping) else None
    if isinstance(form, Mapping) and form.get("type") == "json_schema":
        form = {"type": "json_schema", "json_schema": form}
    if form is not None:
        arguments["response_format"] = form
    return arguments, left_out


def _message(item: Mapping[str, Any], place: str) -> Plain | None:
    """Return the message of an item of the input; None if it is something else."""
    kind = item.get("type", "message")
    if kind == "message":
        return {"role": item.get("role"), "content": item.get("content")}
    if kind == "function_call":
        function = {"name": item.get("name"), "arguments": item.get("arguments")}
        call = {"id": item.get("call_id"), "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if kind == "function_call_output":
        return {
            "role": "tool",
            "tool_call_id": item.get("call_id"),
            "content": item.get("output"),
        }
    return None
