"""Requests: messages that are damaged, and for every format what is plain data; whole ones."""

from __future__ import annotations

import copy
import enum
import pickle
import re
from random import Random
from types import MappingProxyType
from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.chat import (
    ChatTemplate,
    MessageCount,
    RequestPart,
    count_messages,
    count_parts,
    count_request,
    fit_messages,
)
from compat_bpe.chat.base import Request
from compat_bpe.chat.harmony import HarmonyFormat
from compat_bpe.chat.messages import plain
from tests.chat import images as made
from tests.chat.images import address
from tests.chat.random_requests import messages, request, tool

TEMPLATE = ChatTemplate("{% for m in messages %}{{ m.role }}{{ m.content }}{% endfor %}")
FORMATS: dict[str, dict[str, Any]] = {
    "openai": {"model": "gpt-4o"},
    "harmony": {"model": "gpt-oss-20b"},
    "deepseek": {"model": "deepseek-v3"},
    "template": {"encoding": "gpt2", "template": TEMPLATE},
}
each_format = pytest.mark.parametrize("chosen", FORMATS.values(), ids=FORMATS)


class Name(str, enum.Enum):
    USER = "user"


@each_format
@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        (None, "messages: must be a list, not nothing"),
        ("hello", "messages: must be a list, not a string"),
        ({"role": "user"}, "messages: must be a list, not an object"),
        (iter([]), f"messages: must be a list, not a {type(iter([])).__name__}"),
        ([], "messages is empty: there must be at least one message"),
        (["hello"], "messages[0]: a message must be an object, not a string"),
        ([{"role": "user"}, 3], "messages[1]: a message must be an object, not a number"),
        ([{}], "messages[0]: there is no 'role'"),
        ([{"role": None}], "messages[0].role: must be a string, not nothing"),
        ([{"role": ["user"]}], "messages[0].role: must be a string, not a list"),
        ([{"role": "user", 3: "x"}], "messages[0]: has a key that is not a string: '3'"),
        (
            [{"role": "user", "content": b"x"}],
            "messages[0].content: is a bytes, which JSON does not have",
        ),
        (
            [{"role": "user", "content": [{"text": object()}]}],
            "messages[0].content[0].text: is a object, which JSON does not have",
        ),
    ],
)
def test_damaged_messages(chosen: dict[str, Any], messages: Any, reason: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(reason) + "$"):
        count_messages(messages, **chosen)


@each_format
def test_a_value_that_contains_itself(chosen: dict[str, Any]) -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="nested too deeply"):
        count_messages([{"role": "user", "content": loop}], **chosen)


@each_format
@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        ("f", "tools: must be a list, not a string"),
        ([None], "tools[0]: a tool must be an object, not nothing"),
    ],
)
def test_damaged_tools(chosen: dict[str, Any], tools: Any, reason: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(reason) + "$"):
        count_messages([{"role": "user", "content": "x"}], tools=tools, **chosen)


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-oss-20b"])
@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        ({}, "tools[0].function.name: must be a string, not nothing"),
        ({"function": 3}, "tools[0].function: must be an object, not a number"),
        ({"function": {"name": 3}}, "tools[0].function.name: must be a string, not a number"),
        (
            {"function": {"name": "f", "description": 3}},
            "tools[0].function.description: must be a string, not a number",
        ),
        (
            {"function": {"name": "f", "parameters": []}},
            "tools[0].function.parameters: must be an object, not a list",
        ),
    ],
)
def test_damaged_functions(model: str, tool: Any, reason: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(reason) + "$"):
        count_messages([{"role": "user", "content": "x"}], tools=[tool], model=model)


@pytest.mark.parametrize("model", ["gpt-oss-20b", "deepseek-v3"])
@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ("f", "messages[0].tool_calls: must be a list, not a string"),
        (["f"], "messages[0].tool_calls[0]: must be an object, not a string"),
        ([{}], "messages[0].tool_calls[0].function: must be an object with a 'name'"),
        ([{"function": {}}], "messages[0].tool_calls[0].function: must be an object with a 'nam"),
    ],
)
def test_damaged_calls(model: str, calls: Any, reason: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(reason)):
        count_messages([{"role": "assistant", "tool_calls": calls}], model=model)


