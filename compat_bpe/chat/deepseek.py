"""DeepSeek's models V3, R1, V3.1 and V3.2, and the markup in which those since V3.2 call tools.

All models begin with the system prompt, and put one token before what the user says and one before
a reply. They differ in the tokens that open a reply. The texts up to V3.1 are those that the
models' own templates make, for messages without tools.

V3.2 follows the file ``encoding_dsv32.py`` that is published with it. The file has no place for the
tools of a request; like the servers that use it, this takes them and the ``response_format`` as
parts of the first message, the system's, or of an empty one before it.

In the markup, DSML, the name of an element is behind a token of its own, as in
``<｜DSML｜invoke name="f">``. The words that explain it are those of DeepSeek's own programs, which
are under the MIT licence: of V3.2's file, and of the package ``deepseek-recipe`` 0.2.0 for V4 and
V4.1.

https://huggingface.co/deepseek-ai/DeepSeek-V3.2/blob/main/encoding/encoding_dsv32.py
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Callable, NamedTuple

from ..encodings.encoding import Encoding
from .base import ChatFormat, MessageCount, Request, json_text, refuse_template_parts, rust_number
from .messages import (
    MEMBERS,
    Plain,
    Value,
    checked_roles,
    content_texts,
    fail,
    function_of,
    plain,
    thoughts_of,
    tool_calls,
)

_TOKEN = "｜DSML｜"

_V3_2_TOOLS = """\
## Tools
You have access to a set of tools you can use to answer the user's question.
You can invoke functions by writing a "{begin}" block like the following as part of your reply to \
the user:
{example}
String and scalar parameters should be specified as is without any escaping or quotes, while lists \
and objects should use JSON format. The "string" attribute should be set to "true" for string type \
parameters and "false" for other types (numbers, booleans, arrays, objects).
If the thinking_mode is enabled, then after function results you should strongly consider \
outputting a thinking block. Here is an example:
{begin}
...
{end}
<function_results>
...
</function_results>
<think>...thinking about results</think>
Here are the functions available in JSONSchema format:
<functions>
{tools}
</functions>
"""

_V4_TOOLS = """\
## Tools

You have access to a set of tools to help answer the user's question. You can invoke tools by \
writing a "{begin}" block like the following:

{example}

String parameters should be specified as is and set `string="true"`. For all other types (numbers, \
booleans, arrays, objects), pass the value in JSON format and set `string="false"`.

If thinking_mode is enabled (triggered by <think>), you MUST output your complete reasoning inside \
<think>...</think> BEFORE any tool calls or final response.

Otherwise, output directly after </think> with tool calls or final response.

### Available Tool Schemas

{tools}

You MUST strictly follow the above defined tool name and parameter schemas to invoke tool calls.
"""

_SCHEMA = """\
## Response Format:

You MUST strictly adhere to the following schema to reply:
"""

#: The words that V4 is given if the reply is to be any JSON.
ANY_JSON_IN_V4 = """\
You are a helpful assistant designed to output JSON.
## Response Format:

