"""Conversations compared with transformers' chat templates and with openai-harmony.

Both run in an environment of their own. Run with ``pytest -m clients tests/clients/test_chat.py``.
"""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.chat import ChatTemplate, count_messages, load_chat_template
from compat_bpe.chat.base import Request
from compat_bpe.chat.harmony import HarmonyFormat
from compat_bpe.encodings.published import load_ranks
from compat_bpe.formats.tiktoken import format_ranks
from tests.chat.families import SPECIAL_TOKENS, TEMPLATES
from tests.chat.random_requests import request
from tests.clients.environments import Environment, make_environment
from tools.reference_files import reference_file

pytestmark = pytest.mark.clients

REQUIREMENTS = ["transformers==5.23.0", "jinja2==3.1.6", "openai-harmony==0.0.8"]
SCRIPT = Path(__file__).parent / "scripts" / "chat.py"

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
    return make_environment(environments / "chat", REQUIREMENTS)


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


def ours(folder: Path, body: dict[str, Any], options: dict[str, Any]) -> list[Any] | None:
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
        printed = environment.run("-I", SCRIPT, tmp_path / "cases.json", cwd=tmp_path)
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
            assert ours(folder, body, options) == expected, (folder.name, body, options)
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