@each_format
def test_subclasses_and_other_mappings(chosen: dict[str, Any]) -> None:
    usual = [{"role": "user", "content": "hi there"}]
    other = (MappingProxyType({"role": Name.USER, "content": "hi there"}),)
    assert count_messages(other, **chosen) == count_messages(usual, **chosen)


def test_plain_data_shares_nothing() -> None:
    value = {"a": [{"b": (1, 2.5, True, None, Name.USER)}]}
    found = plain(value, "value")
    assert found == value
    assert type(found["a"][0]["b"][4]) is str
    found["a"][0]["b"] = 3
    assert value["a"][0]["b"][0] == 1


@each_format
def test_nothing_is_changed(chosen: dict[str, Any]) -> None:
    for seed in range(20):
        body = request(seed)
        before = copy.deepcopy(body)
        count_messages(body["messages"], tools=body.get("tools"), **chosen)
        assert body == before


def test_a_count_is_an_int() -> None:
    count = MessageCount(12, "a guess")
    assert isinstance(count, int)
    assert (count, count + 1, repr(count), f"{count:,}") == (12, 13, "12", "12")
    assert (count.note, count.is_estimate, MessageCount(1).is_estimate) == ("a guess", True, False)
    for copied in (pickle.loads(pickle.dumps(count)), copy.deepcopy(count)):
        assert (copied, copied.note) == (12, "a guess")


@pytest.mark.parametrize("variables", ["thinking", [], 1, ("a",)])
def test_variables_are_an_object(variables: Any) -> None:
    for model in ("gpt-4o", "gpt-oss-20b", "deepseek-v3"):
        with pytest.raises(ValueError, match=r"^variables: must be an object, not a "):
            count_messages([{"role": "user", "content": "x"}], model=model, variables=variables)


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
        (Object(type=["ai"]), "there is no 'role' in a Object"),
        (Object, "a message must be an object, not a type"),
    ):
        with pytest.raises(ValueError, match=rf"^messages\[0\]: {reason}$"):
            count_messages([message], model="gpt-4o")  # type: ignore[list-item]


@pytest.mark.parametrize("calls", ["x", [3], [{"name": "f"}], [{"args": {}}]])
def test_damaged_calls_of_langchains(calls: Any) -> None:
    message = Object(type="ai", content=3, tool_calls=calls)
    with pytest.raises(ValueError, match=r"^messages\[0\]\."):
        count_messages([message], model="gpt-4o")


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


#: It refuses what does not alternate, and a system message by itself.
ALTERNATING = """
{%- if messages[-1].role == 'system' %}{{ raise_exception('only a system message') }}{% endif -%}
{%- for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor -%}
{%- if tools %}{{ tools | tojson }}{% endif -%}
{%- if add_generation_prompt %}<assistant>{% endif -%}
"""
#: It takes a conversation only as a whole.
ONLY_WITH_A_REPLY = """
{%- if not add_generation_prompt %}{{ raise_exception('no reply') }}{% endif -%}
{%- for message in messages %}{{ message.content }}{% endfor -%}
"""
#: It leaves the thoughts of earlier answers out.
FORGETTING = """
{%- for message in messages -%}
{%- if message.role == 'assistant' and not loop.last %}{{ message.content.split('|')[-1] -}}
{%- else %}{{ message.content }}{% endif -%}
{%- endfor -%}
"""

CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "one two three four five six|well"},
    {"role": "user", "content": "and?"},
]
TOOLS = [{"type": "function", "function": {"name": "get_weather", "description": "The weather."}}]


