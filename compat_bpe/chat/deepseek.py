"""DeepSeek's models V3, R1, V3.1 and V4: the tokens between the texts of a conversation.

All of them begin with the system prompt, and put one token before what the user says and one
before a reply. They differ in the tokens that open a reply, and in how a call of a tool is
written. The texts are those that the models' own templates make, for messages without tools.
"""

from __future__ import annotations

import json
from enum import Enum

from ..encodings.encoding import Encoding
from .base import MessageCount, Request, refuse_template_parts
from .messages import Plain, checked_roles, content_texts, fail, function_of, tool_calls

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

#: The tokens of the words that V4 puts around the list of tools.
_WORDS_AROUND_TOOLS = 221


class Version(Enum):
    """The way in which a reply begins: bare, or with a token that says if the model thinks."""

    V3 = "V3"
    R1 = "R1"
    V3_1 = "V3.1"
    V4 = "V4"

    @property
    def opens_thinking(self) -> bool:
        """True if a reply begins with a token that says if the model thinks."""
        return self in (Version.V3_1, Version.V4)


class DeepSeekFormat:
    """The count of a request to a model of DeepSeek's.

    Args:
        encoding: the model's encoding.
        version: the model.
        note: the reason for which even plain messages are an estimate.
    """

    def __init__(self, encoding: Encoding, version: Version, note: str = "") -> None:
        self.encoding = encoding
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
        if request.tools:
            notes.append("tools are counted as their JSON and the words that V4 puts around it")
            tools = [function_of(one, f"tools[{at}]") for at, one in enumerate(request.tools)]
            lines = "\n".join(json.dumps(one, ensure_ascii=False) for one in tools)
            tokens += self.encoding.count(lines) + _WORDS_AROUND_TOOLS
        return MessageCount(tokens, "; ".join(filter(None, notes)))

    def render(self, request: Request) -> tuple[str, list[str]]:
        """Return the text of a conversation, and the reasons for which it is an estimate.

        Raises:
            ValueError: as in ``count``.
        """
        refuse_template_parts(request, "DeepSeek's format")
        thinks = _thinks(request)
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
            if role == "developer" and self._version is Version.V4:
                role = "user"
            if role in ("system", "developer"):
                system.append(text)
            elif role == "user":
                parts += ["\n\n" if before == role and self._version is Version.V4 else USER, text]
            elif role == "tool":
                parts += ["" if after_tool else _OUTPUTS[0], _OUTPUT[0], text, _OUTPUT[1]]
                notes.append(_TOOL_NOTE)
            elif calls := tool_calls(message, place):
                parts += [opening, text, *_written(calls), END]
                notes.append(_TOOL_NOTE)
            elif after_tool:
                parts += [_OUTPUTS[1], text, END]
            elif self._version is Version.V4:
                parts += [opening, text, END]
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


def _thinks(request: Request) -> bool:
    unknown = request.variables.keys() - {"thinking"}
    if unknown:
        raise ValueError(f"variables has {sorted(unknown)}; DeepSeek's format takes thinking")
    thinks = request.variables.get("thinking", False)
    if not isinstance(thinks, bool):
        fail("variables.thinking", "must be true or false")
    return thinks


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
