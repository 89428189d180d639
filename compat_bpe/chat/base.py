"""The base of all chat formats: a request, its count, the format, and JSON as in prompts."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Callable, Literal, NamedTuple, get_args

from ..encodings.encoding import Encoding
from .messages import (
    Object,
    Plain,
    ResponseFormat,
    Value,
    checked_messages,
    checked_objects,
    checked_response_format,
    function_of,
    part_text,
    plain,
)

#: The endpoint of a request: OpenAI's two count differently.
Endpoint = Literal["chat_completions", "responses"]


class MessageCount(int):
    """A number of tokens, with a note if it is an estimate.

    Otherwise it is a plain ``int``.

    Args:
        value: the number.
        note: the reason for which it is an estimate; empty if the tokens are known exactly.

    >>> count = MessageCount(12, "a guess")
    >>> count + 1, count.is_estimate, count.note
    (13, True, 'a guess')
    """

    note: str

    def __new__(cls, value: int, note: str = "") -> MessageCount:
        count = super().__new__(cls, value)
        count.note = note
        return count

    def __reduce__(self) -> tuple[type[MessageCount], tuple[int, str]]:
        return MessageCount, (int(self), self.note)

    @property
    def is_estimate(self) -> bool:
        """True if there is a note."""
        return bool(self.note)


class LeftOut(NamedTuple):
    """A part of a request that is not counted.

    Args:
        place: its place, such as ``messages[2].content[0]``.
        kind: its kind, in a few words; empty if the place shows it.
    """

    place: str
    kind: str = ""

    def __str__(self) -> str:
        return f"{self.place} ({self.kind})" if self.kind else self.place


@dataclass(frozen=True)
class Request:
    """The content of a request to a model, as plain data.

    Args:
        messages, tools, documents: lists of objects.
        add_generation_prompt: True to count the tokens with which a reply begins.
        continue_final_message: True, or the name of a member, if the model goes on with the last
            message.
        variables: the other values that a format takes.
        response_format: the form of the reply; None if it is a text.
        tool_choice: the tools that the model may call, as in a request.
        endpoint: where the request goes.
        strict: True to refuse a request if a part of it cannot be counted.
        left_out: the uncounted parts that are in none of the other members.
        places: the places of messages and contents in the caller's request, by their places here,
            where these differ.
    """

    messages: list[Plain]
    tools: list[Plain] | None = None
    documents: list[Plain] | None = None
    add_generation_prompt: bool = True
    continue_final_message: bool | str = False
    variables: dict[str, Any] = field(default_factory=dict)
    response_format: ResponseFormat | None = None
    tool_choice: str | Plain | None = None
    endpoint: Endpoint = "chat_completions"
    strict: bool = False
    left_out: tuple[LeftOut, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)

    def place(self, place: str) -> str:
        """Return the place in the caller's request of a place in this one."""
        return place_in(self.places, place)

    def functions(self) -> list[Plain]:
        """Return the functions that the tools describe.

        Raises:
            ValueError: a tool is damaged.
        """
        return [function_of(one, f"tools[{at}]") for at, one in enumerate(self.tools or ())]

    def with_messages(self, messages: list[Plain]) -> Request:
        """Return the same request with other messages."""
        return replace(self, messages=messages)

    @classmethod
    def checked(
        cls,
        messages: Sequence[Object],
        tools: Sequence[Object] | None = None,
        documents: Sequence[Object] | None = None,
        add_generation_prompt: bool = True,
        continue_final_message: bool | str = False,
        variables: Mapping[str, Any] | None = None,
        response_format: Mapping[str, Any] | None = None,
        tool_choice: str | Mapping[str, Any] | None = None,
        endpoint: Endpoint = "chat_completions",
        strict: bool = False,
    ) -> Request:
        """Return the request of a caller's arguments, as ``count_messages`` takes them.

        Raises:
            ValueError: a message, a tool or another object is wrong, with its place.
        """
        if variables is not None and not isinstance(variables, Mapping):
            Value(variables, "variables").wrong("an object")
        if tool_choice is not None and not isinstance(tool_choice, (str, Mapping)):
            Value(tool_choice, "tool_choice").wrong("a string or an object")
        if endpoint not in get_args(Endpoint):
            raise ValueError(
                f"unknown endpoint {endpoint!r}; known: {', '.join(get_args(Endpoint))}"
            )
        return cls(
            checked_messages(messages),
            None if tools is None else checked_objects(tools, "tools", "tool"),
            None if documents is None else checked_objects(documents, "documents", "document"),
            # Either a reply begins, or the model goes on with the last message.
            add_generation_prompt and not continue_final_message,
            continue_final_message,
            {} if variables is None else plain(variables, "variables"),
            checked_response_format(response_format),
            plain(tool_choice, "tool_choice"),
            endpoint,
            strict,
        )


