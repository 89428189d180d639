"""DeepSeek's models V4 and V4.1, by DeepSeek's own package ``deepseek-recipe`` 0.2.0.

It makes the text of a request to DeepSeek's service as of October 2026. Except for the effort of
thinking, the text of V4 is that of ``encoding_dsv4.py``, which is published with the model.

https://github.com/deepseek-ai/deepseek-recipe
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ..encodings.encoding import Encoding
from .base import ChatFormat, MessageCount, Request, refuse_template_parts
from .deepseek import ASSISTANT, BEGIN, END, NO_THINK, ROLES, THINK, USER, wants_to_think
from .dsml import ANY_JSON_IN_V4, V4, V4_1
from .messages import (
    MEMBERS,
    Plain,
    checked_roles,
    content_texts,
    thoughts_of,
    tool_calls,
)

SYSTEM = "<｜System｜>"
EFFORTS = ("low", "high", "max", "minimal", "medium", "xhigh", "ultra")

#: The efforts that the service treats as another one.
_SAME_EFFORT = {"minimal": "low", "medium": "high", "xhigh": "high", "ultra": "max"}

#: The words that V4 is given before all else if it is to think; none if the effort is low.
_V4_EFFORTS = {
    "low": "",
    "high": """\
Reasoning Effort: Absolute maximum with no shortcuts permitted.
You MUST be very thorough in your thinking and comprehensively decompose the problem to resolve \
the root cause, rigorously stress-testing your logic against all potential paths, edge cases, and \
adversarial scenarios.
Explicitly write out your entire deliberation process, documenting every intermediate step, \
considered alternative, and rejected hypothesis to ensure absolutely no assumption is left \
unchecked.

""",
    "max": """\
Reasoning Effort: Beyond maximum — exhaustive, relentless, and uncompromising.
You MUST reason with the utmost depth and rigor, leaving absolutely nothing to chance: \
exhaustively decompose the problem into its most fundamental components, trace every causal chain \
to its root, and resolve the underlying cause rather than any surface symptom.
Do not stop reasoning until you have independently verified the solution from multiple angles and \
are certain that no assumption remains unchecked and no error remains undiscovered.

""",
}
_V4_1_EFFORT = (
    "Reasoning Effort: {} (range 1-100, the higher the value, the more thorough the reasoning)\n\n"
)
_V4_1_EFFORTS = {
    effort: _V4_1_EFFORT.format(number)
    for effort, number in (("low", 50), ("high", 75), ("max", 100))
}

_EFFORT = (
    "DeepSeek's service and the file published with V4 describe the reasoning effort in "
    "different words, so none are counted; give reasoning_effort to count the service's"
)
_STRICT = "DeepSeek's service rewrites the schema of a strict tool; it is counted as given"
_VOCABULARY = "the vocabulary of V4 is used in place of that of V4.1, which could not be read"


class Version(Enum):
    """The models that this format has."""

    V4 = "V4"
    V4_1 = "V4.1"


class DeepSeekV4Format(ChatFormat):
    """The count of a request to DeepSeek-V4 or V4.1.

    Args:
        encoding: the model's encoding.
        version: the model.
    """

    members = MEMBERS
    service_variables = ("thinking", "reasoning_effort")

    def __init__(self, encoding: Encoding, version: Version) -> None:
        super().__init__(encoding)
        self._is_v4 = version is Version.V4
        self._dsml = V4 if self._is_v4 else V4_1

    def count(self, request: Request) -> MessageCount:
        """Return the number of tokens of a request.

        Raises:
            ValueError: as in ``render``.
        """
        text = self.render(request)
        notes = []
        if not self._is_v4:
            notes.append(_VOCABULARY)
            text = text.replace(SYSTEM, BEGIN)  # a token, too, but one that V4 has
        elif request.variables.get("thinking") and "reasoning_effort" not in request.variables:
            notes.append(_EFFORT)
        if any(one.get("strict") is True for one in request.functions()):
            notes.append(_STRICT)
        tokens = len(self.encoding.encode(text, allowed_special="all"))
        return MessageCount(tokens, "; ".join(notes))

    def render(self, request: Request) -> str:
        """Return the text of a request.

        Raises:
            ValueError: a role or variable is not known, or a message has something that cannot be
                counted.
        """
        refuse_template_parts(request, "DeepSeek's format")
        thinks = wants_to_think(request, EFFORTS)
        checked_roles(request.messages, ROLES)
        above, below = self._above(request, thinks), self._below(request)
        blocks = self._system_first(
            _blocks(request.messages, hoists=self._is_v4), bool(above or below)
        )
        last_of_user = max((at for at, one in enumerate(blocks) if one.role == "user"), default=-1)
        parts = [BEGIN]
        for at, block in enumerate(blocks):
            if block.role == "system":
                text = above + block.text + below if at == 0 else block.text
                parts.append(text if self._is_v4 or not text else SYSTEM + text)
            elif block.role == "user":
                parts.append(USER + block.text)
            else:
                goes_on = at > last_of_user and not request.add_generation_prompt
                parts.append(self._said(block, thinks, bool(request.tools) or goes_on))
        if request.add_generation_prompt:
            parts.append(ASSISTANT + (THINK if thinks else NO_THINK))
        return "".join(parts)

    def _above(self, request: Request, thinks: bool) -> str:
        """Return the text before the system's words, for the effort of thinking."""
        if not thinks:
            return ""
        default = "low" if self._is_v4 else "high"
        effort = request.variables.get("reasoning_effort", default)
        efforts = _V4_EFFORTS if self._is_v4 else _V4_1_EFFORTS
        return efforts[_SAME_EFFORT.get(effort, effort)]

    def _below(self, request: Request) -> str:
        """Return the text after the system's words: the tools and the form of the reply."""
        below = ""
        if request.tools:
            below += f"\n\n{self._dsml.tools([*map(_shown, request.functions())])}"
        form = request.response_format
        if form is None:
            return below
        if form.schema is None and self._is_v4:
            return f"{below}\n\n{ANY_JSON_IN_V4}"
        schema = {"type": "json_object"} if form.schema is None else form.schema
        return f"{below}\n\n{self._dsml.schema(schema)}"

    def _system_first(self, blocks: list[_Block], is_needed: bool) -> list[_Block]:
        """Return the parts with those of the system as the model has them.

        V4 has all of them in one part at the beginning. For V4.1, each is at its place.
        """
        if self._is_v4:
            texts = [one.text for one in blocks if one.role == "system"]
            others = [one for one in blocks if one.role != "system"]
            return [_Block("system", "\n\n".join(texts), {}, ""), *others]
        if is_needed and (not blocks or blocks[0].role != "system"):
            return [_Block("system", "", {}, ""), *blocks]
        return blocks

    def _said(self, block: _Block, thinks: bool, keeps_thoughts: bool) -> str:
        """Return the text of a message of the assistant, with its calls."""
        thoughts = NO_THINK
        if thinks and keeps_thoughts:
            thoughts = THINK + thoughts_of(block.message, block.place) + NO_THINK
        calls = []
        for at, call in enumerate(tool_calls(block.message, block.place)):
            arguments = self._dsml.arguments(call, f"{block.place}.tool_calls[{at}]")
            if arguments is None:
                arguments = {"arguments": call["function"].get("arguments", "")}
            calls.append((call["function"]["name"], arguments))
        written = f"\n\n{self._dsml.calls(calls)}" if calls else ""
        return ASSISTANT + thoughts + block.text + written + END


