"""Vocabularies by ranks in JSON: Tekken, js-tiktoken, Grok 2."""

from __future__ import annotations

from base64 import b64decode, b64encode
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import compat_bpe
from compat_bpe.encodings.published import PATTERNS
from tests.formats.small_files import (
    BYTES,
    PATTERN,
    RANKS,
    TEKKEN_SPECIAL,
    TEKKEN_TOKENS,
    TEKKEN_USED,
    grok,
    refusal,
    run,
    tekken,
)
from tests.tokenizer_files import load_json, with_member

Place = tuple[Any, ...]


changed = partial(with_member, tekken())


load_tekken = partial(load_json, name="tekken.json")


def test_ids_are_shifted_by_the_number_of_special_tokens(tmp_path: Path) -> None:
    enc = load_tekken(tmp_path, tekken())
    assert enc.encode("abc ab!") == [id_ + TEKKEN_SPECIAL for id_ in (257, 32, 256, 33)]
    assert enc.decode(enc.encode("naïve 中")) == "naïve 中"
    assert enc.name == tmp_path.name


def test_base64_is_read_as_the_reference_reads_it(tmp_path: Path) -> None:
    """``Tekkenizer`` calls ``base64.b64decode``, which skips what is no base64."""
    file = tekken()
    for entry in file["vocab"]:
        entry["token_bytes"] = "\n " + entry["token_bytes"].replace("Y", "*Y?") + "*"
        assert b64decode(entry["token_bytes"]) == TEKKEN_TOKENS[entry["rank"]]
    assert load_tekken(tmp_path, file).encode("abc") == [257 + TEKKEN_SPECIAL]


def test_special_tokens_that_are_not_listed_are_reserved(tmp_path: Path) -> None:
    enc = load_tekken(tmp_path, tekken())
    assert enc._special_tokens == {"<unk>": 0, "<s>": 1, "<SPECIAL_2>": 2, "<SPECIAL_3>": 3}
    assert enc.encode("<s>a<SPECIAL_3>", allowed_special="all") == [1, 97 + TEKKEN_SPECIAL, 3]
    assert enc.decode([1, 2]) == "<s><SPECIAL_2>"


@pytest.mark.parametrize("count", [0, 2, 20, 30])
def test_files_without_a_list_have_the_names_of_old(tmp_path: Path, count: int) -> None:
    file = tekken(count)
    for version, listed in product(("v1", "v2", "v3", "v7"), ("null", "none")):
        file["config"]["version"] = version
        file["special_tokens"] = None
        if listed == "none":
            del file["special_tokens"]
        names = load_tekken(tmp_path, file)._special_tokens
        assert sorted(names.values()) == list(range(count))
        old = ["<unk>", "<s>", "</s>", "[INST]"][:count]
        assert sorted(names, key=names.__getitem__)[:4] == old
        if count == 30:
            assert names["[TOOL_CONTENT]"] == 19
            assert names["<SPECIAL_20>"] == 20
            assert names["<SPECIAL_29>"] == 29


@pytest.mark.parametrize("version", ["v11", "v13", "v15"])
@pytest.mark.parametrize("listed", ["null", "none"])
def test_later_files_must_list_the_names(tmp_path: Path, version: str, listed: str) -> None:
    file = changed(("special_tokens",), None)
    file["config"]["version"] = version
    if listed == "none":
        del file["special_tokens"]
    with pytest.raises(ValueError, match=f"tekken.json: there is no 'special_tokens'.* {version} "):
        load_tekken(tmp_path, file)


@pytest.mark.parametrize("version", ["v1", "v2", "v3", "v7", "v11", "v13", "v15"])
def test_files_of_any_version_may_list_the_names(tmp_path: Path, version: str) -> None:
    enc = load_tekken(tmp_path, changed(("config", "version"), version))
    assert enc._special_tokens == {"<unk>": 0, "<s>": 1, "<SPECIAL_2>": 2, "<SPECIAL_3>": 3}


