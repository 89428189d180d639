"""OpenAI's chat models, by the rules that OpenAI's cookbook publishes.

The rules are those of the notebook "How to count tokens with tiktoken". Its numbers for messages
with a role, a content and a name were compared there with what OpenAI's service reports. They say
nothing about other models and other members of a message, so these counts carry a note. The
numbers for tools reproduce one published example, and always carry one.

https://github.com/openai/openai-cookbook/blob/main/examples/How_to_count_tokens_with_tiktoken.ipynb
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..encodings.encoding import Encoding
from .base import ChatFormat, MessageCount, Request, refuse_template_parts
from .images.count import IMAGE_PARTS, part_tokens
from .images.rules import ImageRule
from .json_text import json_text
from .messages import (
    Plain,
    checked_roles,
    content_texts,
    fail,
    function_of,
    part_text,
    strings_of,
)

ROLES = ("system", "developer", "user", "assistant", "tool", "function")

#: The tokens with which every reply begins.
_REPLY = 3

_TOOLS = "tools are counted by numbers that OpenAI publishes for one example"
_FORM = "OpenAI publishes no rule for response_format; the JSON of its schema is counted"
_CALLS = "OpenAI publishes no rule for {}; each string in it is counted"


class Rule(NamedTuple):
    """The published numbers of a model.

    Args:
        per_message: the tokens of each message beside its texts.
        per_name: the tokens of each name beside its text.
        func_init: the tokens of each tool beside its texts.
        note: the reason for which even plain messages are an estimate.
    """

    per_message: int = 3
    per_name: int = 1
    func_init: int = 7
    note: str = ""


#: The published numbers for tools that are the same for all models.
_PROP_INIT = _PROP_KEY = 3
_ENUM_INIT, _ENUM_ITEM = -3, 3
_FUNC_END = 12

#: Members of a message that are no strings, and are no text of the prompt.
_IGNORED = frozenset(("annotations", "weight"))


class OpenAIFormat(ChatFormat):
    """The count of a request to one of OpenAI's chat models.

    Args:
        encoding: the model's encoding.
        rule: its numbers.
        images: its rule for images; None if there is none.
    """

    def __init__(self, encoding: Encoding, rule: Rule, images: ImageRule | None = None) -> None:
        super().__init__(encoding)
        self._rule = rule
        self._images = images

    def count(self, request: Request) -> MessageCount:
        """Return the number of tokens of a request.

        Raises:
            ValueError: a role is not known, or a message has something that cannot be counted.
        """
        return self.counter(request)(request.messages)

    def counter(self, request: Request) -> Callable[[list[Plain]], MessageCount]:
        """Return a function that counts a request with other messages, again and again.

        A message has as many tokens in each request, so it is counted once.
        """
        beside, notes_beside = self._beside(request)
        # The messages are kept with their tokens, since what is gone may leave its id to another.
        known: dict[int, tuple[Plain, int, list[str]]] = {}

        def count(messages: list[Plain]) -> MessageCount:
            checked_roles(messages, ROLES)
            tokens = beside
            notes = {self._rule.note: None}
            for index, message in enumerate(messages):
                if id(message) not in known:
                    own: list[str] = []
                    found = self._message(message, f"messages[{index}]", own)
                    known[id(message)] = (message, found, own)
                _, more, own = known[id(message)]
                tokens += more
                notes.update(dict.fromkeys(own))
            notes.update(dict.fromkeys(notes_beside))
            return MessageCount(tokens, "; ".join(filter(None, notes)))

        return count

    def _beside(self, request: Request) -> tuple[int, list[str]]:
        """Return the tokens of what a request has beside the messages, and the notes on them.

        Raises:
            ValueError: as in ``count``.
        """
        refuse_template_parts(request, "OpenAI's format")
        if request.variables:
            raise ValueError("variables are for a chat template; OpenAI's format has none")
        notes = []
        tokens = _REPLY if request.add_generation_prompt else 0
        if request.tools:
            notes.append(_TOOLS)
            tokens += _FUNC_END
            for index, tool in enumerate(request.tools):
                tokens += self._tool(function_of(tool, f"tools[{index}]"))
        form = request.response_format
        if form is not None:
            notes.append(_FORM)
            if form.schema is not None:
                tokens += self.encoding.count(f"{form.name or ''}\n{form.description or ''}\n")
                tokens += self.encoding.count(json_text(form.schema, spaced=False, number=repr))
        return tokens, notes

    def _message(self, message: Plain, place: str, notes: list[str]) -> int:
        count = self.encoding.count
        tokens = self._rule.per_message
        for name, value in message.items():
            here = f"{place}.{name}"
            if name == "content":
                tokens += self._content(value, here, notes)
            elif name in ("tool_calls", "function_call"):
                if value:
                    notes.append(_CALLS.format(name))
                    tokens += sum(map(count, strings_of(value)))
            elif value is None or name in _IGNORED:
                continue
            elif not isinstance(value, str):
                fail(here, "must be a string: nothing else can be counted")
            else:
                if name not in ("role", "name"):
                    notes.append(_CALLS.format(name))
                tokens += count(value) + (self._rule.per_name if name == "name" else 0)
        return tokens

    def _content(self, content: Any, place: str, notes: list[str]) -> int:
        if not isinstance(content, (list, tuple)):
            return sum(map(self.encoding.count, content_texts(content, place)))
        tokens = 0
        for index, part in enumerate(content):
            here = f"{place}[{index}]"
            if isinstance(part, dict) and part.get("type") in IMAGE_PARTS:
                image = part_tokens(part, self._images, here)
                notes.append(image.note)
                tokens += image
            else:
                tokens += self.encoding.count(part_text(part, here))
        return tokens

    def _tool(self, function: Plain) -> int:
        count = self.encoding.count
        name, description = function["name"], function.get("description") or ""
        tokens = self._rule.func_init + count(f"{name}:{_without_stop(description)}")
        properties = _properties(function.get("parameters") or {})
        if properties:
            tokens += _PROP_INIT + sum(self._property(*one) for one in properties.items())
        return tokens

    def _property(self, name: str, schema: Plain) -> int:
        count = self.encoding.count
        tokens = _PROP_KEY
        kind, description = _text_of(schema.get("type")), _text_of(schema.get("description"))
        choices = schema.get("enum")
        if isinstance(choices, list):
            tokens += _ENUM_INIT + sum(_ENUM_ITEM + count(_text_of(one)) for one in choices)
        tokens += count(f"{name}:{kind}:{_without_stop(description)}")
        # The notebook has no nested properties; they are counted like the others.
        for inner in _inner(schema):
            tokens += sum(self._property(*one) for one in _properties(inner).items())
        return tokens


def _without_stop(text: str) -> str:
    return text[:-1] if text.endswith(".") else text


def _text_of(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)


def _properties(schema: Plain) -> dict[str, Plain]:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: one if isinstance(one, dict) else {} for name, one in properties.items()}


def _inner(schema: Plain) -> Iterator[Plain]:
    """Yield a property's own schema and those of its items and variants, if they are objects."""
    yield schema
    for name in ("items", "anyOf", "oneOf", "allOf"):
        value = schema.get(name)
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                yield from _inner(one)