class _Block(NamedTuple):
    """A part of a conversation: messages of one role.

    Args:
        role: ``"system"``, ``"user"`` or ``"assistant"``.
        text: their text together.
        message, place: the message of an assistant, and where it is.
    """

    role: str
    text: str
    message: Plain
    place: str


def _blocks(messages: list[Plain], hoists: bool) -> list[_Block]:
    """Return the parts of a conversation; results of tools are parts of the user's messages.

    Args:
        messages: the conversation.
        hoists: True if messages of the system do not separate those before and after them.
    """
    blocks: list[_Block] = []
    said: list[tuple[str | None, str]] = []  # of the user, each with the call if it is a result
    order: dict[str, int] = {}

    def end() -> None:
        if said:
            blocks.append(_Block("user", "\n\n".join(_in_order(said, order)), {}, ""))
            said.clear()

    for index, message in enumerate(messages):
        place = f"messages[{index}]"
        text = "\n\n".join(content_texts(message.get("content"), f"{place}.content"))
        role = message["role"]
        if role == "tool":
            said.append((str(message.get("tool_call_id")), f"<tool_result>{text}</tool_result>"))
        elif role == "user":
            said.append((None, text))
        elif role == "system":
            if text and not hoists:
                end()
            if text:
                blocks.append(_Block("system", text, {}, ""))
        else:
            end()
            is_said = role == "assistant"
            blocks.append(_Block("assistant" if is_said else "user", text, message, place))
            calls = tool_calls(message, place) if is_said else []
            if calls:
                order = {str(call.get("id")): at for at, call in enumerate(calls)}
    end()
    return blocks


def _in_order(said: list[tuple[str | None, str]], order: dict[str, int]) -> list[str]:
    """Return texts of the user with the results among them in the order of their calls."""
    results = sorted(
        (one for one in said if one[0] is not None), key=lambda one: order.get(one[0] or "", 0)
    )
    at = iter(results)
    return [text if call is None else next(at)[1] for call, text in said]


def _shown(function: Plain) -> Plain:
    """Return a tool with the members that the model sees."""
    return {
        "name": function["name"],
        "description": function.get("description") or "",
        "parameters": function.get("parameters") or {},
    }
