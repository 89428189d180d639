"""The count of requests to OpenAI's models, and the text of their tools."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.chat import count_messages
from compat_bpe.chat.openai import rule_for
from compat_bpe.chat.openai_tools import tools_text
from tests.chat.random_requests import LOCATION, function

#: The example messages of the notebook "How to count tokens with tiktoken", and the tokens that
#: OpenAI's service reported for them there.
EXAMPLE = [
    {"role": role, **({"name": name} if name else {}), "content": content}
    for role, name, content in (
        (
            *("system", ""),
            "You are a helpful, pattern-following assistant that translates corporate jargon into "
            "plain English.",
        ),
        ("system", "example_user", "New synergies will help drive top-line growth."),
        ("system", "example_assistant", "Things working well together will increase revenue."),
        (
            *("system", "example_user"),
            "Let's circle back when we have more bandwidth to touch base on opportunities for "
            "increased leverage.",
        ),
        (
            *("system", "example_assistant"),
            "Let's talk later when we're less busy about how to do better.",
        ),
        (
            *("user", ""),
            "This late pivot means we don't have time to boil the ocean for the client "
            "deliverable.",
        ),
    )
]
PUBLISHED = {
    "gpt-3.5-turbo-0301": 127,
    "gpt-3.5-turbo": 129,
    "gpt-3.5-turbo-0125": 129,
    "gpt-4-0613": 129,
    "gpt-4": 129,
    "gpt-4o": 124,
    "gpt-4o-mini": 124,
    "gpt-4o-2024-08-06": 124,
}

WEATHER = [
    {
        "role": "system",
        "content": "You are a helpful assistant that can answer to questions about the weather.",
    },
    {"role": "user", "content": "What's the weather like in San Francisco?"},
]
UNIT = {"type": "string", "description": "The unit of temperature to return"}
PARAMETERS = {
    "type": "object",
    "properties": {"location": LOCATION, "unit": {**UNIT, "enum": ["celsius", "fahrenheit"]}},
    "required": ["location"],
}
TOOLS = [
    function(
        name="get_current_weather",
        description="Get the current weather in a given location",
        parameters=PARAMETERS,
    )
]


@pytest.mark.parametrize(("model", "tokens"), PUBLISHED.items())
def test_the_published_messages(model: str, tokens: int) -> None:
    count = count_messages(EXAMPLE, model=model)
    assert count == tokens
    assert not count.is_estimate


@pytest.mark.parametrize(
    ("model", "tokens"),
    [("gpt-3.5-turbo", 105), ("gpt-4", 105), ("gpt-4o", 101), ("gpt-4o-mini", 101)],
)
def test_the_published_tools(model: str, tokens: int) -> None:
    count = count_messages(WEATHER, model=model, tools=TOOLS)
    assert count == tokens
    assert count.note.startswith("OpenAI publishes no rule for tools; the one used here")


@pytest.mark.parametrize(
    ("model", "like", "tokens"),
    [
        ("gpt-4.1", "gpt-4o", 124),
        ("gpt-4.5-x", "gpt-4o", 124),
        ("gpt-4o-audio-preview", "gpt-4o", 124),
        ("gpt-5-chat-latest", "gpt-4o", 124),
        ("o1", "o4-mini", 123),
        ("gpt-5.4", "gpt-5", 123),
    ],
)
def test_models_without_a_rule_are_estimates(model: str, like: str, tokens: int) -> None:
    count = count_messages(EXAMPLE, model=model)
    assert count == tokens
    assert count.note == (
        f"no request to {model} at Chat Completions is published or recorded; the rule of {like} "
        "is used"
    )


def test_the_note_of_a_model_that_has_a_rule_of_its_own() -> None:
    assert rule_for("gpt-4", "responses")[1].endswith("; the rule of other models is used")
    assert rule_for("gpt-4o-search-preview", "chat_completions")[1] == (
        "the rule of gpt-4o-search-preview comes from only 2 recorded requests"
    )


def test_an_endpoint_has_its_own_records() -> None:
    chat = [{"role": "user", "content": "x"}]
    assert count_messages(chat, model="gpt-4.1").is_estimate
    assert not count_messages(chat, model="gpt-4.1", endpoint="responses").is_estimate
    with pytest.raises(ValueError, match="unknown endpoint 'chat'; known: chat_completions, resp"):
        count_messages(chat, model="gpt-4o", endpoint="chat")  # type: ignore[arg-type]


def test_roles_without_records_are_estimates() -> None:
    for role in ("developer", "function", "tool"):
        count = count_messages([{"role": role, "content": "x"}], model="gpt-4o")
        assert count.note == f"no request with the role {role} is published or recorded for it"


def test_an_encoding_alone_has_several_models_and_rules() -> None:
    count = count_messages(EXAMPLE, encoding="o200k_base")
    assert count == 124
    assert (
        count.note
        == "no model is given; the rule of gpt-4o is used, and other models have other rules"
    )
    count = count_messages(EXAMPLE, encoding=get_encoding("cl100k_base"))
    assert count == 129
    assert (
        count.note
        == "no model is given; the rule of gpt-4 is used, and other models have other rules"
    )
    # The model says the rule, the encoding the tokens.
    assert count_messages(EXAMPLE, model="gpt-4o", encoding="cl100k_base") == 129


@pytest.mark.parametrize(
    ("spelling", "model"),
    [
        ("azure/eu/gpt-4o", "gpt-4o"),
        ("GPT-4", "gpt-4"),
        ("gpt-41", "gpt-4.1"),
        ("gpt-35-turbo-0301", "gpt-3.5-turbo-0301"),
    ],
)
def test_spellings_have_the_rule_of_the_model(spelling: str, model: str) -> None:
    count = count_messages(EXAMPLE, model=spelling)
    assert (count, count.note) == (
        count_messages(EXAMPLE, model=model),
        count_messages(EXAMPLE, model=model).note,
    )


def test_no_reply() -> None:
    assert count_messages(EXAMPLE, model="gpt-4o", add_generation_prompt=False) == 124 - 3


def test_parts_of_a_content_are_counted_one_by_one() -> None:
    count = get_encoding("o200k_base").count
    parts = [{"type": "text", "text": "hello wor"}, {"type": "text", "text": "ld"}]
    found = count_messages([{"role": "user", "content": parts}], model="gpt-4o")
    assert found == 3 + 3 + 1 + count("hello wor") + count("ld")
    assert not found.is_estimate


def test_names_of_special_tokens_are_text() -> None:
    found = count_messages([{"role": "user", "content": "<|endoftext|>"}], model="gpt-4o")
    assert found == 3 + 3 + 1 + get_encoding("o200k_base").count("<|endoftext|>") > 8


def test_a_call_is_a_message_to_the_tool_and_its_result_one_from_it() -> None:
    count = get_encoding("o200k_base").count
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    chat: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": [call], "annotations": []},
        {"role": "tool", "tool_call_id": "call_1", "content": "yes", "refusal": None},
    ]
    found = count_messages(chat, model="gpt-4o")
    texts = ["assistant", " to=functions.f", "{}", "f", "yes"]
    assert found == 3 + 3 + 3 + 3 + sum(map(count, texts))
    assert "tool calls" in found.note
    # The ids are only there to tell the calls apart.
    call["id"] = chat[1]["tool_call_id"] = "call_" + "0" * 100
    assert count_messages(chat, model="gpt-4o") == found


def calling(*results: str) -> list[dict[str, Any]]:
    """Calls of a tool in one message, with these results."""
    calls = [
        {"id": str(at), "type": "function", "function": {"name": "f", "arguments": "{}"}}
        for at in range(len(results))
    ]
    answers = [
        {"role": "tool", "tool_call_id": str(at), "content": one} for at, one in enumerate(results)
    ]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *answers]


def test_results_of_several_calls_are_written_in_ascii() -> None:
    count = get_encoding("o200k_base").count
    korean = "테스트 " * 1000
    single = count_messages(calling(korean), model="gpt-4o")
    assert single == count(korean) + 19
    several = count_messages(calling(*[korean] * 3), model="gpt-4o")
    # The service billed 39,235 tokens for such a request, and 3,191 for one in English.
    english = count_messages(calling(*["test " * 1000] * 3), model="gpt-4o")
    assert abs(several - english - (39_235 - 3_191)) < 50
    assert "ASCII JSON" in several.note
    # Responses keeps calls apart.
    apart = count_messages(calling(*[korean] * 3), model="gpt-4o", endpoint="responses")
    assert apart < 3 * single


def test_what_is_cut_to_a_limit_is_what_is_billed() -> None:
    from compat_bpe.chat import fit_messages

    chat = [{"role": "user", "content": "x"}, *calling(*["테스트 " * 1000] * 3)]
    chat += [{"role": "user", "content": "y"}]
    assert fit_messages(chat, 8000, model="gpt-4o").dropped == (0, 1, 2, 3, 4)


@pytest.mark.parametrize(
    ("message", "note", "reason"),
    [
        (
            {"content": [{"type": "image_url", "image_url": {"url": "x"}}]},
            "1 image not counted, so the number is a lower bound: "
            "messages[0].content[0] (an image at an address)",
            "messages[0].content[0].image_url.url: the size of an image at an address",
        ),
        (
            {"content": [{"type": "input_audio", "input_audio": {}}]},
            "not counted: messages[0].content[0] (input_audio)",
            "messages[0].content[0]: a part of type 'input_audio' cannot be counted",
        ),
        (
            {"content": [], "audio": {"id": "a"}},
            "not counted: messages[0].audio",
            "messages[0].audio: cannot be counted",
        ),
        (
            {"content": [], "metadata": {"a": "b"}, "thinking": "x"},
            "not counted: messages[0].metadata, messages[0].thinking",
            "messages[0].metadata: cannot be counted, nor can 1 more",
        ),
    ],
)
def test_what_cannot_be_counted_is_named_and_the_rest_is_counted(
    message: dict[str, Any], note: str, reason: str
) -> None:
    chat = [{"role": "user", **message}, {"role": "user", "content": "x"}]
    found = count_messages(chat, model="gpt-4o")
    assert found == 3 + 4 + 5
    assert found.note == note
    with pytest.raises(ValueError, match="^" + reason.replace("[", r"\[")):
        count_messages(chat, model="gpt-4o", strict=True)


def test_a_tool_whose_parameters_are_null_has_none() -> None:
    for model in ("gpt-4o", "gpt-5"):
        counts = [
            count_messages(WEATHER, model=model, tools=[{"name": "f", **parameters}])
            for parameters in ({}, {"parameters": None})
        ]
        assert counts[0] == counts[1]


def test_a_choice_among_several_tools_is_named() -> None:
    choice = {"type": "allowed_tools", "mode": "auto", "tools": []}
    found = count_messages(WEATHER, model="gpt-4o", tools=TOOLS, tool_choice=choice)
    assert found == 101
    assert "not counted: tool_choice" in found.note


def test_tools_that_are_no_functions_are_named() -> None:
    tools = [{"type": "web_search"}, *TOOLS, {"type": "custom", "custom": {"name": "f"}}]
    found = count_messages(WEATHER, model="gpt-4o", tools=tools)
    assert found == 101
    assert "not counted: tools[0] (web_search), tools[2] (custom)" in found.note


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
