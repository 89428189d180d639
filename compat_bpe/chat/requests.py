"""Whole requests as services take them and files keep them: one in JSON, or one on each line.

A line may be a request, a line of OpenAI's batches (the request is its ``body``), or an example for
fine-tuning (its ``messages`` and ``tools``); or all lines are one conversation. A request to
OpenAI's endpoint Responses has its messages as ``input``. Services take some variables of a chat
format as members of the request: DeepSeek's says ``"thinking": {"type": "enabled"}``, where its
chat format has the variable ``thinking``, true or false.

https://developers.openai.com/api/reference/resources/responses
https://developers.openai.com/api/docs/guides/batch
https://api-docs.deepseek.com/guides/thinking_mode
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from ..encodings.encoding import Encoding
from ..files.whole import json_message
from .base import ChatFormat, Endpoint, LeftOut, MessageCount, Request, place_in
from .choose import chosen_format
from .count import RequestCounter, RequestPart, counter_of, parts_of
from .left_out import REPLY_MEMBERS
from .messages import Plain, RequestError, Value, fail, plain
from .template import ChatTemplate

_THINKING = {"enabled": True, "disabled": False}


def service_variables(body: Mapping[str, Any], chat: ChatFormat) -> dict[str, Any]:
    """Return the variables that a request has as members of its own.

    Other members of the request are ignored: they affect how a reply is made, and are not in the
    prompt.

    Args:
        body: the request, as the service takes it.
        chat: the format of the model.

    Raises:
        ValueError: a member has a value that the service does not take.

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


#: The members of a request that add text from elsewhere, or from a search.
_ELSEWHERE = ("previous_response_id", "conversation", "prompt", "context_management")
_BROUGHT_IN = (*_ELSEWHERE, "web_search_options", "prediction", "audio")


class Stored(NamedTuple):
    """A request of a file.

    Args:
        name: its line and perhaps its id; empty if it is the only one.
        body: the request.
        left_out: the lines of the file that are not in it.
    """

    name: str
    body: Mapping[str, Any]
    left_out: tuple[LeftOut, ...] = ()


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
    >>> stored_requests("\n".join(lines))[0].left_out[0].place
    'line 2'
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
            kept = {name: one for name, one in message.items() if name not in REPLY_MEMBERS}
            messages.append(kept)
        else:
            left_out.append(LeftOut(f"line {number}"))
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


def count_request(
    request: Mapping[str, Any],
    *,
    model: str | None = None,
    encoding: Encoding | str | os.PathLike[str] | None = None,
    template: ChatTemplate | str | None = None,
    estimate: bool = False,
    strict: bool = False,
    as_of: str | None = None,
) -> MessageCount:
    """Return the number of tokens of a whole request, as a client sends it to a service.

    It may be one to OpenAI's Chat Completions (``messages``, ``tools``, ``response_format`` …) or
    Responses (``input``, ``instructions`` …), or to Anthropic's Messages (``system`` beside
    ``messages``). Members without text, such as ``temperature``, are ignored. Parts that cannot be
    counted are named in the note of the count, and the rest is counted.

    Args:
        request: the request: a dict, which may contain objects of clients.
        model: the name of the model, in place of the request's own.
        encoding, template, estimate, strict, as_of: as in ``count_messages``.

    Raises:
        ImportError, KeyError, OSError: as in ``count_messages``.
        ValueError: something in the request is wrong, with its place; or as in ``count_messages``.

    >>> request = {"model": "gpt-4o", "instructions": "Be brief.", "input": "Hello!"}
    >>> count_request(request)
    16
    """
    if model is None and encoding is None:
        model = Value(request.get("model"), "model").optional_text()
    return whole_request(request, model, encoding, template, estimate, strict, as_of).count()


@dataclass(frozen=True)
class WholeRequest:
    """A request as a client sends it, and the counter of its model.

    Args:
        request: the request.
        counter: counts the request by its model.
    """

    request: Request
    counter: RequestCounter

    def count(self) -> MessageCount:
        """Return the number of tokens.

        Raises:
            ImportError, ValueError: as in ``count_request``.
        """
        try:
            return self.counter(self.request)
        except RequestError as error:
            raise RequestError(self.request.place(error.place), error.reason) from None

    def parts(self) -> list[RequestPart]:
        """Return the parts of a request that can be counted, with the tokens that each adds.

        The indexes are those of ``messages`` or ``input`` of the request.
        """
        return [
            replace(part, messages=tuple(self._indexes(part.messages)))
            for part in parts_of(self.request, self.counter)
        ]

    def _indexes(self, messages: Iterable[int]) -> Iterator[int]:
        for number in messages:
            found = re.search(r"\[(\d+)\]$", self.request.place(f"messages[{number}]"))
            if found is not None:  # else it has a member of its own, such as "system"
                yield int(found[1])


