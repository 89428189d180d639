"""DeepSeek's model V3.2, by the file ``encoding_dsv32.py`` that is published with it.

The file has no place for the tools of a request; like the servers that use it, this takes them and
the ``response_format`` as parts of the first message, the system's, or of an empty one before it.

https://huggingface.co/deepseek-ai/DeepSeek-V3.2/blob/main/encoding/encoding_dsv32.py
"""

from __future__ import annotations

from .base import ChatFormat, MessageCount, Request, refuse_template_parts
from .deepseek import (
    ASSISTANT,
    BEGIN,
    END,
    NO_THINK,
    ROLES,
    THINK,
    USER,
    schema_text,
    tools_text,
    wants_to_think,
)
from .dsml import V3_2
from .messages import (
    MEMBERS,
    Plain,
    checked_roles,
    content_texts,
    fail,
    thoughts_of,
    tool_calls,
)

_ANY_JSON = "DeepSeek publishes no words of V3.2 for a reply in any JSON; none are counted"


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
            ValueError: a role or variable is not known, or a message has something that cannot be
                counted; or is one that V3.2 does not take, such as a tool's result without a call.
        """
        refuse_template_parts(request, "DeepSeek's format")
        thinks = wants_to_think(request)
        checked_roles(request.messages, ROLES)
        # A message keeps its place, for errors, when others are left out.
        messages = [(one, f"messages[{at}]") for at, one in enumerate(request.messages)]
        if thinks:
            last = _last_of_user([one for one, _ in messages])
            messages = [
                one
                for at, one in enumerate(messages)
                if at >= last or one[0]["role"] != "developer"
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
    indexes = [at for at, one in enumerate(messages) if one["role"] in ("user", "developer")]
    return indexes[-1] if indexes else -1


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
                fail(f"{here}.function.arguments", "must be an object of JSON")
            calls.append((call["function"]["name"], arguments))
        thoughts = ""
        if self._thinks and index > self._last_of_user:
            thoughts = thoughts_of(message, place)
            if not thoughts and not calls:
                fail(place, "there is no 'reasoning_content', without which V3.2 does not think on")
            thoughts += NO_THINK
        return thoughts + text + (f"\n\n{V3_2.calls(calls)}" if calls else "") + END

    def _result(self, index: int, text: str, place: str) -> tuple[str, str]:
        caller = index - 1
        while caller >= 0 and self._messages[caller]["role"] == "tool":
            caller -= 1
        calls = tool_calls(self._messages[caller], place) if caller >= 0 else []
        number = index - caller
        if number > len(calls):
            fail(place, "a tool's result without a call of the tool before it")
        written = ("\n\n<function_results>" if number == 1 else "") + f"\n<result>{text}</result>"
        if number < len(calls):
            return written, ""
        think = self._thinks and index >= self._last_of_user
        return f"{written}\n</function_results>", f"\n\n{THINK if think else NO_THINK}"
