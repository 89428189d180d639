"""Messages and tools as a request has them, checked.

A conversation is a list of objects with a ``"role"`` and mostly a ``"content"``, as services with
OpenAI's protocol take it. An object may be a dict, or one of a client's with ``model_dump()``.
Conversations mostly come from outside, so a wrong value is a ``ValueError`` with its place, such as
``messages[2].content[0].text``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn, Protocol, Union

from ..files.checked import Checked

#: The deepest nesting of a value. The JSON of today's services has a tenth of it.
_DEEPEST = 100

#: A message or a tool as plain data: dicts, lists, tuples, strings, numbers, True, False, None.
Plain = dict[str, Any]


class ClientObject(Protocol):
    """An object of a client such as openai's, whose members ``model_dump`` returns."""

    def model_dump(self, *, exclude_none: bool = False) -> dict[str, Any]:
        """Return the members as plain data."""
        ...


#: A message, a tool or the like, as callers give it.
Object = Union[Mapping[str, Any], ClientObject]


class RequestError(ValueError):
    """A fault in a request.

    Args:
        place: where it is, such as ``messages[2].content``.
        reason: the fault.
    """

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
        self.place = place
        self.reason = reason


class Uncountable(RequestError):
    """A part of a message that is valid, but whose tokens cannot be known.

    Args:
        place, reason: as in ``RequestError``.
        kind: its kind, in a few words.
    """

    def __init__(self, place: str, reason: str, kind: str) -> None:
        super().__init__(place, reason)
        self.kind = kind


class Value(Checked):
    """A value in a request, in the words of messages about it."""

    __slots__ = ()
    kinds = MappingProxyType(
        {
            **Checked.kinds,
            **dict.fromkeys((int, float), "a number"),
            tuple: "a list",
            type(None): "nothing",
        }
    )

    def error(self, reason: str) -> RequestError:
        return RequestError(self.place, reason)

    def shown(self) -> str:
        return "an object" if isinstance(self.value, Mapping) else super().shown()

    def optional_text(self) -> str | None:
        return None if self.value is None else self.text()

    def sequence(self) -> list[Any]:
        return list(self.value) if isinstance(self.value, tuple) else super().sequence()


def checked_messages(messages: Any) -> list[Plain]:
    """Return messages as new plain dicts, each with a role.

    Raises:
        ValueError: they are not a list, or empty; one is not an object, or its role is not a
            string; or a value in them is not of a kind that JSON has.
    """
    if isinstance(messages, Mapping) and "messages" in messages:
        fail("messages", "must be a list; count_request counts a whole request")
    checked = checked_objects(messages, "messages", "message")
    if not checked:
        raise ValueError("messages is empty: there must be at least one message")
    for number, message in enumerate(checked):
        place = f"messages[{number}]"
        given = messages[number]
        if not isinstance(given, Mapping):
            message = checked[number] = _as_sent(message)
        if "role" not in message:
            fail(place, f"there is no 'role'{_of_class(given)}")
        Value(message, place).member("role").text()
    return checked


def checked_objects(value: Any, place: str, one: str) -> list[Plain]:
    """Return a list of objects as new plain dicts.

    Args:
        value: the list.
        place: the name of the list, for messages.
        one: the word for one of its objects, for messages.

    Raises:
        ValueError: it is not a list, or an item is not an object; or a value is not of a kind that
            JSON has.
    """
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
        Value(value, place).wrong("a list")
    for index, item in enumerate(value):
        if not isinstance(item, Mapping) and not _is_client_object(item):
            part = Value(item, f"{place}[{index}]")
            part.fail(f"a {one} must be an object, not {part.shown()}")
    return [plain(item, f"{place}[{index}]") for index, item in enumerate(value)]


#: LangChain's types of messages, each with the role that services call it by.
_LANGCHAIN = {
    "human": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "system": "system",
    "tool": "tool",
}
#: The members of LangChain's messages that are sent.
_LANGCHAIN_MEMBERS = ("content", "name", "tool_call_id", "invalid_tool_calls")


