"""``context_limit``: the table, and the names that lead to its rows."""

from __future__ import annotations

import re

import pytest

from compat_bpe.chat import context_limit
from compat_bpe.chat.limits import DATE, TABLE, known_limits
from compat_bpe.encodings.model_names import resolve_model


@pytest.mark.parametrize(
    ("model", "row", "context", "output"),
    [
        ("gpt-4o", "gpt-4o", 128_000, 16_384),
        ("gpt-4o-2024-11-20", "gpt-4o", 128_000, 16_384),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13", 128_000, 4_096),
        ("gpt-4-0613", "gpt-4", 8_192, 4_096),
        ("gpt-3.5-turbo-0125", "gpt-3.5-turbo", 16_385, 4_096),
        ("ft:gpt-4o-mini-2024-07-18:acme::1", "gpt-4o-mini", 128_000, 16_384),
        ("azure/eu/GPT-4o-2024-11-20", "gpt-4o", 128_000, 16_384),
        ("openrouter/openai/gpt-4.1-mini:online", "gpt-4.1-mini", 1_047_576, 32_768),
        ("o3-2025-04-16", "o3", 200_000, 100_000),
        ("deepseek-ai/DeepSeek-V4-Pro", "deepseek-v4-pro", 1_000_000, 393_216),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5", 200_000, 64_000),
        ("claude-opus-5-5", "claude-opus-5-5", 1_000_000, 128_000),
        ("openrouter/anthropic/claude-opus-4.1", "claude-opus-4-1", 200_000, 32_000),
        (
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "claude-sonnet-4-5",
            200_000,
            64_000,
        ),
        ("vertex_ai/claude-haiku-4-5@20251001", "claude-haiku-4-5", 200_000, 64_000),
        ("gemini/gemini-2.5-pro", "gemini-2.5-pro", 1_048_576, 65_536),
        ("gemini-4-argon", "gemini-4-argon", 1_048_576, None),
        ("xai/grok-4-0709", "grok-4", 256_000, None),
        ("x-ai/grok-4.20", "grok-4.20", 1_000_000, None),
        ("dashscope/qwen3-max-2026-01-23", "qwen3-max", 262_144, 65_536),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", "qwen3-30b-a3b-instruct-2507", 262_144, None),
    ],
)
def test_limits(model: str, row: str, context: int, output: int | None) -> None:
    found = context_limit(model)
    assert found[:2] == (row, context)
    assert found.output == output
    assert found.date == DATE


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("gpt-9", "the limits of model 'gpt-9' are not known"),
        ("gpt4o", "(did you mean 'gpt-4o'"),
        ("gpt-4o-realtime-preview", "are not known"),
        ("gpt-4o-20241120", "are not known"),
        ("claude-2", "are not known"),
        ("claude-3-5-sonnet", "are not known"),  # services limit its replies differently
        ("qwen-plus", "are not known"),  # it stands for another model every few months
        ("qwen3:8b", "are not known"),  # Ollama sets a context of its own
        ("ollama/qwen3-max", "are not known"),
        ("someone/claude-opus-5", "are not known"),
        ("", "the limits of model '' are not known"),
        ("gpt-9", f"the table is of {DATE}"),
    ],
)
def test_unknown_models_say_so(model: str, reason: str) -> None:
    with pytest.raises(KeyError, match=re.escape(reason)):
        context_limit(model)


def test_the_table_is_sound() -> None:
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", DATE)
    names = [name for rows in TABLE.values() for *_, names in rows for name in names.split()]
    assert len(set(names)) == len(names) == len(known_limits())
    for name, limit in known_limits().items():
        assert resolve_model(name) is not None
        assert context_limit(name) == limit
        assert limit.model == name
        assert limit.source.startswith("https://")
        assert 1_000 < limit.input <= limit.context
        assert limit.output is None or 0 <= limit.output <= limit.context