def test_vocabulary_ends_at_its_default_size(tmp_path: Path) -> None:
    enc = load_tekken(tmp_path, tekken())
    assert enc.n_vocab == TEKKEN_USED + TEKKEN_SPECIAL
    assert b"more than are used" not in enc.token_byte_values()
    smaller = load_tekken(tmp_path, changed(("config", "default_vocab_size"), 256 + TEKKEN_SPECIAL))
    assert smaller.encode("ab") == [97 + TEKKEN_SPECIAL, 98 + TEKKEN_SPECIAL]


def test_what_is_beyond_the_default_size_is_not_looked_at(tmp_path: Path) -> None:
    enc = load_tekken(tmp_path, changed(("vocab", TEKKEN_USED), None))
    assert enc.encode("ab") == [256 + TEKKEN_SPECIAL]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("config",), [], "config: must be an object, not a list"),
        (("config",), {}, "config: there is no 'default_num_special_tokens'"),
        (("config", "pattern"), None, "config.pattern: must be a string, not null"),
        (("config", "pattern"), "(a", "config.pattern: pattern '(a', character 0"),
        (("config", "pattern"), "\ud800", "config.pattern: has a lone surrogate"),
        (("config", "default_num_special_tokens"), "4", "config.default_num_special_tokens: must "),
        (("config", "default_num_special_tokens"), -1, "config: 262 tokens, -1 of them special"),
        (("config", "default_num_special_tokens"), 999, "config: 262 tokens, 999 of them special"),
        (("config", "default_num_special_tokens"), 1, "config: 262 tokens, 1 of them special, c"),
        (("config", "default_vocab_size"), 262.0, "config.default_vocab_size: must be an integer,"),
        (("config", "default_vocab_size"), True, "config.default_vocab_size: must be an integer,"),
        (("config", "default_vocab_size"), 2**40, "config: 1099511627776 tokens, 4 of them spec"),
        (("config", "default_vocab_size"), 104, "vocab: there is no token for the single byte 0x"),
        (("config", "version"), None, "config.version: must be a string, not null"),
        (("config", "version"), "v4", "config.version: version 'v4' is not known, only v1, v2, "),
        (("vocab", 7), "Bw==", "vocab[7]: must be an object, not a string"),
        (("vocab", 7), {"rank": 7}, "vocab[7]: there is no 'token_bytes'"),
        (("vocab", 7, "rank"), "7", "vocab[7].rank: must be an integer, not a string"),
        (("vocab", 7, "rank"), 8, "vocab[7].rank: must be 7"),
        (("vocab", 7, "token_bytes"), None, "vocab[7].token_bytes: must be a string, not null"),
        (("vocab", 7, "token_bytes"), "B", "vocab[7].token_bytes: not base64: "),
        (("vocab", 7, "token_bytes"), "中", "vocab[7].token_bytes: not base64: "),
        (("vocab", 7, "token_bytes"), "\ud800", "vocab[7].token_bytes: has a lone surrogate"),
        (("vocab", 7, "token_bytes"), "AA==", r"vocab[7]: the token b'\x00' comes twice"),
        (("vocab", 7, "token_bytes"), "YWI=", "vocab[256]: the token b'ab' comes twice"),
        (("special_tokens",), {}, "special_tokens: must be a list, not an object"),
        (("special_tokens", 1), "<s>", "special_tokens[1]: must be an object, not a string"),
        (("special_tokens", 1), {"rank": 1}, "special_tokens[1]: there is no 'token_str'"),
        (("special_tokens", 1, "rank"), None, "special_tokens[1].rank: must be an integer, not nu"),
        (("special_tokens", 1, "rank"), 0, "special_tokens[1]: the name '<s>' or the id 0 is not"),
        (("special_tokens", 1, "rank"), 4, "special_tokens[1]: the name '<s>' or the id 4 is not"),
        (("special_tokens", 1, "rank"), -1, "special_tokens[1]: the name '<s>' or the id -1 is n"),
        (("special_tokens", 1, "rank"), 3, "the special tokens do not have the ids from 0 to 3"),
        (("special_tokens", 1, "token_str"), "<unk>", "special_tokens[1]: the name '<unk>' or t"),
        (("special_tokens", 1, "token_str"), "", "special_tokens[1]: the name '' or the id 1 is"),
        (("special_tokens", 1, "token_str"), "\udfff", "special_tokens[1].token_str: has a lone"),
        (("special_tokens", 1, "token_str"), "<SPECIAL_2>", "the special tokens do not have the"),
    ],
    ids=lambda value: ascii(value)[:60],
)
def test_what_is_wrong_in_tekken(tmp_path: Path, path: Place, value: Any, message: str) -> None:
    reason = refusal(tmp_path / "tekken.json", lambda: load_tekken(tmp_path, changed(path, value)))
    assert reason.startswith(message)


