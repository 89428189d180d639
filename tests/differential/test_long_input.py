"""Long runs, as long as tiktoken survives them; ``tests/test_long_input.py`` has longer ones."""

from __future__ import annotations

import pytest

from tests.differential.reference import Pair

UNITS = [
    *(" ", "\t", "\n", "\r\n", "\x85", "\u3000", "\xa0", "a", "A", "aA", "ab", "é", "字", "ſ"),
    *(
        "\U00010400",
        "7",
        "1234",
        "-",
        "-=",
        "'s",
        "\u0301",
        "😀",
        "\n ",
        " a",
        "\ud83d",
        "<|endoftext|>",
    ),
]
SIZE = 5000


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
@pytest.mark.parametrize("frame", ["{}", "x{}\n"])
def test_long_runs(shipped: Pair, unit: str, frame: str) -> None:
    text = frame.format(unit * (SIZE // len(unit)))
    ids = shipped.ours.encode_ordinary(text)
    assert ids == shipped.theirs.encode_ordinary(text)
    assert shipped.ours.count(text) == len(ids)
    assert shipped.ours.decode(ids) == shipped.theirs.decode(ids)
