from __future__ import annotations

import pytest

from compat_bpe import list_encoding_names
from compat_bpe.models import (
    MODEL_PREFIX_TO_ENCODING,
    MODEL_TO_ENCODING,
    encoding_name_for_model,
)


def test_every_encoding_in_the_tables_ships() -> None:
    named = {*MODEL_TO_ENCODING.values(), *MODEL_PREFIX_TO_ENCODING.values()}
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


def test_unknown_model_with_nothing_close() -> None:
    with pytest.raises(KeyError) as caught:
        encoding_name_for_model("zzzzzzzzzz")
    assert "did you mean" not in caught.value.args[0]
