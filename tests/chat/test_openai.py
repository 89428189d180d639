"""OpenAI's rules, by the numbers that OpenAI's cookbook publishes for its examples."""

from __future__ import annotations

from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.chat import count_messages

#: The example messages of the notebook "How to count tokens with tiktoken", and the tokens that
#: OpenAI's service reported for them there.
EXAMPLE = [
    {
        "role": "system",
        "content": "You are a helpful, pattern-following assistant that translates corporate "
        "jargon into plain English.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "New synergies will help drive top-line growth.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Things working well together will increase revenue.",
    },
    {
        "role": "system",
        "name": "example_user",
        "content": "Let's circle back when we have more bandwidth to touch base on opportunities "
        "for increased leverage.",
    },
    {
        "role": "system",
        "name": "example_assistant",
        "content": "Let's talk later when we're less busy about how to do better.",
    },
    {
        "role": "user",
        "content": "This late pivot means we don't have time to boil the ocean for the client "
        "deliverable.",
    },
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
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "get_current_weather",
            "description": "Get the current weather in a given location",
            "parameters": {
                "type": "object",
                "properties": {
                    "location": {
                        "type": "string",
                        "description": "The city and state, e.g. San Francisco, CA",
                    },
                    "unit": {
                        "type": "string",
                        "description": "The unit of temperature to return",
                        "enum": ["celsius", "fahrenheit"],
                    },
                },
                "required": ["location"],
            },
        },
    }
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
    assert count.note == "tools are counted by numbers that OpenAI publishes for one example"


@pytest.mark.parametrize("model", ["gpt-5", "gpt-4.1", "o1", "o3-mini", "gpt-5.4", "gpt-4.5-x"])
def test_models_without_a_published_rule_are_estimates(model: str) -> None:
    count = count_messages(EXAMPLE, model=model)
    assert count == PUBLISHED["gpt-4o"]
    assert count.note == f"OpenAI publishes no rule for {model}; that of gpt-4o is taken"


def test_an_encoding_alone_has_several_models_and_rules() -> None:
    count = count_messages(EXAMPLE, encoding="o200k_base")
    assert count == 124
    assert count.note == "no model is named, and rules differ; that of gpt-4o is taken"
    count = count_messages(EXAMPLE, encoding=get_encoding("cl100k_base"))
    assert count == 129
    assert count.note == "no model is named, and rules differ; that of gpt-4 is taken"
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


def test_calls_of_tools_are_estimates() -> None:
    count = get_encoding("o200k_base").count
    call = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    chat: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": [call], "annotations": []},
        {"role": "tool", "tool_call_id": "call_1", "content": "yes", "refusal": None},
    ]
    found = count_messages(chat, model="gpt-4o")
    texts = ["assistant", "call_1", "function", "f", "{}", "tool", "call_1", "yes"]
    assert found == 3 + 3 + 3 + sum(map(count, texts))
    assert "tool_calls" in found.note
    assert "tool_call_id" in found.note


def tokens_of_tools(*functions: dict[str, Any]) -> int:
    """The tokens that tools add to a request to gpt-4o."""
    tools = [{"type": "function", "function": one} for one in functions]
    return count_messages(WEATHER, model="gpt-4o", tools=tools) - count_messages(
        WEATHER, model="gpt-4o"
    )


def test_each_number_for_tools() -> None:
    count = get_encoding("o200k_base").count
    assert tokens_of_tools({"name": "f"}) == 12 + 7 + count("f:")
    two = tokens_of_tools({"name": "f", "description": "a."}, {"name": "g", "description": "b"})
    assert two == 12 + 7 + 7 + count("f:a") + count("g:b")
    flat = {"type": "function", "name": "f", "parameters": {}}
    assert count_messages(WEATHER, model="gpt-4o", tools=[flat]) == count_messages(
        WEATHER, model="gpt-4o", tools=[{"type": "function", "function": {"name": "f"}}]
    )
    properties = {"n": {"type": "integer", "description": "How many.", "enum": [1, 22]}}
    with_property = tokens_of_tools({"name": "f", "parameters": {"properties": properties}})
    one = 3 - 3 + 3 + count("1") + 3 + count("22") + count("n:integer:How many")
    assert with_property == 12 + 7 + count("f:") + 3 + one


def test_nested_properties_are_counted_too() -> None:
    inner = {"x": {"type": "number"}}
    flat = tokens_of_tools({"name": "f", "parameters": {"properties": {"a": {"type": "o"}}}})
    count = get_encoding("o200k_base").count
    for nested in (
        {"type": "o", "properties": inner},
        {"type": "o", "items": {"properties": inner}},
        {"type": "o", "anyOf": [{"properties": inner}]},
    ):
        found = tokens_of_tools({"name": "f", "parameters": {"properties": {"a": nested}}})
        assert found == flat + 3 + count("x:number:")


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "human", "content": "x"}, "messages[0].role: 'human' is not known; known: sys"),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]},
            "messages[0].content[0].image_url.url: the size of an image at an address",
        ),
        (
            {"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]},
            "messages[0].content[0]: a part of type 'input_audio' cannot be counted",
        ),
        ({"role": "user", "content": ["x"]}, "messages[0].content[0]: must be an object, not a s"),
        ({"role": "user", "content": [{}]}, "messages[0].content[0]: a part of type 'None' cannot"),
        (
            {"role": "user", "content": [{"type": "text"}]},
            "messages[0].content[0].text: must be a string, not nothing",
        ),
        ({"role": "user", "content": 3}, "messages[0].content: must be a string or a list of par"),
        ({"role": "user", "content": "x", "audio": {"id": "a"}}, "messages[0].audio: must be a st"),
    ],
)
def test_what_cannot_be_counted_is_refused(message: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match="^" + reason.replace("[", r"\[")[:70]):
        count_messages([message], model="gpt-4o")


def test_what_only_templates_take_is_refused() -> None:
    chat = [{"role": "user", "content": "x"}]
    for model in ("gpt-4o", "gpt-oss-20b", "deepseek-v3"):
        with pytest.raises(ValueError, match="documents are for a chat template"):
            count_messages(chat, model=model, documents=[])
        with pytest.raises(ValueError, match="continue_final_message is for a chat template"):
            count_messages(chat, model=model, continue_final_message=True)
        with pytest.raises(ValueError, match="variables"):
            count_messages(chat, model=model, variables={"x": 1})


@pytest.mark.parametrize(
    "model", ["text-embedding-3-small", "davinci-002", "gpt-3.5-turbo-instruct", "gpt2"]
)
def test_models_that_take_no_messages(model: str) -> None:
    with pytest.raises(ValueError, match=f"^model '{model}': no chat format is known for it"):
        count_messages(EXAMPLE, model=model)


def test_what_says_nothing() -> None:
    with pytest.raises(ValueError, match=r"^give a model or an encoding"):
        count_messages(EXAMPLE)
    with pytest.raises(KeyError, match="unknown model 'gpt9'"):
        count_messages(EXAMPLE, model="gpt9")
    with pytest.raises(ValueError, match=r"^unknown encoding 'gpt9'"):
        count_messages(EXAMPLE, encoding="gpt9")
    with pytest.raises(FileNotFoundError):
        count_messages(EXAMPLE, encoding="no/such/folder")
