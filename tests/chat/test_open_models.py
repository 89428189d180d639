"""The harmony format by the examples of OpenAI's guide, and Kimi's declaration of tools.

Both are compared with the makers' own programs in ``tests/clients``.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.chat import ChatTemplate, count_messages
from compat_bpe.chat.base import Request
from compat_bpe.chat.harmony import HarmonyFormat
from compat_bpe.chat.kimi import declared, in_order
from tests.chat.random_requests import LOCATION, function

SYSTEM = """<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.
Knowledge cutoff: 2024-06
Current date: 2025-06-28

Reasoning: high

# Valid channels: analysis, commentary, final. Channel must be included for every message."""
FUNCTIONS = "\nCalls to these tools must go to the commentary channel: 'functions'.<|end|>"
DEVELOPER = """<|start|>developer<|message|># Instructions

Use a friendly tone.

# Tools

## functions

namespace functions {

// Gets the location of the user.
type get_location = () => any;

// Gets the current weather in the provided location.
type get_current_weather = (_: {
// The city and state, e.g. San Francisco, CA
location: string,
format?: "celsius" | "fahrenheit", // default: celsius
}) => any;

} // namespace functions<|end|>"""
CALL = (
    "<|start|>assistant<|channel|>analysis<|message|>Need the weather.<|end|>"
    "<|start|>assistant to=functions.get_current_weather<|channel|>commentary "
    '<|constrain|>json<|message|>{"location":"San Francisco"}<|call|>'
    "<|start|>functions.get_current_weather to=assistant<|channel|>commentary<|message|>"
    '{"sunny": true}<|end|>'
)
SETTINGS = {"conversation_start_date": "2025-06-28", "reasoning_effort": "high"}
FORMAT = {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"}
PARAMETERS = {
    "type": "object",
    "properties": {"location": LOCATION, "format": FORMAT},
    "required": ["location"],
}
TOOLS = [
    function(name="get_location", description="Gets the location of the user."),
    function(
        name="get_current_weather",
        description="Gets the current weather in the provided location.\n",
        parameters=PARAMETERS,
    ),
]
QUESTION: dict[str, Any] = {"role": "user", "content": "What is the weather like in SF?"}
ARGUMENTS = '{"location":"San Francisco"}'
CALLING: list[dict[str, Any]] = [
    {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Need the weather.",
        "tool_calls": [{"id": "1", **function(name="get_current_weather", arguments=ARGUMENTS)}],
    },
    {"role": "tool", "tool_call_id": "1", "content": '{"sunny": true}'},
]


def text_of(
    messages: list[dict[str, Any]], settings: dict[str, Any] | None = None, **arguments: Any
) -> str:
    encoding = get_encoding("o200k_harmony")
    variables = SETTINGS if settings is None else settings
    request = Request(messages, variables=variables, **arguments)
    return encoding.decode(HarmonyFormat(encoding).ids(request))


def test_the_example_of_the_guide() -> None:
    chat = [{"role": "system", "content": "Use a friendly tone."}, QUESTION, *CALLING]
    assert text_of(chat, tools=TOOLS) == (
        f"{SYSTEM}{FUNCTIONS}{DEVELOPER}"
        "<|start|>user<|message|>What is the weather like in SF?<|end|>"
        f"{CALL}<|start|>assistant"
    )


def test_without_tools_and_instructions() -> None:
    user = "<|start|>user<|message|>What is the weather like in SF?<|end|>"
    assert text_of([QUESTION]) == f"{SYSTEM}<|end|>{user}<|start|>assistant"
    assert text_of([QUESTION], add_generation_prompt=False) == f"{SYSTEM}<|end|>{user}"


def test_old_thoughts_are_left_out_after_an_answer() -> None:
    answer: dict[str, Any] = {
        "role": "assistant",
        "content": "Sunny.",
        "reasoning_content": "So it is.",
    }
    chat = [QUESTION, *CALLING, answer, QUESTION]
    assert "analysis<|message|>" not in text_of(chat)
    assert "<|channel|>final<|message|>Sunny.<|end|>" in text_of(chat)
    # But only those before the first answer.
    assert "Need the weather." in text_of([QUESTION, answer, *chat])
    # Nor those of a call that is still to be answered.
    assert "Need the weather." in text_of([QUESTION, *CALLING])


def test_what_is_said_before_a_call_and_other_oddities() -> None:
    before: dict[str, Any] = {**CALLING[0], "content": "Let me see.", "reasoning_content": None}
    assert "<|channel|>commentary<|message|>Let me see.<|end|>" in text_of([QUESTION, before])
    named: dict[str, Any] = {
        "role": "function",
        "name": "functions.f",
        "content": [{"type": "text", "text": "1"}],
    }
    assert "<|start|>functions.f to=assistant" in text_of([QUESTION, named])
    later = {"role": "developer", "content": "Be brief.", "name": "Ann"}
    said = "<|start|>developer:Ann<|message|># Instructions\n\nBe brief.<|end|>"
    assert said in text_of([QUESTION, later])
    assert said in text_of([later, QUESTION])


def test_settings() -> None:
    names = ("model_identity", "knowledge_cutoff", "conversation_start_date", "reasoning_effort")
    assert text_of([QUESTION], dict.fromkeys(names)).startswith(
        "<|start|>system<|message|># Valid channels"
    )
    before = date.today()
    today = text_of([QUESTION], {})
    dates = {f"Current date: {day}\n\nReasoning: medium\n" for day in (before, date.today())}
    assert any(one in today for one in dates)


def test_each_date_has_as_many_tokens() -> None:
    counts = {
        count_messages(
            [QUESTION], model="gpt-oss-20b", variables={"conversation_start_date": str(day)}
        )
        for day in map(date.fromordinal, range(739_000, 741_000, 7))
    }
    assert len(counts) == 1


CHAT = [{"role": "user", "content": "x"}]
#: As the templates of Kimi's models since K2.5 show tools.
TEMPLATE = "{% if tools_ts_str %}{{ tools_ts_str }}{% elif tools %}{{ tools | tojson }}{% endif %}"


def tool(parameters: Any, **members: Any) -> dict[str, Any]:
    return function(name="f", parameters=parameters, **members)


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