def _as_sent(message: Plain) -> Plain:
    """Return a client's message as the client sends it."""
    if "reasoning_content" in message:  # litellm has the same in blocks, too
        message.pop("thinking_blocks", None)
    kind = message.get("type")
    role = _LANGCHAIN.get(kind) if isinstance(kind, str) else None
    if "role" in message or role is None:
        return message
    sent = {"role": role, **{name: message[name] for name in _LANGCHAIN_MEMBERS if name in message}}
    calls, content = message.get("tool_calls"), message.get("content")
    if not isinstance(calls, list) or not calls:
        return sent
    sent["tool_calls"] = [_langchain_call(call) for call in calls]
    if isinstance(content, list):  # Anthropic's replies have calls there, too
        sent["content"] = [
            part
            for part in content
            if not isinstance(part, dict) or part.get("type") not in ("tool_use", "tool_call")
        ]
    return sent


def _langchain_call(call: Any) -> Any:
    if not isinstance(call, dict) or "args" not in call:
        return call
    arguments = json.dumps(call["args"], ensure_ascii=False)
    function = {"name": call.get("name"), "arguments": arguments}
    return {"id": call.get("id"), "type": "function", "function": function}


def _of_class(value: Any) -> str:
    """Return the words for an error about an object of a client's that is not a message."""
    if isinstance(value, Mapping):
        return ""
    what = f" in a {type(value).__name__}"
    return f"{what}: give its choices[0].message" if hasattr(value, "choices") else what


def _is_client_object(value: Any) -> bool:
    return callable(getattr(type(value), "model_dump", None))


def checked_roles(messages: Sequence[Plain], known: Sequence[str]) -> None:
    """Raise ``ValueError`` if a message has a role that is not known."""
    for index, message in enumerate(messages):
        if message["role"] not in known:
            fail(
                f"messages[{index}].role",
                f"{message['role'][:40]!r} is not known; known: {', '.join(known)}",
            )


def content_texts(content: Any, place: str) -> Iterator[str]:
    """Yield the texts of a message's content: a string, a list of parts, or None.

    Raises:
        ValueError: a part is not text, such as an image; or the content is of another kind.
    """
    if content is None:
        return
    if isinstance(content, str):
        yield content
        return
    if not isinstance(content, (list, tuple)):
        Value(content, place).wrong("a string or a list of parts")
    for index, part in enumerate(content):
        yield part_text(part, f"{place}[{index}]")


_TEXT_PARTS = ("text", "input_text", "output_text", "refusal")


def part_text(part: Any, place: str) -> str:
    """Return the text of a part of a message's content.

    Raises:
        Uncountable: the part is not text, such as an image.
        ValueError: it is not an object, or has no text.
    """
    kind = Value(part, place).mapping().get("type")
    # A refusal has its text in the member "refusal", every other part in "text".
    name = {"refusal": "refusal"}.get(kind, "text") if isinstance(kind, str) else ""
    if kind not in _TEXT_PARTS:
        reason = f"a part of type {str(kind)[:40]!r} cannot be counted: only text can "
        reason += f"(types {', '.join(_TEXT_PARTS)})"
        if not isinstance(kind, str):
            fail(place, reason)
        raise Uncountable(place, reason, kind[:40])
    return Value(part, place).member(name).text()


#: The names under which clients give a model's thoughts.
REASONING = ("reasoning_content", "thinking", "reasoning")

#: The members of a message that formats of open models know; some are not text in these formats.
MEMBERS = frozenset(("role", "content", "name", "tool_calls", "tool_call_id", *REASONING))


def reasoning_of(message: Plain) -> Any:
    """Return the model's thoughts before a message, as a client gives them; None if unknown."""
    return next((message[name] for name in REASONING if message.get(name) is not None), None)


def thoughts_of(message: Plain, place: str) -> str:
    """Return the model's thoughts before a message; an empty text if they are not known.

    Raises:
        ValueError: it is not text.
    """
    return "".join(content_texts(reasoning_of(message), f"{place}.{REASONING[0]}"))


