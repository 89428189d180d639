"""Requests: messages that are damaged, and for every format what is plain data; whole ones."""

from __future__ import annotations

import copy
import enum
import pickle
from collections.abc import Callable
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
from tests.examples import check_refused

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


def user(content: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": content}]


def calling(calls: Any) -> list[dict[str, Any]]:
    return [{"role": "assistant", "tool_calls": calls}]


def called(arguments: Any) -> list[dict[str, Any]]:
    return calling([{"id": "1", "function": {"name": "f", "arguments": arguments}}])


def form(**members: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": members}


def langchains(calls: Any) -> list[Object]:
    return [Object(type="ai", content=3, tool_calls=calls)]


HELLO = user("x")


def by(*models: str) -> Callable[..., None]:
    """Return a function that counts by each of some models, or by each format.

    It raises what all of them say.
    """

    def count(messages: Any = HELLO, **request: Any) -> None:
        said = set()
        for chosen in [{"model": model} for model in models] or FORMATS.values():
            with pytest.raises(ValueError, match=r".") as caught:
                count_messages(messages, **chosen, **request)
            said.add(str(caught.value))
        (reason,) = said
        raise ValueError(reason)

    return count


def whole(**body: Any) -> None:
    count_request({"model": "gpt-4o", **body})


def estimated(**request: Any) -> None:
    count_messages(HELLO, model="claude-sonnet-4-5", estimate=True, **request)


def fit(**arguments: Any) -> None:
    fit_messages(**{"messages": HELLO * 2, "limit": 100, "model": "gpt-4o", **arguments})


every, typed, open_models = by(), by("gpt-4o", "gpt-oss-20b"), by("gpt-oss-20b", "deepseek-v3")
models = by("gpt-4o", "gpt-oss-20b", "deepseek-v3")
openai, harmony, deepseek = by("gpt-4o"), by("gpt-oss-20b"), by("deepseek-v3")
deepseeks = by("deepseek-v3", "deepseek-v4-pro")
v3_2, v4 = by("deepseek-ai/DeepSeek-V3.2"), by("deepseek-v4-pro")
RESULT = {"role": "tool", "content": "r", "tool_call_id": "1"}
THINKING = {"thinking": True}
LOOP: list[Any] = []
LOOP.append(LOOP)
REPLY = Object(id="c")
REPLY.choices = []  # type: ignore[attr-defined]

REFUSED = """
every(None) → messages: must be a list, not nothing
every("hello") → messages: must be a list, not a string
every({"role": "user"}) → messages: must be a list, not an object
every(iter([])) → messages: must be a list, not a …iterator
every([]) → messages is empty: there must be at least one message
every(["hello"]) → messages[0]: a message must be an object, not a string
every([{"role": "user"}, 3]) → messages[1]: a message must be an object, not a number
every([{}]) → messages[0]: there is no 'role'
every([{"role": None}]) → messages[0].role: must be a string, not nothing
every([{"role": ["user"]}]) → messages[0].role: must be a string, not a list
every([{"role": "user", 3: "x"}]) → messages[0]: has a key that is not a string: '3'
every(user(b"x")) → messages[0].content: is a bytes, which JSON does not have
every(user([{"text": object()}])) →
    messages[0].content[0].text: is a object, which JSON does not have
every(user(LOOP)) → …nested too deeply…
every(tools="f") → tools: must be a list, not a string
every(tools=[None]) → tools[0]: a tool must be an object, not nothing
typed(tools=[{}]) → tools[0].function.name: must be a string, not nothing
typed(tools=[{"function": 3}]) → tools[0].function: must be an object, not a number
typed(tools=[{"function": {"name": 3}}]) → tools[0].function.name: must be a string, not a number
typed(tools=[{"function": {"name": "f", "description": 3}}]) →
    tools[0].function.description: must be a string, not a number
typed(tools=[{"function": {"name": "f", "parameters": []}}]) →
    tools[0].function.parameters: must be an object, not a list
open_models(calling("f")) → messages[0].tool_calls: must be a list, not a string
open_models(calling(["f"])) → messages[0].tool_calls[0]: must be an object, not a string
open_models(calling([{}])) → messages[0].tool_calls[0].function: must be an object with a 'name'
open_models(calling([{"function": {}}])) →
    messages[0].tool_calls[0].function: must be an object with a 'name'
openai(documents=[]) → documents need a chat template; OpenAI's format cannot include them
harmony(documents=[]) → documents need a chat template; the harmony format cannot include them
deepseek(documents=[]) → documents need a chat template; DeepSeek's format cannot include them
openai(continue_final_message=True) → continue_final_message needs a chat template; OpenAI's format…
harmony(continue_final_message=True) → continue_final_message needs a chat template; the harmony fo…
deepseek(continue_final_message=True) → continue_final_message needs a chat template; DeepSeek's fo…
models(variables="thinking") → variables: must be an object, not a string
models(variables=[]) → variables: must be an object, not a list
models(variables=1) → variables: must be an object, not a number
models(variables=("a",)) → variables: must be an object, not a list
openai(variables={"x": 1}) → variables need a chat template; OpenAI's format has none
harmony(variables={"effort": "low"}) → variables: has effort; the harmony format accepts model_iden…
harmony(variables={"reasoning_effort": "max"}) → variables.reasoning_effort: must be one of low, me…
harmony(variables={"knowledge_cutoff": 2024}) → variables.knowledge_cutoff: must be a string, not a…
deepseek(variables={"x": 1}) → variables has ['x']; DeepSeek's format accepts thinking
deepseeks(variables={"thinking": 1}) → variables.thinking: must be true or false, not a number
deepseek(variables={"reasoning_effort": "low"}) → variables has ['reasoning_effort']; DeepSeek's fo…
v4(variables={"reasoning_effort": "odd"}) → variables.reasoning_effort: must be one of low, high, m…
v4(variables={"reasoning_effort": 1}) → variables.reasoning_effort: must be one of low, high, max,…
v4(variables={"reasoning_effort": None}) → variables.reasoning_effort: must be one of low, high, ma…
v4(variables={"reasoning_effort": []}) → variables.reasoning_effort: must be one of low, high, max,…
openai([{"role": "human", "content": "x"}]) → messages[0].role: 'human' is not known; known: system…
openai(user(["x"])) → messages[0].content[0]: must be an object, not a string
openai(user([{}])) → messages[0].content[0]: a part of type 'None' cannot be counted: only text can…
openai(user([{"type": "text"}])) → messages[0].content[0].text: must be a string, not nothing
openai(user(3)) → messages[0].content: must be a string or a list of parts, not a number
harmony([{"role": "tool", "content": "x"}]) → messages[0]: needs the name of a tool, or the id of a…
harmony([{"role": "user", "content": "x", "name": 3}]) →
    messages[0].name: must be a string, not a number
harmony([{"role": "system", "content": "x", "name": 3}]) →
    messages[0].name: must be a string, not a number
harmony([{"role": "critic"}]) → messages[0].role: 'critic' is not known; known: system, developer,…
harmony(user([{"type": "image_url"}]), strict=True) →
    messages[0].content[0]: a part of type 'image_url' cannot be counted: only text can (types text…
v3_2([RESULT]) → messages[0]: this tool result has no matching tool call before it
v3_2([*called("{}"), RESULT, RESULT]) → messages[2]: this tool result has no matching tool call bef…
v3_2([{"role": "developer", "content": ""}]) →
    messages[0].content: a developer's message must have a text
v3_2([*user("a"), {"role": "assistant", "content": "b"}], variables=THINKING) →
    messages[1]: there is no 'reasoning_content', which V3.2 needs to continue its reasoning
v3_2(calling([{"function": {"name": "f"}}])) →
    messages[0].tool_calls[0].function.arguments: must be a JSON object
v3_2(called(1)) → messages[0].tool_calls[0].function.arguments: must be a string or an object
v3_2(called("[" * 100_000)) → messages[0].tool_calls[0].function.arguments: …
v3_2(called('{"a":' * 300 + "1" + "}" * 300)) → …function.arguments.a.a…: nested too deeply…
by("text-embedding-3-small")() → no chat format is known for model 'text-embedding-3-small'; pass t…
by("davinci-002")() → no chat format is known for model 'davinci-002'; pass template=load_chat_temp…
by("gpt-3.5-turbo-instruct")() → no chat format is known for model 'gpt-3.5-turbo-instruct'; pass t…
by("gpt2")() → no chat format is known for model 'gpt2'; pass template=load_chat_template(…)
by("deepseek-chat")(as_of="2024-01-01") →
    as_of: 'deepseek-chat' has no known meaning before 2024-12-26
openai(as_of="yesterday") → as_of: 'yesterday' is not a date such as 2025-06-30
openai(as_of=3) → as_of: 3 is not a date such as 2025-06-30
openai([REPLY]) → messages[0]: there is no 'role' in a Object: give its choices[0].message
openai([Object(type="chat")]) → messages[0]: there is no 'role' in a Object
openai([Object(type=["ai"])]) → messages[0]: there is no 'role' in a Object
openai([Object]) → messages[0]: a message must be an object, not a type
openai(langchains("x")) → messages[0].content: must be a string or a list of parts, not a number
openai(langchains([3])) → messages[0].tool_calls[0]: must be an object, not a number
openai(langchains([{"name": "f"}])) → messages[0].tool_calls[0].function: must be an object with a…
openai(langchains([{"args": {}}])) → messages[0].tool_calls[0].function: must be an object with a '…
openai({"messages": HELLO}) → messages: must be a list; count_request counts a whole request
openai(response_format="json_object") →
    response_format: must be an object whose type is text, json_object, json_schema
openai(response_format={}) → response_format: must be an object whose type is text, json_object, js…
openai(response_format={"type": ["text"]}) → response_format: must be an object whose type is text,…
openai(response_format={"type": "grammar"}) → response_format: must be an object whose type is text…
openai(response_format={"type": "json_schema"}) → response_format.json_schema: must be an object, n…
openai(response_format=form(name="n")) → response_format.json_schema.schema: must be an object, not…
openai(response_format=form(schema=[])) → response_format.json_schema.schema: must be an object, no…
openai(response_format=form(schema={}, name=1)) → response_format.json_schema.name: must be a strin…
openai(response_format={"type": "text", "x": b"x"}) →
    response_format.x: is a bytes, which JSON does not have
estimated(documents=[{}]) → documents need a chat template; an estimate cannot include them
estimated(continue_final_message=True) → continue_final_message needs a chat template; an estimate…
estimated(variables={"a": 1}) → variables need a chat template; an estimate has none
whole() → a request must have messages, or an input
whole(messages=3) → messages: must be a list, not a number
whole(messages=[], system="x") → messages is empty: there must be at least one message
whole(messages=[], model=3) → model: must be a string, not a number
whole(messages=[3], system="x") → messages[0]: a message must be an object, not a number
whole(messages=HELLO, system=3) → system: must be a string or a list of parts, not a number
whole(messages=[{}], system="x") → messages[0]: there is no 'role'
whole(input=3) → input: must be a string or a list, not a number
whole(input=["x"]) → input[0]: must be an object, not a string
whole(input=[{"role": 3}], instructions="x") → input[0].role: must be a string, not a number
whole(input=user(3)) → input[0].content: must be a string or a list of parts, not a number
whole(input=[{"type": "function_call"}]) → input[0].tool_calls[0].function: must be an object with…
whole(input="x", tools=3) → tools: must be a list, not a number
count_parts([*HELLO, {}], model="gpt-4o") → messages[1]: there is no 'role'
count_messages(HELLO) → give a model or an encoding
count_messages(HELLO, encoding="gpt9") → unknown encoding 'gpt9' (did you mean 'gpt2'?); no fil…
count_messages(HELLO, model="gpt9") → unknown model 'gpt9' (did you mean 'gpt2' or '… → KeyError
count_messages(HELLO, encoding="no/such/folder") → … → FileNotFoundError
fit(limit=-1) → limit is -1; it must be 0 or more
fit(limit=1.5) → limit must be an int, not float → TypeError
fit(limit=5) → limit is 5, but the messages that must stay (the system messages and the last ones)…
fit(keep_last=0) → keep_last is 0; it must be 1 or more
fit(parts="word") → unknown parts 'word'; known: turn, message
fit(cut="middle") → unknown cut 'middle'; known: head, tail, ends
fit(messages=[]) → messages is empty: there must be at least one message
fit(model=None) → give a model or an encoding
fit(drop_first="images") → drop_first is 'images'; it must be a list, each item one of images, tool…
fit(drop_first=["image"]) → drop_first is ['image']; it must be a list, each item one of images, to…
fit(drop_first=[["images"]]) → drop_first is [['images']]; it must be a list, each item one of imag…
fit(drop_first=[None]) → drop_first is [None]; it must be a list, each item one of images, tool_res…
fit(drop_first={"x": 1}) → drop_first is {'x': 1}; it must be a list, each item one of images, tool…
"""


def test_what_is_refused() -> None:
    check_refused(REFUSED, globals())
