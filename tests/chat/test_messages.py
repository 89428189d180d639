"""Messages that are damaged, for every format; and what is plain data."""

from __future__ import annotations

import copy
import enum
import pickle
import re
from types import MappingProxyType
from typing import Any

import pytest

from compat_bpe.chat import ChatTemplate, MessageCount, count_messages
from compat_bpe.chat.messages import plain
from tests.chat.random_requests import request

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
        ([{"role": "user", 3: "x"}], "messages[0]: has a key that is no string: '3'"),
        (
            [{"role": "user", "content": b"x"}],
            "messages[0].content: is a bytes, which JSON has not",
        ),
        (
            [{"role": "user", "content": [{"text": object()}]}],
            "messages[0].content[0].text: is a object, which JSON has not",
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
