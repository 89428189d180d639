"""DeepSeek's models V3, R1 and V3.1: the tokens between the texts of a conversation.

All of them begin with the system prompt, and put one token before what the user says and one
before a reply. They differ in the tokens that open a reply. The texts are those that the models'
own templates make, for messages without tools.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import Enum

from ..encodings.encoding import Encoding
from .base import ChatFormat, MessageCount, Request, refuse_template_parts
from .dsml import V3_2
from .messages import (
    MEMBERS,
    Plain,
    checked_roles,
    content_texts,
    fail,
    function_of,
    tool_calls,
)

ROLES = ("system", "developer", "user", "assistant", "tool")

BEGIN, END = "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"
USER, ASSISTANT = "<｜User｜>", "<｜Assistant｜>"
THINK, NO_THINK = "<think>", "</think>"

#: The tokens with which a call of a tool and its result are written since R1.
_CALLS = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
_CALL = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"
_OUTPUTS = "<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>"
_OUTPUT = "<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"

_TOOL_NOTE = "calls of tools and their results are counted as R1 writes them"

_TOOLS = "DeepSeek publishes no form of tools for this model; they are counted as to V3.2"
_FORM = "DeepSeek publishes no form of response_format for this model; it is counted as to V3.2"


class Version(Enum):
    """The way in which a reply begins: bare, or with a token that says if the model thinks."""

    V3 = "V3"
    R1 = "R1"
    V3_1 = "V3.1"

    @property
    def opens_thinking(self) -> bool:
        """True if a reply begins with a token that says if the model thinks."""
        return self is Version.V3_1


class DeepSeekFormat(ChatFormat):
    """The count of a request to a model of DeepSeek's.

    Args:
        encoding: the model's encoding.
        version: the model.
        note: the reason for which even plain messages are an estimate.
    """

    members = MEMBERS
    service_variables = ("thinking",)

    def __init__(self, encoding: Encoding, version: Version, note: str = "") -> None:
        super().__init__(encoding)
        self._version = version
        self._note = note

    def count(self, request: Request) -> MessageCount:
        """Return the number of tokens of a request.

        Raises:
            ValueError: a role is not known, or a message has something that cannot be counted; or
                a variable other than ``thinking``.
        """
        text, notes = self.render(request)
        tokens = len(self.encoding.encode(text, allowed_special="all"))
        for added, note in ((tools_text(request), _TOOLS), (schema_text(request), _FORM)):
            if added:
                tokens += len(self.encoding.encode(added, allowed_special="all"))
                notes.append(note)
        return MessageCount(tokens, "; ".join(filter(None, notes)))

    def render(self, request: Request) -> tuple[str, list[str]]:
        """Return the text of a conversation, and the reasons for which it is an estimate.

        Raises:
            ValueError: as in ``count``.
        """
        refuse_template_parts(request, "DeepSeek's format")
        thinks = wants_to_think(request)
        checked_roles(request.messages, ROLES)
        opening = ASSISTANT + (NO_THINK if self._version.opens_thinking else "")
        system: list[str] = []
        parts: list[str] = []
        notes = [self._note]
        before = ""
        for index, message in enumerate(request.messages):
            place = f"messages[{index}]"
            text = "".join(content_texts(message.get("content"), f"{place}.content"))
            role, after_tool = message["role"], before == "tool"
            if role in ("system", "developer"):
                system.append(text)
            elif role == "user":
                parts += [USER, text]
            elif role == "tool":
                parts += ["" if after_tool else _OUTPUTS[0], _OUTPUT[0], text, _OUTPUT[1]]
                notes.append(_TOOL_NOTE)
            elif calls := tool_calls(message, place):
                parts += [opening, text, *_written(calls), END]
                notes.append(_TOOL_NOTE)
            elif after_tool:
                parts += [_OUTPUTS[1], text, END]
            else:
                # Earlier thoughts of the model are left out.
                parts += [opening, text.rsplit(NO_THINK, 1)[-1], END]
            before = role
        if before == "tool":
            parts.append(_OUTPUTS[1])
        elif request.add_generation_prompt:
            parts.append(ASSISTANT)
            if self._version.opens_thinking:
                parts.append(THINK if thinks else NO_THINK)
        return BEGIN + "\n\n".join(system) + "".join(parts), list(dict.fromkeys(notes))


def wants_to_think(request: Request, efforts: Sequence[str] = ()) -> bool:
    """Return the variable ``thinking``.

    Args:
        request: the request.
        efforts: the efforts that the model takes; if there are any, ``reasoning_effort`` is one.

    Raises:
        ValueError: there is another variable, or one has a wrong value.
    """
    known = ["thinking", "reasoning_effort"] if efforts else ["thinking"]
    unknown = request.variables.keys() - set(known)
    if unknown:
        raise ValueError(
            f"variables has {sorted(unknown)}; DeepSeek's format takes {' and '.join(known)}"
        )
    thinks = request.variables.get("thinking", False)
    if not isinstance(thinks, bool):
        fail("variables.thinking", "must be true or false")
    if efforts and request.variables.get("reasoning_effort", efforts[0]) not in efforts:
        fail("variables.reasoning_effort", f"must be one of {', '.join(efforts)}")
    return thinks


def tools_text(request: Request) -> str:
    """Return what V3.2 is told about the tools of a request; an empty text if there are none.

    Raises:
        ValueError: a tool is damaged.
    """
    if not request.tools:
        return ""
    functions = [function_of(one, f"tools[{at}]") for at, one in enumerate(request.tools)]
    return f"\n\n{V3_2.tools(functions)}"


def schema_text(request: Request) -> str:
    """Return what V3.2 is told about the schema of a reply; an empty text if there is none."""
    form = request.response_format
    return "" if form is None or form.schema is None else f"\n\n{V3_2.schema(form.schema)}"


def _written(calls: list[Plain]) -> list[str]:
    """Return the text of calls of tools, in parts."""
    written = [_CALLS[0]]
    for index, call in enumerate(calls):
        function = call["function"]
        arguments = function.get("arguments", "")
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        begin, separator, end = _CALL
        kind = call.get("type") or "function"
        written.append("\n" if index else "")
        written.append(f"{begin}{kind}{separator}{function['name']}")
        written.append(f"\n```json\n{arguments}\n```{end}")
    return [*written, _CALLS[1]]