@pytest.mark.parametrize(
    "model", ["gpt-4o", "gpt-5", "gpt-3.5-turbo", "deepseek-v4", "gpt-oss-20b"]
)
@pytest.mark.parametrize("seed", range(20))
def test_the_sum_is_the_count_of_the_request(model: str, seed: int) -> None:
    random = Random(seed)
    chat = messages(random)
    tools = [tool(random) for _ in range(random.randrange(3))] or None
    parts = count_parts(chat, model=model, tools=tools)
    assert sum(part.tokens for part in parts) == count_messages(chat, model=model, tools=tools)
    named = [number for part in parts if part.name != "images" for number in part.messages]
    assert named == list(range(len(chat)))


def test_what_each_part_adds() -> None:
    image = {"type": "image_url", "image_url": {"url": address(made.png(1, 1)), "detail": "low"}}
    chat = [
        *CHAT[:2],
        {"role": "user", "content": [{"type": "text", "text": "hello"}, image, image]},
    ]
    assert count_parts(chat, model="gpt-4o", tools=TOOLS) == [
        RequestPart("system", (0,), 7),
        RequestPart("user", (1,), 5),
        RequestPart("user", (2,), 5),
        RequestPart("images", (2,), 170),
        RequestPart("tools", (), 23),
        RequestPart("reply", (), 3),
    ]


def names_of(template: str, tools: Any = None) -> list[tuple[str, tuple[int, ...]]]:
    pytest.importorskip("jinja2")
    given: dict[str, Any] = {"encoding": "cl100k_base", "template": template, "tools": tools}
    parts = count_parts(CHAT, **given)
    assert sum(part.tokens for part in parts) == count_messages(CHAT, **given)
    return [(part.name, part.messages) for part in parts]


def test_messages_that_a_template_takes_only_together_are_one_part() -> None:
    rest = [("assistant", (2,)), ("user", (3,))]
    assert names_of(ALTERNATING) == [("system + user", (0, 1)), *rest, ("reply", ())]
    assert names_of(ALTERNATING, TOOLS)[3:] == [("tools", ()), ("reply", ())]


def test_a_template_that_takes_only_the_whole() -> None:
    whole = ("system + user + assistant + reply", (0, 1, 2, 3))
    assert names_of(ONLY_WITH_A_REPLY) == [whole]


#: It takes tools only with the beginning of a reply.
TOOLS_WITH_A_REPLY = """
{%- if tools and not add_generation_prompt %}{{ raise_exception('no reply') }}{% endif -%}
{%- for message in messages %}{{ message.content }}{% endfor -%}
{%- if tools %}{{ tools | tojson }}{% endif -%}
"""


def test_what_a_template_takes_only_with_the_rest_is_one_part() -> None:
    assert names_of(TOOLS_WITH_A_REPLY, TOOLS)[-1] == ("tools + reply", ())
    [whole] = names_of(ONLY_WITH_A_REPLY, TOOLS)
    assert whole == ("system + user + assistant + tools + reply", (0, 1, 2, 3))


def test_what_is_taken_back_when_more_follows() -> None:
    pytest.importorskip("jinja2")
    parts = count_parts(CHAT, encoding="cl100k_base", template=FORGETTING)
    assert parts[2].tokens > 5
    assert parts[3].tokens < 0
    assert parts[4] == RequestPart("reply", (), 0)


def test_estimates() -> None:
    given: dict[str, Any] = {"model": "claude-sonnet-4-5", "estimate": True}
    parts = count_parts(CHAT, **given)
    assert sum(part.tokens for part in parts) == count_messages(CHAT, **given)
    assert [part.name for part in parts] == ["system", "user", "assistant", "user", "reply"]


def test_what_is_wrong_is_said_of_the_whole() -> None:
    with pytest.raises(ValueError, match=r"^messages\[1\]: there is no 'role'"):
        count_parts([{"role": "user", "content": "x"}, {}], model="gpt-4o")