def test_a_missing_single_byte_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"tekken.json: vocab: there is no token for .* 0x41"):
        load_tekken(tmp_path, changed(("vocab", 0x41, "token_bytes"), b64encode(b"zz").decode()))


def test_thousands_of_special_tokens(tmp_path: Path) -> None:
    file = tekken(10_000)
    file["special_tokens"] = [{"rank": n, "token_str": f"<{n}>"} for n in range(10_000)]
    assert load_tekken(tmp_path, file).n_vocab == TEKKEN_USED + 10_000


def test_a_number_does_not_fill_the_memory(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"config.default_num_special_tokens: must not be above"):
        load_tekken(tmp_path, tekken(100_000))


def load_js(folder: Path, **changed: Any) -> Any:
    file = {"pat_str": PATTERN, "special_tokens": {"<s>": 256}, "bpe_ranks": RANKS, **changed}
    left = {key: value for key, value in file.items() if value != "left out"}
    return load_json(folder, left, "o200k_base.json")


def test_lines_of_ids_in_a_row(tmp_path: Path) -> None:
    enc = load_js(tmp_path)
    assert enc.name == tmp_path.name
    assert enc.encode("he she<s>", allowed_special="all") == [300, 32, 301, 256]
    assert enc.n_vocab == 302
    assert enc.decode([301, 256]) == "she<s>"


def test_empty_lines_are_nothing(tmp_path: Path) -> None:
    assert load_js(tmp_path, bpe_ranks=f"\n{RANKS}\n\n! 900\n").encode("he") == [300]


def test_the_size_may_be_said(tmp_path: Path) -> None:
    ranks = run(0, *BYTES, b"he")
    for size in (258, 0, None, "left out"):
        enc = load_js(tmp_path, explicit_n_vocab=size, bpe_ranks=ranks, special_tokens={"<s>": 257})
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
    enc = load_js(tmp_path_factory.getbasetemp(), bpe_ranks="\n".join(lines), special_tokens={})
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
def test_what_is_wrong_in_js_tiktoken(
    tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    reason = refusal(tmp_path / "o200k_base.json", lambda: load_js(tmp_path, **changed))
    assert reason.startswith(message)


def load_grok(folder: Path, **changed: Any) -> Any:
    return load_json(folder, grok(**changed), "tokenizer.tok.json")


def test_digits_are_single(tmp_path: Path) -> None:
    enc = load_grok(tmp_path)
    assert enc.name == tmp_path.name
    assert enc.encode("he 12") == [257, 32, 49, 50]
    assert enc._pat_str == PATTERNS["llama3"].replace("{1,3}", "")
    assert enc.encode("<|separator|>a<|pad|>", allowed_special="all") == [260, 97, 259]
    assert enc.decode([260, 257]) == "<|separator|>he"


def test_a_file_may_have_its_own_pattern(tmp_path: Path) -> None:
    enc = load_grok(tmp_path, pat_str=PATTERNS["llama3"])
    assert enc.encode("he 123") == [257, 32, 258]
    assert load_grok(tmp_path, pat_str=None).encode("123") == [49, 50, 51]


def test_the_size_of_grok_may_be_said(tmp_path: Path) -> None:
    for size in (261, 0, None):
        assert load_grok(tmp_path, vocab_size=size).n_vocab == 261


def test_in_a_folder_it_comes_before_what_was_made_from_it(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("damaged, but not looked at")
    load_grok(tmp_path)
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
def test_what_is_wrong_in_grok(tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    reason = refusal(tmp_path / "tokenizer.tok.json", lambda: load_grok(tmp_path, **changed))
    assert reason.startswith(message)


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
        load_grok(tmp_path, regular_tokens=tokens)
    assert str(caught.value).endswith(message)
