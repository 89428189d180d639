"""Long runs without a place to cut.

At a hundred thousand spaces tiktoken itself fails, but not where it is given a single chunk.
"""

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
SIZE = 2000


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
@pytest.mark.parametrize("frame", ["{}", "x{}\n"])
def test_long_runs(distinct: Pair, unit: str, frame: str) -> None:
    text = frame.format(unit * (SIZE // len(unit)))
    ids = distinct.ours.encode_ordinary(text)
    assert ids == distinct.theirs.encode_ordinary(text)
    assert distinct.ours.count(text) == len(ids)
    assert distinct.ours.decode(ids) == distinct.theirs.decode(ids)


@pytest.mark.parametrize("length", [30_000, pytest.param(1_000_000, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("char", [" ", "\t", "\x85", "\u3000", "a"], ids=ascii)
def test_runs_that_are_one_chunk(distinct: Pair, char: str, length: int) -> None:
    run = char * length
    ids = distinct.theirs._encode_single_piece(run.encode())
    assert distinct.ours.encode_ordinary(run) == ids
    assert distinct.ours.count(run) == len(ids)
    assert distinct.ours.decode(ids) == run


@pytest.mark.parametrize("length", [30_000, pytest.param(1_000_000, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("char", [" ", "\u3000"], ids=ascii)
def test_white_space_leaves_its_last_character_to_a_word(
    distinct: Pair, char: str, length: int
) -> None:
    ids = distinct.theirs._encode_single_piece((char * (length - 1)).encode())
    ids += distinct.theirs.encode_ordinary(f"{char}word")
    assert distinct.ours.encode_ordinary(f"{char * length}word") == ids
