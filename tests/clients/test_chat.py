"""Conversations and tools against transformers, openai-harmony, and DeepSeek's and Kimi's files."""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Callable

import pytest

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.chat import ChatTemplate, count_messages, load_chat_template
from compat_bpe.chat.base import Request
from compat_bpe.chat.deepseek import DeepSeekV32Format
from compat_bpe.chat.deepseek_v4 import EFFORTS, DeepSeekV4Format, Version
from compat_bpe.chat.harmony import HarmonyFormat
from compat_bpe.chat.kimi import declared, in_order
from compat_bpe.encodings.published import load_ranks
from compat_bpe.formats.tiktoken import format_ranks
from tests.chat.families import SPECIAL_TOKENS, TEMPLATES
from tests.chat.random_requests import request, text
from tests.clients.environments import Environment, make_environment
from tools.reference_files import reference_file

pytestmark = pytest.mark.clients

CHAT_PACKAGES = ["transformers==5.23.0", "jinja2==3.1.6", "openai-harmony==0.0.8"]

#: Chat templates as published, by the name of the vocabulary; some with the vocabulary itself.
PUBLISHED = {
    "cohere": "cohere",
    "deepseek_r1": "deepseek_r1",
    "deepseek_v2": None,
    "internlm_2": None,
    "llama_3_1": None,
    "mistral_nemo": None,
    "qwen_3": "qwen_3",
}

#: Requests that random ones rarely are.
ODD: list[dict[str, Any]] = [
    {"messages": [{"role": "user", "content": [{"type": "text", "text": " a<&> "}]}]},
    {"messages": [{"role": "odd", "content": "x"}]},
    {"messages": [{"role": "user"}]},
    {"messages": [{"role": "user", "content": "x"}, {"role": "user", "content": "y"}]},
    {"messages": [{"role": "user", "content": "x", "name": "Ann"}], "tools": []},
    {"messages": [{"role": "assistant", "content": " x\n", "thinking": "hm"}]},
]
OPTIONS: list[dict[str, Any]] = [
    {"add_generation_prompt": True},
    {"enable_thinking": False, "date_string": "1 May 2026", "add_generation_prompt": True},
    {"continue_final_message": True},
    {"documents": [{"title": "a", "text": "<b>\n&"}, {"title": "b", "text": "c"}] * 2},
]
#: The vocabularies that are loaded, by their folders.
VOCABULARIES: dict[Path, Encoding] = {}
HARMONY = {"date": "2026-11-22", "effort": "High"}


