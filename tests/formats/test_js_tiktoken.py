"""The rank files of tiktoken's ports to JavaScript; bad ones are refused by place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compat_bpe
from tests.examples import scaled
from tests.formats.js_tiktoken_files import BYTES, PATTERN, RANKS, run

from .damage import check, some_damage, spread_damage


def load(folder: Path, **changed: Any) -> compat_bpe.Encoding:
    path = folder / "o200k_base.json"
    file = {"pat_str": PATTERN, "special_tokens": {"<s>": 256}, "bpe_ranks": RANKS, **changed}
    path.write_text(json.dumps({key: value for key, value in file.items() if value != "left out"}))
    return compat_bpe.load(path)


def test_lines_of_ids_in_a_row(tmp_path: Path) -> None:
    enc = load(tmp_path)
    assert enc.name == tmp_path.name
    assert enc.encode("he she<s>", allowed_special="all") == [300, 32, 301, 256]
    assert enc.n_vocab == 302
    assert enc.decode([301, 256]) == "she<s>"


def test_empty_lines_are_nothing(tmp_path: Path) -> None:
    assert load(tmp_path, bpe_ranks=f"\n{RANKS}\n\n! 900\n").encode("he") == [300]


def test_the_size_may_be_said(tmp_path: Path) -> None:
    ranks = run(0, *BYTES, b"he")
    for size in (258, 0, None, "left out"):
        enc = load(tmp_path, explicit_n_vocab=size, bpe_ranks=ranks, special_tokens={"<s>": 257})
        assert enc.n_vocab == 258


@given(
    st.lists(st.binary(min_size=2, max_size=5), unique=True, max_size=20),
    st.lists(st.integers(0, 3), min_size=20, max_size=20),
)
def test_any_holes(
    tmp_path_factory: pytest.TempPathFactory, tokens: list[bytes], holes: list[int]
) -> None:
    lines, expected, following = [run(0, *BYTES)], dict(zip(BYTES, range(256))), 256
    for token, hole in zip(tokens, holes):
        following += hole
        lines.append(run(following, token))
        expected[token] = following
        following += 1
    enc = load(tmp_path_factory.getbasetemp(), bpe_ranks="\n".join(lines), special_tokens={})
    assert enc._mergeable_ranks == expected


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"pat_str": None}, "pat_str: must be a string, not null"),
        ({"pat_str": "("}, "pat_str: pattern '(', character 0"),
        ({"special_tokens": "left out"}, "there is no 'special_tokens'"),
        ({"special_tokens": []}, "special_tokens: must be an object, not a list"),
        ({"special_tokens": {"": 1}}, "special_tokens: a special token has no name"),
        ({"special_tokens": {"\ud800": 1}}, "special_tokens: has a lone surrogate"),
        ({"special_tokens": {"a": "1"}}, "special_tokens.a: must be an integer, not a string"),
        ({"special_tokens": {"a": -1}}, "special_tokens.a: must be from 0 to 4294967294"),
        ({"special_tokens": {"a": 2**32 - 1}}, "special_tokens.a: must be from 0 to 4294967294"),
        ({"explicit_n_vocab": 302}, "explicit_n_vocab: is 302, but there are 259 tokens up to id"),
        ({"explicit_n_vocab": "1"}, "explicit_n_vocab: must be an integer, not a string"),
        ({"bpe_ranks": [RANKS]}, "bpe_ranks: must be a string, not a list"),
        ({"bpe_ranks": ""}, "bpe_ranks: there is no token for the single byte 0x00"),
        ({"bpe_ranks": RANKS[2:]}, "bpe_ranks: line 1: must begin with '! ' and an id"),
        ({"bpe_ranks": RANKS + "\r\n"}, "bpe_ranks: line 2: the token of the id 301 is not base"),
        ({"bpe_ranks": RANKS + "\n!"}, "bpe_ranks: line 3: must begin with '! ' and an id"),
        ({"bpe_ranks": RANKS + "\n! -1 YWJj"}, "bpe_ranks: line 3: must begin with '! ' and an "),
        ({"bpe_ranks": RANKS + "\n! 0900 YWJj"}, "bpe_ranks: line 3: must begin with '! ' and "),
        ({"bpe_ranks": RANKS + "\n! ٣ YWJj"}, "bpe_ranks: line 3: must begin with '! ' and an "),
        ({"bpe_ranks": RANKS + "\n! " + "9" * 11}, "bpe_ranks: line 3: must begin with '! ' and "),
        ({"bpe_ranks": RANKS + "\n! 9999999999"}, "bpe_ranks: line 3: an id is above the highest"),
        ({"bpe_ranks": RANKS + "\n! 4294967294 YWJj YWJk"}, "bpe_ranks: line 3: an id is above"),
        ({"bpe_ranks": RANKS + "  YWJj"}, "bpe_ranks: line 2: the token of the id 302 is not b"),
        ({"bpe_ranks": RANKS + " "}, "bpe_ranks: line 2: the token of the id 302 is not base64"),
        ({"bpe_ranks": RANKS + " YWJ"}, "bpe_ranks: line 2: the token of the id 302 is not base"),
        ({"bpe_ranks": RANKS + " YW-j"}, "bpe_ranks: line 2: the token of the id 302 is not ba"),
        ({"bpe_ranks": RANKS + " é"}, "bpe_ranks: line 2: the token of the id 302 is not base64"),
        ({"bpe_ranks": RANKS + " aGU="}, "bpe_ranks: line 2: the token b'he' or its id 302 comes"),
        ({"bpe_ranks": RANKS + "\n! 301 YWJj"}, "bpe_ranks: line 3: the token b'abc' or its id "),
    ],
)
def test_message_names_the_place_and_the_reason(
    tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        load(tmp_path, **changed)
    assert str(caught.value).startswith(f"{tmp_path / 'o200k_base.json'}: {message}")


SMALL = json.dumps(
    {
        "explicit_n_vocab": 259,
        "pat_str": PATTERN,
        "special_tokens": {"<s>": 258},
        "bpe_ranks": "\n".join([run(0, *BYTES), run(256, b"he", b"she")]),
    }
).encode()


def is_right(enc: compat_bpe.Encoding) -> bool:
    """What is left of the file is a vocabulary of its own."""
    text = "he said 123\r\n\x07é中 \x80"
    kept = "".join(enc.core.splitter.chunks(text))
    return enc.decode(enc.encode_ordinary(text)) == kept and enc.n_vocab in range(258, 262)


@given(data=some_damage(SMALL))
@settings(max_examples=scaled(1000))
def test_damaged_files(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    check(tmp_path_factory.getbasetemp() / "damaged.json", data, is_right)


@pytest.mark.sweep
def test_damage_all_over(tmp_path: Path) -> None:
    for data in spread_damage(SMALL):
        check(tmp_path / "damaged.json", data, is_right)