Reply with JSON object ONLY."""


class Dsml(NamedTuple):
    """DSML as a version has it.

    Args:
        names: those of the elements: all calls, one of them, one of its arguments.
        tool: the word for a tool in the example.
        words: what explains the elements.
        has_empty_line: True if a call without arguments has an empty line in it.
        read: reads a value of JSON; it raises ``ValueError``.
        write: writes one.
    """

    names: tuple[str, str, str]
    tool: str
    words: str
    has_empty_line: bool
    read: Callable[[str], Any]
    write: Callable[[Any], str]

    def calls(self, calls: list[tuple[str, Plain]]) -> str:
        """Return calls of tools, each of a name and arguments."""
        _, call, _ = self.names
        lines = []
        for name, arguments in calls:
            lines.append(_begin(call, name=name))
            lines += [self._argument(*one) for one in arguments.items()]
            if not arguments and self.has_empty_line:
                lines.append("")
            lines.append(_end(call))
        return self._block(lines)

    def arguments(self, call: Plain, place: str) -> Plain | None:
        """Return the arguments of a call of a tool; None if their text is no object of JSON.

        Raises:
            ValueError: they are nested too deeply, or neither a text nor an object.
        """
        given = call["function"].get("arguments", "")
        here = f"{place}.function.arguments"
        if isinstance(given, dict):
            return given
        if not isinstance(given, str):
            fail(here, "must be a string or an object")
        try:
            parsed = self.read(given)
        except RecursionError:
            fail(here, "nested too deeply")
        except ValueError:
            return None
        return plain(parsed, here) if isinstance(parsed, dict) else None

    def tools(self, functions: list[Plain]) -> str:
        """Return the text in a prompt about the tools that the model may call."""
        calls, call, parameter = self.names
        example = self._block(
            [
                _begin(call, name=f"${self.tool}_NAME"),
                f"{_begin(parameter, name='$PARAMETER_NAME', string='true|false')}$PARAMETER_VALUE"
                f"{_end(parameter)}",
                "...",
                _end(call),
                _begin(call, name=f"${self.tool}_NAME2"),
                "...",
                _end(call),
            ]
        )
        return self.words.format(
            begin=_begin(calls),
            end=_end(calls),
            example=example,
            tools="\n".join(map(self.write, functions)),
        )

    def schema(self, schema: Plain) -> str:
        """Return the text in a prompt about the schema of the reply."""
        return _SCHEMA + self.write(schema)

    def _block(self, lines: list[str]) -> str:
        return "\n".join([_begin(self.names[0]), *lines, _end(self.names[0])])

    def _argument(self, name: str, value: Any) -> str:
        is_text = isinstance(value, str)
        begin = _begin(self.names[2], name=name, string="true" if is_text else "false")
        return f"{begin}{value if is_text else self.write(value)}{_end(self.names[2])}"


def _begin(element: str, **attributes: str) -> str:
    written = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"<{_TOKEN}{element}{written}>"


def _end(element: str) -> str:
    return f"</{_TOKEN}{element}>"


def _as_python(value: Any) -> str:
    return json_text(value, spaced=True, number=repr)


def _as_rust(value: Any) -> str:
    return json_text(value, spaced=True, number=lambda number: rust_number(number, "+"))


def _read_as_rust(text: str) -> Any:
    """Return a value of JSON as Rust's crate reads it: no NaN, and integers of 64 bits."""
    parsed = json.loads(text, parse_int=_integer, parse_constant=_refuse)
    json.dumps(parsed, ensure_ascii=False).encode()  # a half of a surrogate pair is an error, too
    return parsed


def _integer(digits: str) -> int | float:
    if len(digits) > 20 or digits == "-0":
        return float(digits)
    value = int(digits)
    return value if -(2**63) <= value < 2**64 else float(digits)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


V3_2 = Dsml(
    ("function_calls", "invoke", "parameter"), "FUNCTION", _V3_2_TOOLS, True, json.loads, _as_python
)
V4 = Dsml(("tool_calls", "invoke", "parameter"), "TOOL", _V4_TOOLS, False, _read_as_rust, _as_rust)
V4_1 = Dsml((" calls", " invoke", " parameter"), "TOOL", _V4_TOOLS, True, _read_as_rust, _as_python)


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


class DeepSeekFormat(ChatFormat):
    """The count of a request to a model of DeepSeek's.

    Args:
        encoding: the model's encoding.
        opens_thinking: True if a reply begins with a token that says whether the model thinks,
            as of V3.1; to V3 and R1 it begins bare.
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
            f"variables has {sorted(unknown)}; DeepSeek's format takes {' and '.join(known)}"
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
    if not request.tools:
        return ""
    functions = [function_of(one, f"tools[{at}]") for at, one in enumerate(request.tools)]
    return f"\n\n{V3_2.tools(functions)}"


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
