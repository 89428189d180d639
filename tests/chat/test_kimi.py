"""Kimi's declaration of tools, by texts made by hand; tests/clients compares it with its file."""

from __future__ import annotations

from typing import Any

import pytest

from compat_bpe.chat import ChatTemplate
from compat_bpe.chat.kimi import declared, in_order

CHAT = [{"role": "user", "content": "x"}]
#: As the templates of Kimi's models since K2.5 show tools.
TEMPLATE = "{% if tools_ts_str %}{{ tools_ts_str }}{% elif tools %}{{ tools | tojson }}{% endif %}"


def tool(parameters: Any, **members: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", "parameters": parameters, **members}}


def test_what_the_tokenizer_shows() -> None:
    parameters = {
        "type": "object",
        "$defs": {"Point": {"type": "object", "description": "A\n\nplace"}},
        "properties": {
            "unit": {"enum": ["c", 'a"b', None, 1], "type": ["string", "null"], "default": "c"},
            "at": {"$ref": "#/$defs/Point"},
            "tags": {"type": "array", "maxItems": 3, "items": {"type": "string", "minLength": 1}},
            "many": {"type": "array", "items": {"type": "integer"}},
            "both": {"anyOf": [{"type": "number"}, {"type": ["array", "null"]}], "default": 2},
            "inner": {"type": "object", "additionalProperties": False, "properties": {"a": {}}},
        },
        "required": ["inner", "at"],
    }
    del parameters["properties"]["unit"]["enum"][3]  # type: ignore[index]
    shown = declared(in_order([tool(parameters, description="Do.\nIt.")]))
    assert shown == (
        "# Tools\n\n## functions\nnamespace functions {\n"
        "// A\n\n// place\ninterface Point {}\n"
        "// Do.\n// It.\n"
        "type f = (_: {\n"
        "  at: Point,\n"
        "  inner: {\n    a?: any,\n    [k: string]: never\n  },\n"
        "  // Default: 2\n  both?: number | Array<any> | null,\n"
        "  many?: Array<number>,\n"
        "  // maxItems: 3\n  tags?: Array<\n    // minLength: 1\n    string\n  >,\n"
        '  // Default: "c"\n  unit?: "c" | "a"b" | None\n'
        "}) => any;\n}\n"
    )


def test_a_schema_that_refers_to_itself() -> None:
    parameters = {"properties": {"next": {"$ref": "#"}, "a": {"type": "string"}}, "required": ["a"]}
    assert "interface parameters {\n  a: string,\n  next?: parameters\n}\n" in str(
        declared(in_order([tool(parameters)]))
    )


@pytest.mark.parametrize(
    "parameters",
    [
        {"properties": {"a": {"$ref": "#/$defs/no"}}},
        {"properties": {"a": {"description": "no type"}}},
        {"properties": {"a": {"type": ["odd"]}}},
        {"properties": {"a": {"type": "integer", "enum": ["x"]}}},
        {"properties": ["a"]},
        {"additionalProperties": "x"},
        "x",
    ],
)
def test_what_it_shows_as_json(parameters: Any) -> None:
    tools = [tool(parameters)]
    assert declared(tools) is None
    if isinstance(parameters, dict):
        shown = ChatTemplate(TEMPLATE).render(CHAT, tools=tools)
        assert shown.startswith('[{"function": {"name": "f", "parameters":')


def test_a_template_shows_the_declaration() -> None:
    tools = [tool({"type": "object", "properties": {"b": {}, "a": {}}, "required": ["b"]})]
    template = ChatTemplate(TEMPLATE)
    assert template.render(CHAT, tools=tools) == declared(in_order(tools))
    assert template.render(CHAT) == ""
    own = template.render(CHAT, tools=tools, variables={"tools_ts_str": "mine"})
    assert own == "mine"
    other = ChatTemplate("{{ tools | tojson }}").render(CHAT, tools=tools)
    assert other.startswith('[{"type": "function"')  # in the order of the request


def test_no_tool_is_a_function() -> None:
    assert declared([{"type": "_plugin"}]) == ""
