"""Whole requests, and messages that are objects of clients."""

from __future__ import annotations

from typing import Any

import pytest

from compat_bpe.chat import (
    ChatTemplate,
    count_messages,
    count_parts,
    count_request,
    fit_messages,
)

IMAGE = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
TEXT = {"type": "text", "text": "And here?"}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}


class Object:
    """An object as pydantic's are."""

    def __init__(self, **members: Any) -> None:
        self.members = members

    def model_dump(self, *, exclude_none: bool = False) -> dict[str, Any]:
        def dumped(value: Any) -> Any:
            if isinstance(value, Object):
                return value.model_dump(exclude_none=exclude_none)
            return [dumped(one) for one in value] if isinstance(value, list) else value

        members = {name: dumped(value) for name, value in self.members.items()}
        return {
            name: value for name, value in members.items() if value is not None or not exclude_none
        }


def conversation(make: Any) -> list[Any]:
    function = make(name="weather", arguments='{"city": null}')
    calls = [make(id="c", type="function", function=function, index=None)]
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [make(type="text", text="Hi", citations=None)]},
        make(role="assistant", content=None, refusal=None, audio=None, tool_calls=calls),
        make(role="tool", tool_call_id="c", content="Light wind."),
        make(role="assistant", content="All calm.", id="m", usage=make(tokens=3), model="x"),
        {"role": "user", "content": [TEXT, IMAGE]},
    ]


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-oss-20b", "deepseek-v3.2", "deepseek-v4-pro"])
def test_objects_are_counted_as_what_they_hold(model: str) -> None:
    objects, dicts = conversation(Object), conversation(dict)
    expected = count_messages(dicts, model=model)
    found = count_messages(objects, model=model)
    assert (found, found.note) == (expected, expected.note)
    assert "1 image not counted" in found.note
    assert "usage" not in found.note
    whole = count_request({"model": model, "messages": objects})
    assert (whole, whole.note) == (expected, expected.note)
    parts = count_parts(objects, model=model)
    assert sum(part.tokens for part in parts) == found
    assert "images" not in [part.name for part in parts]
    tools = [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]
    assert count_messages(objects, model=model, tools=[Object(**tools[0])]) == count_messages(
        dicts, model=model, tools=tools
    )
    fitted = fit_messages(objects, found, model=model)
    assert (fitted.count, fitted.count.note) == (found, found.note)
    # Only what is kept is in the note.
    bye = {"role": "user", "content": "Bye"}
    least = count_messages([dicts[0], bye], model=model)
    kept = fit_messages([*objects, bye], least, model=model)
    assert kept.kept == (0, 6)
    assert "image" not in kept.count.note


def test_an_object_without_a_role_is_named() -> None:
    reply = Object(id="c")
    reply.choices = []  # type: ignore[attr-defined]
    for message, reason in (
        (reply, r"there is no 'role' in a Object: give its choices\[0\].message"),
        (Object(type="chat"), "there is no 'role' in a Object"),
        (Object, "a message must be an object, not a type"),
    ):
        with pytest.raises(ValueError, match=rf"^messages\[0\]: {reason}$"):
            count_messages([message], model="gpt-4o")  # type: ignore[list-item]


def test_langchains_messages_have_types() -> None:
    calls = [{"name": "weather", "args": {"city": "Tromsø"}, "id": "c", "type": "tool_call"}]
    use = {"type": "tool_use", "id": "c", "name": "weather", "input": {}}
    found = count_messages(
        [
            Object(type="system", content="Be brief.", response_metadata={}),
            Object(type="human", content="Hi", name="ann", id=None),
            Object(type="ai", content=[TEXT, use], tool_calls=calls, invalid_tool_calls=[]),
            Object(type="tool", content="Windy.", tool_call_id="c", status="success"),
        ],
        model="gpt-4o",
    )
    function = {"name": "weather", "arguments": '{"city": "Tromsø"}'}
    expected = count_messages(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi", "name": "ann"},
            {
                "role": "assistant",
                "content": [TEXT],
                "tool_calls": [{"id": "c", "function": function}],
            },
            {"role": "tool", "content": "Windy.", "tool_call_id": "c"},
        ],
        model="gpt-4o",
    )
    assert (found, found.note) == (expected, expected.note)
    assert "not counted" not in found.note


