"""Requests with anything in any place are counted, or refused by a ``ValueError``."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from compat_bpe.chat import ChatTemplate, count_messages, count_parts, fit_messages
from tests.chat.random_requests import request

_GIF = "data:image/png;base64,R0lGODlhAAIAAg=="  # that it is no PNG changes nothing
JUNK: list[Any] = [
    *[None, True, 0, -1, 1.5, float("nan"), 10**400, "", "\ud800", b"x", [], {}, (1,), {1: 2}],
    *["data:image/png;base64,AAAA", "[1]", {"type": "text"}, {"type": "image_url"}, {"$ref": "#"}],
    {"type": "image_url", "image_url": {"url": _GIF, "detail": "high"}},
    {"type": "input_image", "image_url": 5, "detail": []},
    {"id": "1", "function": {"name": "f", "arguments": "{"}},
    {"function": {"name": "f", "arguments": {"a": [1, {}]}}},
    {"type": ["object"], "properties": {"a": 5}, "enum": None},
]
MEMBERS = ["content", "role", "tool_calls", "name", "enum", "$ref", "anyOf", "type", "properties"]
TEMPLATE = ChatTemplate(
    "{% for one in messages %}{{ one.role }}{{ one.content }}{% endfor %}"
    "{{ tools_ts_str or tools }}{{ response_format }}"
)
CHOSEN: list[dict[str, Any]] = [
    *[{"model": name} for name in ("gpt-4o", "gpt-5.4", "gpt-oss-20b")],
    *[{"model": f"deepseek-{name}"} for name in ("v3", "v3.1", "v3.2", "v4-pro", "v4.1-flash")],
    {"encoding": "gpt2", "template": TEMPLATE},
    {"model": "claude-sonnet-4-5", "estimate": True},
]
SCHEMA = {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}}


def damaged(random: Random, value: Any) -> Any:
    """The value with junk in some places."""
    if random.random() < 0.08:
        return random.choice(JUNK)
    if isinstance(value, dict):
        found = {name: damaged(random, one) for name, one in value.items()}
        if random.random() < 0.1:
            found[random.choice(MEMBERS)] = random.choice(JUNK)
        return found
    return [damaged(random, one) for one in value] if isinstance(value, list) else value


def body_of(random: Random) -> dict[str, Any]:
    """A request, mostly damaged."""
    body = {
        **request(random.randrange(10**6)),
        "response_format": random.choice([None, {"type": "json_object"}, SCHEMA]),
        "variables": random.choice([None, {"thinking": True, "reasoning_effort": "max"}]),
    }
    return {name: damaged(random, value) for name, value in body.items()}


@pytest.mark.parametrize("seeds", [60, pytest.param(2000, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("chosen", CHOSEN, ids=lambda chosen: chosen.get("model", "template"))
def test_anything_in_any_place(chosen: dict[str, Any], seeds: int) -> None:
    counted = 0
    longest = 0
    for seed in range(seeds):
        body = body_of(Random(seed))
        messages = body.pop("messages")
        try:
            count = count_messages(messages, **chosen, **body)
            parts = count_parts(messages, **chosen, **body)
            assert sum(part.tokens for part in parts) == count
            counted += 1
            if "estimate" not in chosen:
                fit_messages(
                    messages,
                    max(0, count - 5),
                    **chosen,
                    **body,
                    drop_first=["images", "tool_results"],
                    parts="message",
                )
        except ValueError as error:
            longest = max(longest, len(str(error)))
    assert counted
    assert 0 < longest < 1000