def test_only_images_are_told_apart_and_nothing_is_estimated_unasked() -> None:
    texts = [{"role": "user", "content": [{"type": "text", "text": "hello"}]}]
    assert [part.name for part in count_parts(texts, model="gpt-4o")] == ["user", "reply"]
    with pytest.raises(KeyError):
        count_parts(texts, model="claude-sonnet-4-5")


QUESTION = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
DEGREES = {"type": "object", "properties": {"é": {"type": "number", "default": 1e-7}}}
FORM = {"type": "json_schema", "json_schema": {"name": "n", "description": "D", "schema": DEGREES}}


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5", "gpt-oss-20b", "deepseek-v3", "deepseek-v4"])
def test_it_is_counted_and_said(model: str) -> None:
    bare = count_messages(QUESTION, model=model)
    with_form = count_messages(QUESTION, model=model, response_format=FORM)
    assert bare + 15 < with_form < bare + 60
    if model != "deepseek-v4":
        assert "response_format" in with_form.note
    text = count_messages(QUESTION, model=model, response_format={"type": "text"})
    assert (text, text.note) == (bare, bare.note)
    parts = count_parts(QUESTION, model=model, response_format=FORM)
    assert [part.name for part in parts][-2:] == ["response_format", "reply"]
    assert parts[-2].tokens == with_form - bare
    assert sum(part.tokens for part in parts) == with_form


def test_harmony_has_it_behind_the_tools() -> None:
    harmony = HarmonyFormat(get_encoding("o200k_harmony"))
    request = Request.checked(QUESTION, [{"name": "f"}], response_format=FORM)
    assert harmony.encoding.decode(harmony.ids(request)).endswith(
        "} // namespace functions\n\n# Response Formats\n\n## n\n\n// D\n"
        '{"type":"object","properties":{"é":{"type":"number","default":1e-7}}}'
        "<|end|><|start|>user<|message|>hi<|end|><|start|>assistant"
    )
    # Any JSON adds nothing that OpenAI publishes.
    any_json = count_messages(
        QUESTION, model="gpt-oss-20b", response_format={"type": "json_object"}
    )
    assert any_json == count_messages(QUESTION, model="gpt-oss-20b")
    assert any_json.is_estimate


def test_a_template_gets_it_if_it_shows_it() -> None:
    encoding = get_encoding("o200k_base")
    shows = ChatTemplate("{{ response_format.json_schema.name if response_format else 'none' }}")
    arguments: dict[str, Any] = {"encoding": encoding, "template": shows}
    found = count_messages(QUESTION, **arguments, response_format=FORM)
    assert (found, found.note) == (1, "")
    arguments["template"] = ChatTemplate("x")
    found = count_messages(QUESTION, **arguments, response_format=FORM)
    assert found == 1
    assert found.note.startswith("the chat template does not show response_format")
    assert not count_messages(QUESTION, **arguments).is_estimate


def test_an_estimate_has_its_characters() -> None:
    model = "claude-sonnet-4-5"
    bare = count_messages(QUESTION, model=model, estimate=True)
    assert count_messages(QUESTION, model=model, estimate=True, response_format=FORM) > bare + 20


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("json_object", "must be an object whose type is text, json_object, json_schema"),
        ({}, "must be an object whose type is"),
        ({"type": ["text"]}, "must be an object whose type is"),
        ({"type": "grammar"}, "must be an object whose type is"),
        ({"type": "json_schema"}, r"\.json_schema: must be an object"),
        ({"type": "json_schema", "json_schema": {"name": "n"}}, r"\.schema: must be an object"),
        ({"type": "json_schema", "json_schema": {"schema": []}}, r"\.schema: must be an object"),
        (
            {"type": "json_schema", "json_schema": {"schema": {}, "name": 1}},
            r"\.json_schema\.name: must be a string",
        ),
        ({"type": "text", "x": b"x"}, r"response_format\.x: is a bytes"),
    ],
)
def test_damaged_ones(value: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as raised:
        count_messages(QUESTION, model="gpt-4o", response_format=value)
    assert str(raised.value).startswith("response_format")
