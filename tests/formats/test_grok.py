"""``tokenizer.tok.json`` of Grok 2: tokens as lists of bytes, and bad files refused by place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import compat_bpe
from compat_bpe.encodings.patterns import PATTERNS
from tests.examples import scaled
from tests.formats.grok_files import grok

from .damage import check, some_damage, spread_damage


def load(folder: Path, **changed: Any) -> compat_bpe.Encoding:
    path = folder / "tokenizer.tok.json"
    path.write_text(json.dumps(grok(**changed)))
    return compat_bpe.load(path)


def test_digits_are_single(tmp_path: Path) -> None:
    enc = load(tmp_path)
    assert enc.name == tmp_path.name
    assert enc.encode("he 12") == [257, 32, 49, 50]
    assert enc._pat_str == PATTERNS["llama3"].replace("{1,3}", "")
    assert enc.encode("<|separator|>a<|pad|>", allowed_special="all") == [260, 97, 259]
    assert enc.decode([260, 257]) == "<|separator|>he"


def test_a_file_may_have_its_own_pattern(tmp_path: Path) -> None:
    enc = load(tmp_path, pat_str=PATTERNS["llama3"])
    assert enc.encode("he 123") == [257, 32, 258]
    assert load(tmp_path, pat_str=None).encode("123") == [49, 50, 51]


def test_the_size_may_be_said(tmp_path: Path) -> None:
    for size in (261, 0, None):
        assert load(tmp_path, vocab_size=size).n_vocab == 261


def test_in_a_folder_it_comes_before_what_was_made_from_it(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("damaged, but not looked at")
    load(tmp_path)
    assert compat_bpe.load(tmp_path).encode("he") == [257]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"word_split": "V2"}, "word_split: 'V2' is not known, only V1"),
        ({"word_split": None}, "word_split: must be a string, not null"),
        ({"pat_str": 1}, "pat_str: must be a string, not an integer"),
        ({"pat_str": "("}, "pat_str: pattern '(', character 0"),
        ({"vocab_size": 262}, "vocab_size: is 262, but there are 261 tokens up to id 260"),
        ({"vocab_size": True}, "vocab_size: must be an integer, not true or false"),
        ({"regular_tokens": []}, "regular_tokens: there is no token for the single byte 0x00"),
        ({"regular_tokens": {}}, "regular_tokens: must be a list, not an object"),
        ({"special_tokens": None}, "special_tokens: must be a list, not null"),
        ({"special_tokens": [1]}, "special_tokens[0]: must be an object, not an integer"),
        (
            {"special_tokens": [{"bytes": [255], "token": 1}]},
            r"special_tokens: the name b'\xff' is not UTF-8",
        ),
    ],
)
def test_message_names_the_place_and_the_reason(
    tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        load(tmp_path, **changed)
    assert str(caught.value).startswith(f"{tmp_path / 'tokenizer.tok.json'}: {message}")


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"token": 7}, "there is no 'bytes'"),
        ({"bytes": [7]}, "there is no 'token'"),
        ({"bytes": "a", "token": 7}, "bytes: must be a list, not a string"),
        ({"bytes": [], "token": 7}, "bytes: must be a list of one byte or more"),
        ({"bytes": [256], "token": 7}, "bytes: must be a list of one byte or more"),
        ({"bytes": [-1], "token": 7}, "bytes: must be a list of one byte or more"),
        ({"bytes": [True], "token": 7}, "bytes: must be a list of one byte or more"),
        ({"bytes": [7.0], "token": 7}, "bytes: must be a list of one byte or more"),
        ({"bytes": [6], "token": 7}, r"the token b'\x06' or the id 7 comes twice"),
        ({"bytes": [7], "token": 6}, r"the token b'\x07' or the id 6 comes twice"),
        ({"bytes": [7], "token": -1}, "token: must be from 0 to 4294967294"),
        ({"bytes": [7], "token": 2**32 - 1}, "token: must be from 0 to 4294967294"),
        ({"bytes": [7], "token": "7"}, "token: must be an integer, not a string"),
    ],
)
def test_message_names_the_token(tmp_path: Path, item: dict[str, Any], message: str) -> None:
    tokens = grok()["regular_tokens"]
    tokens[7] = item
    with pytest.raises(ValueError, match=r"tokenizer.tok.json: regular_tokens\[7\]") as caught:
        load(tmp_path, regular_tokens=tokens)
    assert str(caught.value).endswith(message)


SMALL = json.dumps(grok(vocab_size=261), separators=(",", ":")).encode()


def is_right(enc: compat_bpe.Encoding) -> bool:
    """What is left of the file is a vocabulary of its own."""
    text = "he said 123\r\n\x07é中 \x80"
    ids = enc.encode_ordinary(text)
    return enc.decode(ids) == text and enc.n_vocab == 261


@given(data=some_damage(SMALL))
@settings(max_examples=scaled(1000))
def test_damaged_files(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    check(tmp_path_factory.getbasetemp() / "damaged.tok.json", data, is_right)


@pytest.mark.sweep
def test_damage_all_over(tmp_path: Path) -> None:
    for data in spread_damage(SMALL):
        check(tmp_path / "damaged.tok.json", data, is_right)
