"""DSML, the markup for tools and their calls in the prompts of DeepSeek's models since V3.2.

The name of an element is after a token of its own, as in ``<｜DSML｜invoke name="f">``. The words
that explain it are those of DeepSeek's own programs, which are under the MIT licence: of the file
``encoding_dsv32.py`` for V3.2, and of the package ``deepseek-recipe`` 0.2.0 for V4 and V4.1.
"""

from __future__ import annotations

import json
from typing import Any, Callable, NamedTuple

from .base import json_text, rust_number
from .messages import Plain, fail, plain

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
        words: the text that explains the elements.
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
        """Return the arguments of a call of a tool; None if their text is not an object of JSON.

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
    raise ValueError(f"{name} is not JSON")


V3_2 = Dsml(
    ("function_calls", "invoke", "parameter"), "FUNCTION", _V3_2_TOOLS, True, json.loads, _as_python
)
V4 = Dsml(("tool_calls", "invoke", "parameter"), "TOOL", _V4_TOOLS, False, _read_as_rust, _as_rust)
V4_1 = Dsml((" calls", " invoke", " parameter"), "TOOL", _V4_TOOLS, True, _read_as_rust, _as_python)