def tool_calls(message: Plain, place: str) -> list[Plain]:
    """Return the tool calls of a message, each an object with a ``function``.

    Raises:
        ValueError: they are not a list, or one has no function with a name.
    """
    calls = Value(message, place).member("tool_calls")
    if calls.value is None:
        return []
    for call in calls.items():
        function = call.member("function")
        if not isinstance(function.value, dict) or not isinstance(function.value.get("name"), str):
            function.fail("must be an object with a 'name'")
    return calls.sequence()


def arguments_text(function: Plain) -> str:
    """Return the arguments of a call as text: JSON if they are not text, nothing if unknown."""
    value = function.get("arguments")
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def function_of(tool: Plain, place: str) -> Plain:
    """Return the function that a tool describes; the tool itself if it is not wrapped.

    Raises:
        ValueError: it has no name, or its description or parameters are of another kind.
    """
    part = Value(tool.get("function", tool), f"{place}.function")
    function = part.mapping()
    part.member("name").text()
    part.member("description").optional_text()
    if function.get("parameters") is not None:
        part.member("parameters").mapping()
    schema = function.get("input_schema")  # Anthropic's name
    if isinstance(schema, dict) and function.get("parameters") is None:
        rest = {name: one for name, one in function.items() if name != "input_schema"}
        return {**rest, "parameters": schema}
    return function


def plain(value: Any, place: str, depth: int = 0) -> Any:
    """Return a value as plain data: new dicts and lists, so that nobody can change the caller's.

    Members of clients' objects that are None are left out, as the clients do.

    Raises:
        ValueError: it is not of a kind that JSON has, or nested too deeply.
    """
    if value is None or type(value) in (str, bool, int, float):
        return value
    if depth > _DEEPEST:
        fail(place, "nested too deeply")
    if isinstance(value, str):
        return "".join((value,))  # a subclass may have methods of its own
    if isinstance(value, Mapping):
        copied = {}
        for key, one in value.items():
            if not isinstance(key, str):
                fail(place, f"has a key that is not a string: {str(key)[:40]!r}")
            copied["".join((key,))] = plain(one, f"{place}.{key}", depth + 1)
        return copied
    if isinstance(value, (list, tuple)):
        items = [plain(one, f"{place}[{at}]", depth + 1) for at, one in enumerate(value)]
        return items if isinstance(value, list) else tuple(items)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if _is_client_object(value):
        return plain(value.model_dump(exclude_none=True), place, depth)
    part = Value(value, place)
    return part.fail(f"is {part.shown()}, which JSON does not have")


def fail(place: str, reason: str) -> NoReturn:
    """Raise ``RequestError`` for a value."""
    raise RequestError(place, reason)


_KINDS = ("text", "json_object", "json_schema")


class ResponseFormat(NamedTuple):
    """The form of a reply.

    Args:
        kind: ``"json_object"`` for any JSON, or ``"json_schema"``.
        schema: the schema; None for any JSON.
        name, description: those of the schema in a request; None if they are missing.
        given: the value as it is in the request.
    """

    kind: str
    schema: Plain | None
    name: str | None
    description: str | None
    given: Plain


def checked_response_format(value: Any) -> ResponseFormat | None:
    """Return the form that a ``response_format`` asks for; None if the reply is a text.

    Raises:
        ValueError: it is not an object of a known type, or has no schema where there must be one.

    >>> checked_response_format({"type": "text"})
    >>> wanted = {"type": "json_schema", "json_schema": {"name": "n", "schema": {}}}
    >>> checked_response_format(wanted).name
    'n'
    """
    if value is None:
        return None
    given = plain(value, "response_format")
    if not isinstance(given, dict) or given.get("type") not in _KINDS:
        fail("response_format", f"must be an object whose type is {', '.join(_KINDS)}")
    if given["type"] != "json_schema":
        is_text = given["type"] == "text"
        return None if is_text else ResponseFormat("json_object", None, None, None, given)
    inner = Value(given, "response_format").member("json_schema")
    name, description = (inner.member(one).optional_text() for one in ("name", "description"))
    return ResponseFormat("json_schema", inner.member("schema").mapping(), name, description, given)
