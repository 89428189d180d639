"""Long runs without a place to cut: some make tiktoken panic, and here they have to work."""

from __future__ import annotations

import pytest

from compat_bpe import get_encoding

MILLION = 1_000_000


# One encoding of each pattern.
@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base", "deepseek_v3"])
@pytest.mark.parametrize("char", [" ", "a"])
def test_a_million_of_one_character(name: str, char: str) -> None:
    encoding = get_encoding(name)
    text = char * MILLION
    assert encoding.decode(encoding.encode_ordinary(text)) == text


# One of each kind: what the patterns repeat, and what makes tiktoken raise.
@pytest.mark.parametrize(
    "unit",
    [
        "\n",
        "\r\n",
        "\t",
        "\x85",
        "\u3000",
        "é",
        "字",
        "\U00010400",
        "7",
        "-",
        "'s",
        "aA",
        "\ud83d",
        "\n ",
    ],
)
@pytest.mark.parametrize("name", ["r50k_base", "cl100k_base", "o200k_base"])
def test_long_runs(name: str, unit: str) -> None:
    encoding = get_encoding(name)
    text = unit * (50_000 // len(unit))
    ids = encoding.encode(text)
    assert encoding.decode(ids) == text.replace("\ud83d", "\ufffd")
    assert encoding.count(text) == len(ids)
