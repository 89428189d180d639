"""The form that a request asks a reply to have."""

from __future__ import annotations

from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.chat import ChatTemplate, count_messages, count_parts
from compat_bpe.chat.base import Request
from compat_bpe.chat.harmony import HarmonyFormat

CHAT = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}]
SCHEMA = {"type": "object", "properties": {"é": {"type": "number", "default": 1e-7}}}
FORM = {"type": "json_schema", "json_schema": {"name": "n", "description": "D", "schema": SCHEMA}}


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5", "gpt-oss-20b", "deepseek-v3", "deepseek-v4"])
def test_it_is_counted_and_said(model: str) -> None:
    bare = count_messages(CHAT, model=model)
    with_form = count_messages(CHAT, model=model, response_format=FORM)
    assert bare + 15 < with_form < bare + 60
    if model != "deepseek-v4":
        assert "response_format" in with_form.note
    text = count_messages(CHAT, model=model, response_format={"type": "text"})
    assert (text, text.note) == (bare, bare.note)
    parts = count_parts(CHAT, model=model, response_format=FORM)
    assert [part.name for part in parts][-2:] == ["response_format", "reply"]
    assert parts[-2].tokens == with_form - bare
    assert sum(part.tokens for part in parts) == with_form


def test_harmony_has_it_behind_the_tools() -> None:
    harmony = HarmonyFormat(get_encoding("o200k_harmony"))
    request = Request.checked(CHAT, [{"name": "f"}], response_format=FORM)
    assert harmony.encoding.decode(harmony.ids(request)).endswith(
        "} // namespace functions\n\n# Response Formats\n\n## n\n\n// D\n"
        '{"type":"object","properties":{"é":{"type":"number","default":1e-7}}}'
        "<|end|><|start|>user<|message|>hi<|end|><|start|>assistant"
    )
    # Any JSON adds nothing that OpenAI publishes.
    any_json = count_messages(CHAT, model="gpt-oss-20b", response_format={"type": "json_object"})
    assert any_json == count_messages(CHAT, model="gpt-oss-20b")
    assert any_json.is_estimate


def test_a_template_gets_it_if_it_shows_it() -> None:
    encoding = get_encoding("o200k_base")
    shows = ChatTemplate("{{ response_format.json_schema.name if response_format else 'none' }}")
    arguments: dict[str, Any] = {"encoding": encoding, "template": shows}
    found = count_messages(CHAT, **arguments, response_format=FORM)
    assert (found, found.note) == (1, "")
    arguments["template"] = ChatTemplate("x")
    found = count_messages(CHAT, **arguments, response_format=FORM)
    assert found == 1
    assert found.note.startswith("the chat template does not show response_format")
    assert not count_messages(CHAT, **arguments).is_estimate


def test_an_estimate_has_its_characters() -> None:
    model = "claude-sonnet-4-5"
    bare = count_messages(CHAT, model=model, estimate=True)
    assert count_messages(CHAT, model=model, estimate=True, response_format=FORM) > bare + 20


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
        count_messages(CHAT, model="gpt-4o", response_format=value)
    assert str(raised.value).startswith("response_format")
