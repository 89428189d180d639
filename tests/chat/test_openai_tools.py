"""The tools of a request as OpenAI's models see them. ``tests/usage`` has what was billed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.chat import count_messages
from compat_bpe.chat.openai_tools import tools_text


def shown(schema: dict[str, Any], **members: Any) -> str:
    """The parameters of a function with this schema."""
    text = tools_text([{"name": "f", "parameters": schema, **members}]).text
    return text[text.index("(") : text.index(" => any;")]


def of_property(schema: Any, **root: Any) -> str:
    """The type of a property with this schema."""
    return shown({"type": "object", "properties": {"p": schema}, **root})[len("(_: { p?: ") : -3]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "integer"}, "number"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"type": "string", "enum": ["a", "b"]}, '"a" | "b"'),
        ({"enum": [1, None]}, "1 | null"),
        ({"const": "x"}, '"x"'),
        ({"type": "string", "const": "x"}, "string"),
        ({"type": "array"}, "any[]"),
        ({"type": "array", "items": {"type": "boolean"}}, "boolean[]"),
        ({"type": "array", "prefixItems": [{"type": "null"}, {}]}, "[null, any]"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string | null"),
        ({"oneOf": [{"type": "string"}, {"type": "number"}]}, "string | number"),
        ({"allOf": [{"type": "string"}, {"type": "number"}]}, "string & number"),
        ({"type": "object"}, "{}"),
        ({"properties": {"a": {"type": "string"}}, "required": ["a"]}, "{ a: string }"),
        (
            {"type": "object", "additionalProperties": {"type": "number"}},
            "{ [key: string]: number }",
        ),
        ({"type": "object", "patternProperties": {"^x": {}}}, "{ [key: string]: any }"),
        (3, "any"),
        ({"type": 3, "enum": [], "anyOf": {}}, "any"),
    ],
)
def test_types(schema: Any, expected: str) -> None:
    assert of_property(schema) == expected


def test_texts_make_lines() -> None:
    properties = {"a": {"type": "string", "description": "A.\n  B. "}, "b": {"default": [1, "é"]}}
    schema = {"type": "object", "description": "All.", "properties": properties}
    assert shown(schema) == (
        '(_: // All.\n{\n// A.\nB.\na?: string,\nb?: any, // default: [1, "é"]\n})'
    )
    # In June 2023, only the outermost properties had their texts.
    properties["c"] = {"type": "object", "properties": {"d": {"description": "D", "type": "null"}}}
    text = tools_text([{"name": "f", "parameters": schema}], by_lines=True).text
    assert "(_: {\n// A.\n  B. \na?: string,\nb?: any,\nc?: {\n  d?: null,\n},\n}) => any;" in text


def test_properties_beside_variants_are_shown() -> None:
    schema = {"properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"const": 1}]}
    assert shown(schema) == "(_: { a?: string } & (any | 1))"


def test_texts_of_variants_are_shown() -> None:
    union = {"oneOf": [{"type": "string", "description": "A"}, {"type": "null"}]}
    assert of_property(union) == "string // A\n | null"


def test_references_are_followed() -> None:
    place = {"type": "object", "properties": {"city": {"type": "string"}}}
    referring = {"$ref": "#/$defs/Place"}
    assert of_property(referring, **{"$defs": {"Place": place}}) == of_property(place)
    assert of_property({"$ref": "#/definitions/a~1b"}, definitions={"a/b": place}) == (
        of_property(place)
    )
    # What stands beside it counts, too.
    described = {"$ref": "#/$defs/Place", "description": "Where"}
    schema = {"properties": {"p": described}, "$defs": {"Place": place}}
    assert shown(schema) == "(_: {\n// Where\np?: { city?: string },\n})"
    assert shown({"$ref": "#/$defs/Place", "$defs": {"Place": place}}) == "(_: { city?: string })"


def test_a_schema_by_reference_counts_as_much_as_without() -> None:
    long = {f"property_{at}": {"type": "string", "description": "word " * 9} for at in range(50)}
    inner = {"type": "object", "properties": long}
    chat = [{"role": "user", "content": "x"}]
    counts = [
        count_messages(chat, model="gpt-4o", tools=[{"name": "f", "parameters": schema}])
        for schema in (
            {"type": "object", "properties": {"p": inner}},
            {"properties": {"p": {"$ref": "#/$defs/P"}}, "$defs": {"P": inner}},
        )
    ]
    assert counts[0] == counts[1] > 700


@pytest.mark.parametrize(
    ("schema", "left_out"),
    [
        ({"pattern": "x", "format": "date"}, ["format", "pattern"]),
        ({"additionalProperties": True}, ["additionalProperties"]),
        ({"additionalProperties": False}, []),
        ({"$ref": "#/$defs/None"}, ["$ref to #/$defs/None"]),
        ({"$ref": "https://example.org/"}, ["$ref to https://example.org/"]),
        ({"type": "array", "items": {"description": "x"}}, ["description (of items)"]),
    ],
)
def test_what_is_not_shown_is_named(schema: dict[str, Any], left_out: list[str]) -> None:
    function = {"name": "f", "parameters": {"properties": {"p": schema}}}
    assert tools_text([function]).left_out == left_out
    count = count_messages([{"role": "user", "content": "x"}], model="gpt-4o", tools=[function])
    for name in left_out:
        assert f"not counted in the tools: {', '.join(left_out)}" in count.note, name


def test_members_of_a_function_that_are_not_shown_are_named() -> None:
    # Anthropic's tools have their schema under another name.
    assert tools_text([{"name": "f", "input_schema": {}}]).left_out == ["input_schema"]


def test_what_refers_to_itself_ends() -> None:
    loop = {"properties": {"p": {"$ref": "#"}, "q": {"$ref": "#"}}}
    text, left_out = tools_text([{"name": "f", "parameters": loop}])
    assert len(text) < 10_000_000
    assert "references beyond a million letters" in left_out
    # However many tools, and however many ways to write the reference.
    ways = {"properties": {str(at): {"$ref": "#" + "/" * (at % 2)} for at in range(300)}}
    text, _ = tools_text([{"name": "f", "parameters": one} for one in (loop, ways) * 50])
    assert len(text) < 10_000_000
    names = [f"n{at}" for at in range(60)]
    doubling = {
        name: {"properties": {"a": {"$ref": f"#/$defs/{after}"}, "b": {"$ref": f"#/$defs/{after}"}}}
        for name, after in zip(names, names[1:])
    }
    schema = {"$ref": "#/$defs/n0", "$defs": {**doubling, "n59": {"type": "string"}}}
    assert len(tools_text([{"name": "f", "parameters": schema}]).text) < 10_000_000
    assert shown({"$ref": "#/a", "a": {"$ref": "#/b"}, "b": {"$ref": "#/a"}}) == "()"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ("type", "properties", "items", "anyOf", "enum", "$ref", "required", "x")
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(max_size=5), _JSON, max_size=4)
    | _JSON.filter(lambda x: type(x) is dict),
    st.booleans(),
)
def test_any_schema_is_shown(schema: dict[str, Any], by_lines: bool) -> None:
    assert tools_text([{"name": "f", "parameters": schema}], by_lines=by_lines).text