#: A message or its content at the beginning of a place.
_MESSAGE = re.compile(r"(messages\[\d+\])(\.content)?")


def place_in(places: Mapping[str, str], place: str) -> str:
    """Return a place by other names for messages and contents.

    >>> place_in({"messages[0].content": "system"}, "messages[0].content[2].text")
    'system[2].text'
    """
    found = _MESSAGE.match(place)
    for known in (found[0], found[1]) if found else ():
        if known in places:
            return places[known] + place[len(known) :]
    return place


class ChatFormat(ABC):
    """A way in which a conversation becomes tokens.

    Args:
        encoding: the encoding of the texts in it.
    """

    #: The variables that are members of a request to a service (``requests.service_variables``).
    service_variables: tuple[str, ...] = ()
    #: The members of a message that are counted; None if all are passed on, as to a template.
    members: frozenset[str] | None = None
    #: True if the count depends on ``tool_choice`` and the endpoint.
    knows_endpoints = False
    #: True if the note of the count already names the uncounted parts.
    names_left_out = False

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding

    @abstractmethod
    def count(self, request: Request) -> MessageCount:
        """Return the number of tokens of a request.

        Raises:
            ValueError: the request has something that the format cannot take.
        """

    def counter(self, request: Request) -> Callable[[list[Plain]], MessageCount]:
        """Return a function that counts a request with other messages, again and again.

        It may remember the count of a message, so messages must not be changed.
        """
        return lambda messages: self.count(request.with_messages(messages))

    def adds_up(self, message: Plain) -> bool:
        """Return True if a message that can be counted has the same tokens in all requests."""
        return False

    def limit(self, tokens: int) -> int:
        """Return the most tokens of the encoding that count as ``tokens`` or fewer."""
        return tokens

    def check_part(self, part: Any, place: str) -> None:
        """Raise ``Uncountable`` if a part of a message's content cannot be counted.

        Raises:
            ValueError: it is damaged.
        """
        part_text(part, place)


def refuse_template_parts(request: Request, format_name: str) -> None:
    """Raise ``ValueError`` if a request has members that only a chat template takes."""
    if request.documents is not None:
        raise ValueError(f"documents need a chat template; {format_name} cannot include them")
    if request.continue_final_message:
        raise ValueError(
            f"continue_final_message needs a chat template; {format_name} always begins a new reply"
        )


def json_text(value: Any, *, spaced: bool, number: Callable[[float], str]) -> str:
    """Return JSON on one line, all letters as they are.

    Args:
        value: plain data.
        spaced: True for a space after each comma and colon, as Python's ``json`` writes it.
        number: writes a number that is not an integer.

    >>> json_text({"a": [1, 2.5, "é"]}, spaced=True, number=repr)
    '{"a": [1, 2.5, "é"]}'
    >>> json_text({"a": [1, 2.5]}, spaced=False, number=repr)
    '{"a":[1,2.5]}'
    """
    comma, colon = (", ", ": ") if spaced else (",", ":")

    def written(one: Any) -> str:
        if isinstance(one, float):
            return number(one)
        if isinstance(one, dict):
            members = (f"{written(name)}{colon}{written(held)}" for name, held in one.items())
            return "{" + comma.join(members) + "}"
        if isinstance(one, (list, tuple)):
            return "[" + comma.join(map(written, one)) + "]"
        return json.dumps(one, ensure_ascii=False)

    return written(value)


def rust_number(value: float, plus: str = "") -> str:
    """Return a number as Rust's crates for JSON write it.

    They write one more zero after the point than Python, and no zero before an exponent.

    Args:
        value: a finite number.
        plus: the sign before an exponent above 0, in which the crates differ.

    >>> rust_number(1.5e-5), rust_number(1e-7), rust_number(1e16), rust_number(1e16, "+")
    ('0.000015', '1e-7', '1e16', '1e+16')
    """
    digits, _, exponent = repr(value).partition("e")
    if not exponent:
        return digits
    if exponent == "-05":
        return f"{Decimal(repr(value)):f}"
    power = int(exponent)
    return f"{digits}e{plus if power > 0 else ''}{power}"
