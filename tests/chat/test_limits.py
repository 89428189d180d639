"""``context_limit``: the table, and the names that lead to its rows."""

from __future__ import annotations

import re

import pytest

from compat_bpe import encoding_name_for_model
from compat_bpe.chat import context_limit
from compat_bpe.chat.limit_table import DATE, TABLE
from compat_bpe.chat.limits import known_limits


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
        assert encoding_name_for_model(name)
        assert limit.model == name
        assert limit.source.startswith("https://")
        assert 1_000 < limit.input <= limit.context
        assert limit.output is None or 0 <= limit.output <= limit.context
