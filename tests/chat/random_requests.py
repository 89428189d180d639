"""Requests of all kinds, drawn at random, for the comparisons with the references."""

from __future__ import annotations

import json
from random import Random
from typing import Any

WORDS = [
    *["", " ", "hello", "a  b\n", "What's up?", "naïve “café”", "<|end|>", "<|im_start|>user\n"],
    *["世界", "\t\r\nx", "</think>", "<think>", "// comment", "😀", "'\"\\", "<b>&</b>", "null"],
    *["[INST] x [/INST]", "functions", "=" * 20, '{"a": [1, 2.5]}'],
]
DEFAULTS = [
    *["x", "", 'a"b', 1, 0.5, 1e20, 1e-7, 1.5e-5, 1e15, True, None],
    *[[1, "é"], {"a": {"b": 2.0}}],
]
#: What the weather is asked of, in the guides' examples.
LOCATION = {"type": "string", "description": "The city and state, e.g. San Francisco, CA"}
NAMES = ["get_weather", "search", "f", "a_b-c", "run2"]


def function(**members: Any) -> dict[str, Any]:
    """A function as a tool, or as what a call is of."""
    return {"type": "function", "function": members}


def text(random: Random) -> str:
    """Some words."""
    return "".join(random.choice(WORDS) for _ in range(random.randrange(4)))


def schema(random: Random, depth: int = 0) -> Any:
    """A schema with all that changes how it is shown, also where it makes little sense."""
    found: dict[str, Any] = {}
    kinds = ["string", "number", "integer", "boolean", "array", "object", "null", "odd"]
    if random.random() < 0.9:
        found["type"] = random.choice(kinds)
        if random.random() < 0.1:
            found["type"] = random.sample(kinds, random.randrange(3))
    if depth == 0:
        found["type"] = "object"
    for name in ("title", "description"):
        if random.random() < 0.3:
            found[name] = text(random).replace("\n", " ")
    if random.random() < 0.2:
        found["enum"] = [
            random.choice(["a", "b c", "", 1, None]) for _ in range(random.randrange(4))
        ]
    if random.random() < 0.3:
        found["default"] = random.choice(DEFAULTS)
    if random.random() < 0.2:
        found["examples"] = [random.choice(["one", 'two"', 3]) for _ in range(random.randrange(3))]
    if random.random() < 0.2:
        found["nullable"] = random.choice([True, False, "yes"])
    if depth < 3:
        if random.random() < 0.7:
            found["items"] = schema(random, depth + 1)
        if random.random() < 0.8:
            found["properties"] = {
                random.choice(["city", "unit", "x-y", "n"]): schema(random, depth + 1)
                for _ in range(random.randrange(4))
            }
            found["required"] = random.sample(["city", "unit", "n"], random.randrange(3))
        if depth and random.random() < 0.2:
            found["oneOf"] = [schema(random, depth + 1) for _ in range(random.randrange(3))]
            if found["oneOf"] and random.random() < 0.3:
                found["description"] = found["oneOf"][0].get("description", "same")
    return found


def tool(random: Random) -> dict[str, Any]:
    """A tool as a request has it."""
    members: dict[str, Any] = {"name": random.choice(NAMES), "description": text(random)}
    if random.random() < 0.9:
        members["parameters"] = schema(random)
    return function(**members)


def messages(random: Random) -> list[dict[str, Any]]:
    """A conversation in an order that a service would take, with calls and their results."""
    found: list[dict[str, Any]] = []
    if random.random() < 0.5:
        found.append({"role": random.choice(["system", "developer"]), "content": text(random)})
    for turn in range(random.randrange(1, 4)):
        found.append({"role": "user", "content": text(random) or "x"})
        for step in range(random.randrange(3)):
            if random.random() < 0.5:
                calls = [f"{turn}{step}{number}aaaaaa" for number in range(random.randrange(1, 3))]
                found.append(
                    {
                        "role": "assistant",
                        "content": random.choice([None, text(random)]),
                        "tool_calls": [call(random, one) for one in calls],
                    }
                )
                found += [
                    {"role": "tool", "tool_call_id": one, "content": text(random)} for one in calls
                ]
            else:
                found.append({"role": "assistant", "content": text(random)})
            if found[-1]["role"] == "assistant" and random.random() < 0.4:
                found[-1]["reasoning_content"] = text(random)
    return found


def call(random: Random, identity: str) -> dict[str, Any]:
    """A call of a tool."""
    arguments = json.dumps({"city": text(random)}, ensure_ascii=False)
    return {"id": identity, **function(name=random.choice(NAMES), arguments=arguments)}


def request(seed: int) -> dict[str, Any]:
    """The request of a number."""
    random = Random(seed)
    found: dict[str, Any] = {"messages": messages(random)}
    if random.random() < 0.5:
        found["tools"] = [tool(random) for _ in range(random.randrange(1, 3))]
    return found
