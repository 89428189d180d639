from __future__ import annotations

import pytest

from compat_bpe import list_encoding_names
from compat_bpe.encodings.model_names import (
    MODEL_PREFIX_TO_ENCODING,
    MODEL_TO_ENCODING,
    OTHER_MODEL_PREFIX_TO_ENCODING,
    OTHER_MODEL_TO_ENCODING,
    encoding_name_for_model,
)


def test_every_encoding_in_the_tables_ships() -> None:
    tables = (
        MODEL_TO_ENCODING,
        MODEL_PREFIX_TO_ENCODING,
        OTHER_MODEL_TO_ENCODING,
        OTHER_MODEL_PREFIX_TO_ENCODING,
    )
    named = {name for table in tables for name in table.values()}
    assert named == set(list_encoding_names())


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4", "cl100k_base"),  # a whole name
        ("gpt-4o", "o200k_base"),
        ("gpt-4-0314", "cl100k_base"),  # a prefix
        ("gpt-4o-2024-05-13", "o200k_base"),
        ("ft:gpt-4o:acme", "o200k_base"),  # "ft:gpt-4" fits too, but comes later
        ("ft:gpt-4:acme", "cl100k_base"),
        ("deepseek-chat", "deepseek_v3"),
        ("deepseek-reasoner", "deepseek_r1"),
        ("deepseek-r1-0528", "deepseek_r1"),
        ("deepseek-ai/DeepSeek-V3.2-Exp", "deepseek_v3"),
        ("deepseek-v4-flash", "deepseek_v4"),
    ],
)
def test_name_for_model(model: str, encoding: str) -> None:
    assert encoding_name_for_model(model) == encoding


@pytest.mark.parametrize("model", ["gpt-4p", "GPT-4", "gpt4", " gpt-4"])
def test_unknown_model_names_the_close_ones(model: str) -> None:
    with pytest.raises(KeyError) as caught:
        encoding_name_for_model(model)
    message = caught.value.args[0]
    assert repr(model) in message
    assert "'gpt-4'" in message
    assert "get_encoding" in message


@pytest.mark.parametrize("model", ["deepseek-r1-distill-qwen-7b", "deepseek-coder", "deepseek-v2"])
def test_models_with_other_vocabularies_are_not_taken_for_these(model: str) -> None:
    with pytest.raises(KeyError):
        encoding_name_for_model(model)


def test_unknown_model_with_nothing_close() -> None:
    with pytest.raises(KeyError) as caught:
        encoding_name_for_model("zzzzzzzzzz")
    assert "did you mean" not in caught.value.args[0]
