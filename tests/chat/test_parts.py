"""The parts of a request: what each adds, and their sum."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from compat_bpe.chat import RequestPart, count_messages, count_parts
from tests.chat.images import made
from tests.chat.images.made import address
from tests.chat.random_requests import messages, tool

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