def whole_request(
    body: Mapping[str, Any],
    model: str | None,
    encoding: Encoding | str | os.PathLike[str] | None,
    template: ChatTemplate | str | None,
    estimate: bool,
    strict: bool,
    as_of: str | None,
    left_out: Sequence[LeftOut] = (),
) -> WholeRequest:
    """Return a request and the counter of its model, for arguments as of ``count_request``.

    Args:
        body: the request.
        model, encoding, template, estimate, strict, as_of: as in ``count_request``.
        left_out: further parts that are not counted.

    Raises:
        ImportError, KeyError, OSError, ValueError: as in ``count_request``.
    """
    chat = chosen_format(model, encoding, template, as_of, estimate=estimate)
    messages = _messages_of(body)
    variables = body.get("chat_template_kwargs")
    if variables is None or isinstance(variables, dict):
        variables = {**service_variables(body, chat), **(variables or {})}
    form = body.get("response_format")
    if messages.endpoint == "responses":
        text = plain(body.get("text"), "text")
        form = text.get("format") if isinstance(text, dict) else form
        if isinstance(form, dict) and form.get("type") == "json_schema":
            form = {"type": "json_schema", "json_schema": form}
    # OpenAI's requests had tools under other names before.
    tools, choice = (
        body[name] if body.get(name) is not None else body.get(before)
        for name, before in (("tools", "functions"), ("tool_choice", "function_call"))
    )
    try:
        request = Request.checked(
            messages.messages,
            tools,
            body.get("documents"),
            variables=variables,
            response_format=form,
            tool_choice=choice,
            endpoint=messages.endpoint,
            strict=strict,
        )
    except RequestError as error:
        place = place_in(messages.places, error.place)
        raise RequestError(place, error.reason) from None
    brought_in = [LeftOut(name) for name in _BROUGHT_IN if body.get(name)]
    elsewhere = (*brought_in, *messages.left_out, *left_out)
    request = replace(request, left_out=elsewhere, places=messages.places)
    return WholeRequest(request, counter_of(chat))


class _Messages(NamedTuple):
    """The messages of a request, and their places in it.

    Args:
        messages: the messages.
        places: as in ``Request``.
        endpoint: where the request goes.
        left_out: the items of the input that are not messages.
    """

    messages: Any
    places: Mapping[str, str] = MappingProxyType({})
    endpoint: Endpoint = "chat_completions"
    left_out: tuple[LeftOut, ...] = ()


def _messages_of(body: Mapping[str, Any]) -> _Messages:
    """Return the messages of a request.

    Raises:
        ValueError: it has none.
    """
    if "messages" in body:
        messages, system = body["messages"], body.get("system")
        if not system or not isinstance(messages, (list, tuple)) or not messages:
            return _Messages(messages)
        # Anthropic's requests have it beside the messages.
        places = {f"messages[{at + 1}]": f"messages[{at}]" for at in range(len(messages))}
        places["messages[0]"] = places["messages[0].content"] = "system"
        return _Messages([{"role": "system", "content": system}, *messages], places)
    if "input" not in body:
        raise ValueError("a request must have messages, or an input")
    found: list[Plain] = []
    places = {}
    left_out = []
    for name, role in (("instructions", "system"), ("input", "user")):
        items = plain(body.get(name), name)
        if isinstance(items, str):
            if items or name == "input":
                here = f"messages[{len(found)}]"
                places[here] = places[f"{here}.content"] = name
                found.append({"role": role, "content": items})
            continue
        if items is None and name == "instructions":
            continue
        if not isinstance(items, (list, tuple)):
            Value(items, name).wrong("a string or a list")
        for at, item in enumerate(items):
            place = f"{name}[{at}]"
            message = _message(Value(item, place).mapping())
            if message is None:
                left_out.append(LeftOut(place, str(item.get("type"))[:40]))
                continue
            places[f"messages[{len(found)}]"] = place
            if item.get("type") == "function_call_output":
                places[f"messages[{len(found)}].content"] = f"{place}.output"
            found.append(message)
    return _Messages(found, places, "responses", tuple(left_out))


def _message(item: Plain) -> Plain | None:
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
