"""DeepSeek's models V3, R1, V3.1 and V3.2.

All models begin with the system prompt, and put one token before a message of the user and one
before a reply. They differ in the tokens that open a reply. The texts up to V3.1 are those that the
models' own templates make, for messages without tools.

V3.2 follows the file ``encoding_dsv32.py`` that is published with it. The file has no place for the
tools of a request. Like the servers that use the file, this module puts them and the
``response_format`` into the first message, the system's, or into an empty one before it.

https://huggingface.co/deepseek-ai/DeepSeek-V3.2/blob/main/encoding/encoding_dsv32.py
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..encodings.encoding import Encoding
from .base import ChatFormat, MessageCount, Request, refuse_template_parts
from .dsml import V3_2
from .messages import (
    MEMBERS,
    Plain,
    Value,
    checked_roles,
    content_texts,
    fail,
    thoughts_of,
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

_TOOL_NOTE = "tool calls and their results are counted as R1 writes them"

_TOOLS = "DeepSeek does not publish how this model receives tools; they are counted as for V3.2"
_FORM = (
    "DeepSeek does not publish how this model receives response_format; it is counted as for V3.2"
)


class DeepSeekFormat(ChatFormat):
    """The count of a request to a model of DeepSeek's.

    Args:
        encoding: the model's encoding.
        opens_thinking: True if a reply begins with a token for thinking or not, as since V3.1; for
            V3 and R1 it begins without one.
    """

    members = MEMBERS
    service_variables = ("thinking",)

    def __init__(self, encoding: Encoding, *, opens_thinking: bool = False) -> None:
        super().__init__(encoding)
        self._opens_thinking = opens_thinking

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
        return MessageCount(tokens, "; ".join(notes))

    def render(self, request: Request) -> tuple[str, list[str]]:
        """Return the text of a conversation, and the reasons for which it is an estimate.

        Raises:
            ValueError: as in ``count``.
        """
        refuse_template_parts(request, "DeepSeek's format")
        thinks = wants_to_think(request)
        checked_roles(request.messages, ROLES)
        opening = ASSISTANT + (NO_THINK if self._opens_thinking else "")
        system: list[str] = []
        parts: list[str] = []
        notes: list[str] = []
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
            if self._opens_thinking:
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
            f"variables has {sorted(unknown)}; DeepSeek's format accepts {' and '.join(known)}"
        )
    thinks = Value(request.variables.get("thinking", False), "variables.thinking").truth()
    if efforts and request.variables.get("reasoning_effort", efforts[0]) not in efforts:
        fail("variables.reasoning_effort", f"must be one of {', '.join(efforts)}")
    return thinks


def tools_text(request: Request) -> str:
    """Return the text for V3.2 about the tools of a request; an empty text if there are none.

    Raises:
        ValueError: a tool is damaged.
    """
    return f"\n\n{V3_2.tools(request.functions())}" if request.tools else ""


def schema_text(request: Request) -> str:
    """Return the text for V3.2 about the schema of a reply; an empty text if there is none."""
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


_ANY_JSON = "DeepSeek does not publish V3.2's instruction for json_object; it is not counted"


class DeepSeekV32Format(ChatFormat):
    """The count of a request to DeepSeek-V3.2.

    Args:
        encoding: the model's encoding.
    """

    members = MEMBERS
    service_variables = ("thinking",)

    def count(self, request: Request) -> MessageCount:
        """Return the number of tokens of a request.

        Raises:
            ValueError: as in ``render``.
        """
        form = request.response_format
        note = _ANY_JSON if form is not None and form.schema is None else ""
        return MessageCount(
            len(self.encoding.encode(self.render(request), allowed_special="all")), note
        )

    def render(self, request: Request) -> str:
        """Return the text of a request.

        Raises:
            ValueError: a role or variable is not known; a message has something that cannot be
                counted; or V3.2 does not take it, such as a tool's result without a call.
        """
        refuse_template_parts(request, "DeepSeek's format")
        thinks = wants_to_think(request)
        checked_roles(request.messages, ROLES)
        last = _last_of_user(request.messages) if thinks else -1
        # Each message keeps its place for errors, even if others are left out.
        messages = [
            (one, f"messages[{at}]")
            for at, one in enumerate(request.messages)
            if at >= last or one["role"] != "developer"
        ]
        conversation = _Conversation([one for one, _ in messages], thinks)
        parts = [BEGIN]
        above = tools_text(request) + schema_text(request)
        if above and (not messages or messages[0][0]["role"] != "system"):
            parts.append(above)
            above = ""
        for index, (_, place) in enumerate(messages):
            text, opening = conversation.written(index, place)
            parts.append(text)
            if index == 0:
                parts.append(above)
            if index + 1 < len(messages) or request.add_generation_prompt:
                parts.append(opening)
        return "".join(parts)


def _last_of_user(messages: list[Plain]) -> int:
    """Return the index of the last message of the user's or the developer's; -1 if none is."""
    indexes = (at for at, one in enumerate(messages) if one["role"] in ("user", "developer"))
    return max(indexes, default=-1)


class _Conversation:
    """The messages of a request, and whether the model is to think."""

    def __init__(self, messages: list[Plain], thinks: bool) -> None:
        self._messages = messages
        self._thinks = thinks
        self._last_of_user = _last_of_user(messages)

    def written(self, index: int, place: str) -> tuple[str, str]:
        """Return the text of a message, and that with which a reply to it begins."""
        message = self._messages[index]
        text = "".join(content_texts(message.get("content"), f"{place}.content"))
        role = message["role"]
        if role == "system":
            return text, ""
        if role == "assistant":
            return self._said(index, text, place), ""
        if role == "tool":
            return self._result(index, text, place)
        if role == "developer":
            if not text:
                fail(f"{place}.content", "a developer's message must have a text")
            text = f"\n\n# The user's message is: {text}"
        think = self._thinks and index == self._last_of_user
        return USER + text, ASSISTANT + (THINK if think else NO_THINK)

    def _said(self, index: int, text: str, place: str) -> str:
        message = self._messages[index]
        calls = []
        for at, call in enumerate(tool_calls(message, place)):
            here = f"{place}.tool_calls[{at}]"
            arguments = V3_2.arguments(call, here)
            if arguments is None:
                fail(f"{here}.function.arguments", "must be a JSON object")
            calls.append((call["function"]["name"], arguments))
        thoughts = ""
        if self._thinks and index > self._last_of_user:
            thoughts = thoughts_of(message, place)
            if not thoughts and not calls:
                fail(
                    place,
                    "there is no 'reasoning_content', which V3.2 needs to continue its reasoning",
                )
            thoughts += NO_THINK
        return thoughts + text + (f"\n\n{V3_2.calls(calls)}" if calls else "") + END

    def _result(self, index: int, text: str, place: str) -> tuple[str, str]:
        caller = index - 1
        while caller >= 0 and self._messages[caller]["role"] == "tool":
            caller -= 1
        calls = tool_calls(self._messages[caller], place) if caller >= 0 else []
        number = index - caller
        if number > len(calls):
            fail(place, "this tool result has no matching tool call before it")
        written = ("\n\n<function_results>" if number == 1 else "") + f"\n<result>{text}</result>"
        if number < len(calls):
            return written, ""
        think = self._thinks and index >= self._last_of_user
        return f"{written}\n</function_results>", f"\n\n{THINK if think else NO_THINK}"