@pytest.fixture(scope="session")
def python(environments: Path) -> Path:
    return make_environment(environments / "chat", CHAT_PACKAGES)


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A folder for each template, as it would be downloaded."""
    root = tmp_path_factory.mktemp("templates")
    for name, template in TEMPLATES.items():
        (root / name).mkdir()
        (root / name / "chat_template.jinja").write_text(template, encoding="utf-8")
        (root / name / "tokenizer_config.json").write_text(json.dumps(SPECIAL_TOKENS))
    for name, vocabulary in PUBLISHED.items():
        (root / name).mkdir()
        shutil.copy(reference_file(f"{name}_config"), root / name)
        if vocabulary is not None:
            shutil.copy(reference_file(vocabulary), root / name)
    return sorted(root.iterdir())


chat_template = cache(load_chat_template)


def as_case(folder: Path, template: ChatTemplate) -> dict[str, Any]:
    file = folder / "tokenizer.json"
    single = template.templates["default"] if len(template.templates) == 1 else None
    return {
        "templates": single or template.templates,
        "special_tokens": template.special_tokens,
        "file": str(file) if file.exists() else None,
    }


def rendered(folder: Path, body: dict[str, Any], options: dict[str, Any]) -> list[Any] | None:
    """What the script prints for a template and a request."""
    known = {"add_generation_prompt": False}
    variables: dict[str, Any] = {}
    for name, value in options.items():
        is_own = name in ("add_generation_prompt", "continue_final_message", "documents")
        (known if is_own else variables)[name] = value
    try:
        template = chat_template(folder)
        arguments: dict[str, Any] = {"tools": body.get("tools"), "variables": variables, **known}
        text = template.render(body["messages"], **arguments)
        if not (folder / "tokenizer.json").exists():
            return [text, None]
        if folder not in VOCABULARIES:
            VOCABULARIES[folder] = load(folder)
        encoding = VOCABULARIES[folder]
        tokens = count_messages(body["messages"], encoding=encoding, template=template, **arguments)
        return [text, tokens]
    except ValueError:
        return None


def test_chat_references(python: Path, templates: list[Path], tmp_path: Path) -> None:
    ranks = tmp_path / "o200k_base.tiktoken"
    ranks.write_bytes(format_ranks(load_ranks("o200k_base")))
    requests = [*ODD, *map(request, range(40))]
    usual = list(map(request, range(600)))
    cases = {
        "templates": [as_case(folder, chat_template(folder)) for folder in templates],
        "requests": requests,
        "options": OPTIONS,
        "harmony": HARMONY,
        "usual": usual,
    }
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_ENCODINGS_BASE", str(tmp_path))  # else it would be downloaded
        environment = Environment(python, tmp_path)
        printed = environment.script("chat", tmp_path / "cases.json", cwd=tmp_path)
    results = map(json.loads, printed.splitlines())
    check_templates(results, templates, requests)
    check_harmony(results, usual)
    assert next(results, None) is None


def check_templates(
    results: Iterator[Any], templates: list[Path], requests: list[dict[str, Any]]
) -> None:
    for folder in templates:
        answered = 0
        for body, options in itertools.product(requests, OPTIONS):
            expected = next(results)
            assert rendered(folder, body, options) == expected, (folder.name, body, options)
            answered += expected is not None
        assert answered >= 20, folder.name


def check_harmony(results: Iterator[Any], requests: list[dict[str, Any]]) -> None:
    harmony = HarmonyFormat(get_encoding("o200k_harmony"))
    variables = {
        "conversation_start_date": HARMONY["date"],
        "reasoning_effort": HARMONY["effort"].lower(),
    }
    for body in requests:
        found = Request(body["messages"], body.get("tools"), variables=variables)
        assert harmony.ids(found) == next(results), body


DEEPSEEK_PACKAGES = ["deepseek-recipe==0.2.0"]
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


def deepseek_text(body: dict[str, Any], render: Callable[[Request], str]) -> str | None:
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
    python = make_environment(environments / "deepseek", DEEPSEEK_PACKAGES)
    printed = Environment(python, tmp_path).script(
        "requests_to_text", tmp_path / "cases.json", cwd=tmp_path
    )
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
                assert deepseek_text(body, render) == expected, body
                compared += expected is not None
        assert compared > 400, (name, compared)
    assert next(results, None) is None


_KINDS = ["string", "number", "integer", "boolean", "array", "object", "null", "odd"]
_NAMES = ["city", "unit", "x-y", "n", "é"]
_VALUES = ["a", 'b"c', "", 1, 2.5, None, True, ["x"], {"k": "é"}]


def tools_of(seed: int) -> list[dict[str, Any]]:
    """The tools of a number; one in five or so has something that the tokenizer does not show."""
    random = Random(seed)
    odd = random.random() < 0.2
    return [_tool(random, odd) for _ in range(random.randrange(1, 4))]


def _tool(random: Random, odd: bool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": random.choice("abc")}
    if random.random() < 0.7:
        function["description"] = text(random)
    if random.random() < 0.9:
        function["parameters"] = {**_schema(random, odd, 0), "type": "object"}
        if random.random() < 0.3:
            function["parameters"]["$defs"] = {
                name: _schema(random, odd, 1) for name in random.sample(["A", "B"], 2)
            }
    if odd and random.random() < 0.1:
        return {"type": random.choice(["function", "_plugin"])}
    return {"type": "function", "function": function}


def _schema(random: Random, odd: bool, depth: int) -> Any:
    if depth and random.random() < 0.05:
        return random.choice([True, False, {}, *([None, "x", [], 3] if odd else [])])
    found: dict[str, Any] = {"type": random.choice(_KINDS if odd else _KINDS[:7])}
    if random.random() < 0.1:
        found["type"] = random.sample(_KINDS if odd else _KINDS[:7], random.randrange(3))
    if odd and random.random() < 0.1:
        del found["type"]
    if random.random() < 0.4:
        found["description"] = random.choice([text(random), "a\n\nb"])
    if random.random() < 0.2:
        found["default"] = random.choice(_VALUES)
    if random.random() < 0.15:
        found["enum"] = random.choices(_VALUES if odd else ["a", 'b"c', None], k=2)
    for name in ("maxLength", "minLength", "pattern", "maximum", "minimum", "maxItems", "minItems"):
        if random.random() < 0.15:
            found[name] = random.choice([1, 0.5, "^a$"])
    if depth and random.random() < 0.1:
        references = ["#", "#/$defs/A", "#/$defs/B", *(["#/$defs/no", "x", 1] if odd else [])]
        found["$ref"] = random.choice(references)
    if depth < 3:
        if random.random() < 0.6:
            found["items"] = _schema(random, odd, depth + 1)
        if random.random() < 0.8:
            names = random.sample(_NAMES, random.randrange(4))
            found["properties"] = {name: _schema(random, odd, depth + 1) for name in names}
            found["required"] = random.sample(_NAMES, random.randrange(3))
        if random.random() < 0.2:
            found["additionalProperties"] = random.choice([True, False, {}, {"type": "string"}])
        if depth and random.random() < 0.15:
            found["anyOf"] = [
                _schema(random, odd, depth + 1) for _ in range(random.randrange(1, 3))
            ]
    if odd and random.random() < 0.1:
        name = random.choice(["additionalProperties", "description", "required", "properties"])
        found[name] = random.choice([1, "x", None, ["city"], [1, {}], {"a": {}}])
    return found


def test_kimi_chat(tmp_path: Path) -> None:
    cases = [in_order(tools_of(seed)) for seed in range(5000)]
    path, file = tmp_path / "cases.json", str(reference_file("kimi_tools"))
    path.write_text(json.dumps({"kimi": {"file": file, "tools": cases}}))
    environment = Environment(Path(sys.executable), tmp_path)
    printed = environment.script("requests_to_text", path, cwd=tmp_path)
    results = list(map(json.loads, printed.splitlines()))
    assert len(results) == len(cases)
    for tools, expected in zip(cases, results):
        assert declared(tools) == expected, tools
    assert 500 < results.count(None) < 2500