def test_a_system_beside_the_messages_is_a_message() -> None:
    messages = [{"role": "user", "content": "Hi"}]
    for system in ("Be brief.", [{"type": "text", "text": "Be brief."}]):
        body = {"model": "gpt-4o", "system": system, "messages": messages}
        expected = [{"role": "system", "content": "Be brief."}, *messages]
        assert count_request(body) == count_messages(expected, model="gpt-4o")
        assert count_request(body, model="deepseek-v3") == count_messages(
            expected, model="deepseek-v3"
        )


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-oss-20b", "deepseek-v4-flash"])
def test_the_schema_of_a_tool_has_another_name_at_anthropic(model: str) -> None:
    messages = [{"role": "user", "content": "Hi"}]
    tool = {"name": "f", "description": "Does it."}
    found = count_messages(messages, model=model, tools=[{**tool, "input_schema": SCHEMA}])
    function = {"type": "function", "function": {**tool, "parameters": SCHEMA}}
    assert found == count_messages(messages, model=model, tools=[function])
    assert "not counted" not in found.note


ITEMS = [
    {"role": "user", "content": [{"type": "input_text", "text": "Hi", "odd": 1}]},
    {"type": "reasoning", "summary": []},
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_image"}]},
]


def test_places_are_those_of_the_request() -> None:
    body = {"model": "gpt-5", "instructions": "Be brief.", "input": ITEMS, "prompt": {"id": "p"}}
    note = count_request(body).note
    for named in (
        "not counted: prompt, input[1] (reasoning), input[0].content[0].odd",
        "1 image not counted: input[3].output[0] (an image at an address)",
    ):
        assert named in note
    body = {
        "model": "gpt-4o",
        "system": [{"type": "image"}],
        "messages": [{**TEXT, "role": "user"}],
    }
    assert "system[0] (image)" in count_request(body).note
    assert "messages[0].text" in count_request(body).note


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "a request must have messages, or an input"),
        ({"messages": 3}, "messages: must be a list, not a number"),
        ({"messages": [], "system": "x"}, "messages is empty"),
        ({"messages": [], "model": 3}, "model: must be a string, not a number"),
        ({"messages": [3], "system": "x"}, r"messages\[0\]: a message must be an object"),
        ({"messages": [{"role": "user"}], "system": 3}, "system: must be a string or a list"),
        ({"messages": [{}], "system": "x"}, r"messages\[0\]: there is no 'role'"),
        ({"input": 3}, "input: must be a string or a list, not a number"),
        ({"input": ["x"]}, r"input\[0\]: must be an object, not a string"),
        ({"input": [{"role": 3}], "instructions": "x"}, r"input\[0\].role: must be a string"),
        ({"input": [{"role": "user", "content": 3}]}, r"input\[0\].content: must be a string or"),
        ({"input": [{"type": "function_call"}]}, r"input\[0\].tool_calls\[0\].function: must be"),
        ({"input": "x", "tools": 3}, "tools: must be a list, not a number"),
    ],
)
def test_damaged_requests(body: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{reason}"):
        count_request({"model": "gpt-4o", **body})


def test_a_strict_request_is_refused_by_its_places() -> None:
    body = {"model": "gpt-4o", "input": [ITEMS[0], ITEMS[3]]}
    with pytest.raises(ValueError, match=r"^input\[1\].output\[0\].image_url: the size of"):
        count_request(body, strict=True)
    with pytest.raises(ValueError, match=r"^input\[0\].content\[0\].odd: cannot be counted$"):
        count_request({**body, "input": ITEMS[:1]}, strict=True)


def test_images_of_a_chat_template_are_named() -> None:
    template = ChatTemplate("{% for m in messages %}{{ m.content[0].type }}{% endfor %}")
    chat = [{"role": "user", "content": [IMAGE, TEXT]}]
    found = count_messages(chat, encoding="gpt2", template=template)
    assert found == 3
    assert found.note.startswith("1 image not counted, so the number is a lower bound: messages[0]")
    with pytest.raises(ValueError, match=r"content\[0\] \(image_url\): cannot be counted"):
        count_messages(chat, encoding="gpt2", template=template, strict=True)
