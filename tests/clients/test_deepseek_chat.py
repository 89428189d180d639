"""Requests to DeepSeek's models since V3.2, compared with what DeepSeek publishes for them.

Run with ``pytest -m clients tests/clients/test_deepseek_chat.py``.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any, Callable

import pytest

from compat_bpe import get_encoding
from compat_bpe.chat.base import Request
from compat_bpe.chat.deepseek import DeepSeekV32Format
from compat_bpe.chat.deepseek_v4 import EFFORTS, DeepSeekV4Format, Version
from tests.chat.random_requests import request, text
from tests.clients.environments import Environment, make_environment
from tools.reference_files import reference_file

pytestmark = pytest.mark.clients

REQUIREMENTS = ["deepseek-recipe==0.2.0"]
SCRIPT = Path(__file__).parent / "scripts" / "deepseek.py"
ARGUMENTS = [
    "{}",
    '{"a": "x\\n</think>", "b": [1, {"c": 2.5}], "": null}',
    '{"a": [1e-5, 1.5e-5, 1e-6, 1.25e-7, 0.0001, 1e15, 1e16, 1.5e300, 5e-324, -0.0, 100.0]}',
    '{"a": 1, "a": 2, "b": 18446744073709551615, "c": -9223372036854775808}',
    ' {"a": "\\u00e9\\u2028\\u007f", "k\\"": {"\\u001f": "/"}} ',
]
#: Those that only V4 and V4.1 take, as text.
DAMAGED = ["", "no JSON", "[1]", "null", '"x"', '{"a": NaN}', '{"a": "\\ud800"}', '{"a": 1}x']
LONG = ['{"a": 12345678901234567890123, "b": -0}']


def drawn(seed: int, arguments: list[str]) -> dict[str, Any]:
    """A request with all that changes the text."""
    random = Random(seed)
    found = request(seed)
    if random.random() < 0.2:
        late = {"role": "system", "content": text(random)}
        found["messages"].insert(random.randrange(len(found["messages"])), late)
    for message in found["messages"]:
        if message["role"] == "developer":
            message["role"] = "system"
        for one in message.get("tool_calls", []):
            if random.random() < 0.5:
                one["function"]["arguments"] = random.choice(arguments)
    names = iter("abcdef")
    for tool in found.get("tools", []):
        tool["function"]["name"] = next(names)
        if random.random() < 0.3:
            del tool["function"]["description"]
    if random.random() < 0.3:
        schema = {"type": "object", "properties": {"a": {"type": "number", "default": 1e-7}}}
        found["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "n", "schema": schema},
        }
    found["thinking"] = random.random() < 0.5
    return found


def drawn_for_v4(seed: int) -> dict[str, Any]:
    random = Random(seed)
    found = drawn(seed, ARGUMENTS + DAMAGED + LONG)
    found["reasoning_effort"] = random.choice(EFFORTS)
    messages = found["messages"]
    for message in messages:
        if random.random() < 0.1 and message["content"] is not None:
            parts = [message["content"], text(random)]
            message["content"] = [{"type": "text", "text": one} for one in parts]
    for index, message in enumerate(messages[:-1]):  # the results of two calls, the other way round
        if message["role"] == messages[index + 1]["role"] == "tool" and random.random() < 0.5:
            messages[index : index + 2] = messages[index + 1], message
    if random.random() < 0.1:
        found["response_format"] = {"type": "json_object"}
        messages[-1]["content"] = "json"
    return found


def ours(body: dict[str, Any], render: Callable[[Request], str]) -> str | None:
    variables = {"thinking": body["thinking"]}
    if "reasoning_effort" in body:
        variables["reasoning_effort"] = body["reasoning_effort"]
    try:
        return render(
            Request.checked(
                body["messages"],
                body.get("tools"),
                variables=variables,
                response_format=body.get("response_format"),
            )
        )
    except ValueError:
        return None


def test_deepseek_chat(environments: Path, tmp_path: Path) -> None:
    cases: dict[str, dict[str, Any]] = {
        "v3.2": {
            "file": str(reference_file("deepseek_v32_encoding")),
            "requests": [drawn(seed, ARGUMENTS) for seed in range(2000)],
        },
        "v4": {"requests": [drawn_for_v4(seed) for seed in range(2000)]},
    }
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    python = make_environment(environments / "deepseek", REQUIREMENTS)
    printed = Environment(python, tmp_path).run("-I", SCRIPT, tmp_path / "cases.json", cwd=tmp_path)
    results = map(json.loads, printed.splitlines())
    v4 = get_encoding("deepseek_v4")
    renderers: list[tuple[str, Callable[[Request], str]]] = [
        ("v3.2", DeepSeekV32Format(get_encoding("deepseek_v3")).render),
        ("v4", DeepSeekV4Format(v4, Version.V4).render),
        ("v4", DeepSeekV4Format(v4, Version.V4_1).render),
    ]
    for name, render in renderers:
        compared = 0
        for body in cases[name]["requests"]:
            expected = next(results)
            # The service refuses some requests, which are counted as if it took them.
            if expected is not None or name == "v3.2":
                assert ours(body, render) == expected, body
                compared += expected is not None
        assert compared > 400, (name, compared)
    assert next(results, None) is None
