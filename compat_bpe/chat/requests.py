"""Requests as services take them and files keep them: one in JSON, or one on each line.

A line may be a request, a line of OpenAI's batches (the request is its ``body``), or an example for
fine-tuning (its ``messages`` and ``tools``); or all lines are one conversation. A request to
OpenAI's endpoint Responses has its messages as ``input``.

https://developers.openai.com/api/reference/resources/responses
https://developers.openai.com/api/docs/guides/batch
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..files.whole import json_message
from .messages import Plain, fail, kind_of

#: The members of a request that bring in text from elsewhere, or from a search.
_ELSEWHERE = ("previous_response_id", "conversation", "prompt", "context_management")
_BROUGHT_IN = (*_ELSEWHERE, "web_search_options", "prediction", "audio")

#: Members that a transcript has beside a message: of the reply that it was, and of the line.
_OF_A_LINE = frozenset(
    ("id", "type", "model", "stop_reason", "stop_sequence", "usage", "created", "created_at")
    + ("timestamp", "uuid")
)

#: Members that are given on as they are.
_AS_THEY_ARE = ("messages", "tools", "tool_choice", "documents", "response_format")


class Stored(NamedTuple):
    """A request of a file.

    Args:
        name: its line and perhaps its id; empty if it is the only one.
        body: the request.
        left_out: what of the file is not in it.
    """

    name: str
    body: Mapping[str, Any]
    left_out: tuple[str, ...] = ()


def stored_requests(text: str) -> list[Stored]:
    r"""Return the requests of a file.

    Args:
        text: JSON, an object with messages or a list of messages; or such an object on each line.
            If the lines are messages, or objects with a ``message``, as in the transcripts of
            agents, they are one request.

    Raises:
        ValueError: it is neither; with the line.

    >>> lines = ['{"messages": []}', '{"custom_id": "a", "body": {}}']
    >>> [one.name for one in stored_requests("\n".join(lines))]
    ['line 1', 'line 2 (a)']
    >>> lines = ['{"role": "user", "content": "Hi"}', '{"type": "end"}']
    >>> stored_requests("\n".join(lines))[0].left_out
    ('line 2',)
    """
    try:
        whole = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError as error:
        reason = str(error)
    else:
        return [_transcript([(1, whole)]) or Stored("", _body(whole))]
    # Not splitlines: a string may have U+2028 as it is.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise ValueError(f"not JSON: {json_message(reason)}")
    values: list[tuple[int, Any]] = []
    for number, line in lines:
        try:
            values.append((number, json.loads(line)))
        except RecursionError:
            raise ValueError(f"line {number}: nested too deeply") from None
        except ValueError as error:
            if not values:
                raise ValueError(f"not JSON: {json_message(reason)}") from None
            raise ValueError(f"line {number}: not JSON: {json_message(str(error))}") from None
    transcript = _transcript(values)
    if transcript is not None:
        return [transcript]
    found = []
    for number, value in values:
        try:
            body = _body(value)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
        name = value.get("custom_id") if isinstance(value, dict) else None
        found.append(Stored(f"line {number}" + (f" ({str(name)[:60]})" if name else ""), body))
    return found


def _transcript(values: list[tuple[int, Any]]) -> Stored | None:
    """Return the request of a transcript, a message on each line; None if lines are requests."""
    messages, left_out = [], []
    for number, value in values:
        if not isinstance(value, dict) or _is_request(value):
            return None
        message = value.get("message", value)
        if isinstance(message, dict) and isinstance(message.get("role"), str):
            kept = {name: one for name, one in message.items() if name not in _OF_A_LINE}
            messages.append(kept)
        else:
            left_out.append(f"line {number}")
    return Stored("", {"messages": messages}, tuple(left_out)) if messages else None


def _is_request(value: Mapping[str, Any]) -> bool:
    return any(name in value for name in ("messages", "body", "input"))


def _body(value: Any) -> Mapping[str, Any]:
    if isinstance(value, list):
        return {"messages": value}
    if not isinstance(value, dict) or not _is_request(value):
        raise ValueError("must be an object with messages, or a list of them")
    body = value.get("body", value)
    if not isinstance(body, dict):
        raise ValueError("body: must be an object")
    return body


def arguments_of(body: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of ``count_messages`` for a request, but for what the model is.

    Args:
        body: the request.

    Returns:
        The arguments, and the places of what has no place in them.

    Raises:
        ValueError: the request is damaged.

    >>> arguments, left_out = arguments_of({"instructions": "Be brief.", "input": "Hi"})
    >>> arguments["messages"], arguments["endpoint"]
    ([{'role': 'system', 'content': 'Be brief.'}, {'role': 'user', 'content': 'Hi'}], 'responses')
    """
    left_out = [name for name in _BROUGHT_IN if body.get(name)]
    arguments = {name: body[name] for name in _AS_THEY_ARE if body.get(name) is not None}
    # OpenAI's requests had tools under these names before.
    for name, before in (("tools", "functions"), ("tool_choice", "function_call")):
        if name not in arguments and body.get(before) is not None:
            arguments[name] = body[before]
    if "input" in body and "messages" not in body:
        arguments.update(_of_responses(body, left_out))
    return arguments, left_out


def _of_responses(body: Mapping[str, Any], left_out: list[str]) -> dict[str, Any]:
    """Return the arguments that a request to Responses has under other names."""
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
            message = _message(item)
            if message is None:
                left_out.append(f"{place} ({str(item.get('type'))[:40]})")
            else:
                messages.append(message)
    else:
        fail("input", f"must be a string or a list, not {kind_of(given)}")
    arguments: dict[str, Any] = {"messages": messages, "endpoint": "responses"}
    text = body.get("text")
    form = text.get("format") if isinstance(text, Mapping) else None
    if isinstance(form, Mapping) and form.get("type") == "json_schema":
        form = {"type": "json_schema", "json_schema": form}
    if form is not None:
        arguments["response_format"] = form
    return arguments


def _message(item: Mapping[str, Any]) -> Plain | None:
    """Return the message of an item of the input; None if it is something else."""
    kind = item.get("type", "message")
    if kind == "message":
        kept = {name: item[name] for name in item if name not in ("type", "id", "status")}
        return {"role": None, **kept}
    if kind == "function_call":
        function = {"name": item.get("name"), "arguments": item.get("arguments")}
        call = {"id": item.get("call_id"), "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if kind == "function_call_output":
        output = item.get("output")
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": output}
    return None
