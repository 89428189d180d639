"""``tekken.json``: ids begin with the special tokens, and bad files are refused by place."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import compat_bpe
from tests.examples import scaled

from .damage import check, some_damage, spread_damage

TOKENS = [*(bytes([byte]) for byte in range(256)), b"ab", b"abc", b"more than are used"]
SPECIAL = 4
USED = 258

Place = tuple[Any, ...]


def tekken(count: int = SPECIAL) -> dict[str, Any]:
    """A file with more tokens than it uses, and names for two of its special tokens."""
    return {
        "config": {
            "pattern": r" ?\p{L}+|\s+|[^\s\p{L}]",
            "num_vocab_tokens": len(TOKENS),
            "default_vocab_size": USED + count,
            "default_num_special_tokens": count,
            "version": "v13",
        },
        "vocab": [
            {"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(TOKENS)
        ],
        "special_tokens": [
            {"rank": 0, "token_str": "<unk>", "is_control": True},
            {"rank": 1, "token_str": "<s>", "is_control": True},
        ],
    }


def changed(path: Place, value: Any) -> dict[str, Any]:
    file = tekken()
    part: Any = file
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return file


def load(folder: Path, file: dict[str, Any]) -> compat_bpe.Encoding:
    path = folder / "tekken.json"
    path.write_text(json.dumps(file))
    return compat_bpe.load(path)


def test_ids_are_shifted_by_the_number_of_special_tokens(tmp_path: Path) -> None:
    enc = load(tmp_path, tekken())
    assert enc.encode("abc ab!") == [257 + SPECIAL, 32 + SPECIAL, 256 + SPECIAL, 33 + SPECIAL]
    assert enc.decode(enc.encode("naïve 中")) == "naïve 中"
    assert enc.name == tmp_path.name


def test_base64_is_read_as_the_reference_reads_it(tmp_path: Path) -> None:
    """``Tekkenizer`` calls ``base64.b64decode``, which skips what is no base64."""
    file = tekken()
    for entry in file["vocab"]:
        entry["token_bytes"] = "\n " + entry["token_bytes"].replace("Y", "*Y?") + "*"
        assert b64decode(entry["token_bytes"]) == TOKENS[entry["rank"]]
    assert load(tmp_path, file).encode("abc") == load(tmp_path, tekken()).encode("abc")


def test_special_tokens_that_are_not_listed_are_reserved(tmp_path: Path) -> None:
    enc = load(tmp_path, tekken())
    assert enc._special_tokens == {"<unk>": 0, "<s>": 1, "<SPECIAL_2>": 2, "<SPECIAL_3>": 3}
    assert enc.encode("<s>a<SPECIAL_3>", allowed_special="all") == [1, 97 + SPECIAL, 3]
    assert enc.decode([1, 2]) == "<s><SPECIAL_2>"


@pytest.mark.parametrize("count", [0, 2, 20, 30])
def test_files_without_a_list_have_the_names_of_old(tmp_path: Path, count: int) -> None:
    file = tekken(count)
    for version, listed in product(("v1", "v2", "v3", "v7"), ("null", "none")):
        file["config"]["version"] = version
        file["special_tokens"] = None
        if listed == "none":
            del file["special_tokens"]
        names = load(tmp_path, file)._special_tokens
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
        load(tmp_path, file)


@pytest.mark.parametrize("version", ["v1", "v2", "v3", "v7", "v11", "v13", "v15"])
def test_files_of_any_version_may_list_the_names(tmp_path: Path, version: str) -> None:
    enc = load(tmp_path, changed(("config", "version"), version))
    assert enc._special_tokens == {"<unk>": 0, "<s>": 1, "<SPECIAL_2>": 2, "<SPECIAL_3>": 3}


def test_vocabulary_ends_at_its_default_size(tmp_path: Path) -> None:
    enc = load(tmp_path, tekken())
    assert enc.n_vocab == USED + SPECIAL
    assert b"more than are used" not in enc.token_byte_values()
    smaller = load(tmp_path, changed(("config", "default_vocab_size"), 256 + SPECIAL))
    assert smaller.encode("ab") == [97 + SPECIAL, 98 + SPECIAL]


def test_what_is_beyond_the_default_size_is_not_looked_at(tmp_path: Path) -> None:
    assert load(tmp_path, changed(("vocab", USED), None)).encode("ab") == [256 + SPECIAL]


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
def test_message_names_the_place_and_the_reason(
    tmp_path: Path, path: Place, value: Any, message: str
) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        load(tmp_path, changed(path, value))
    assert str(caught.value).startswith(f"{tmp_path / 'tekken.json'}: {message}")


def test_a_missing_single_byte_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"tekken.json: vocab: there is no token for .* 0x41"):
        load(tmp_path, changed(("vocab", 0x41, "token_bytes"), b64encode(b"zz").decode()))


def test_thousands_of_special_tokens(tmp_path: Path) -> None:
    file = tekken(10_000)
    file["special_tokens"] = [{"rank": n, "token_str": f"<{n}>"} for n in range(10_000)]
    assert load(tmp_path, file).n_vocab == USED + 10_000


def test_a_number_does_not_fill_the_memory(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"config.default_num_special_tokens: must not be above"):
        load(tmp_path, tekken(100_000))


SMALL = json.dumps(tekken(), separators=(",", ":")).encode()


def is_right(enc: compat_bpe.Encoding) -> bool:
    """What is left of the file is a vocabulary of its own."""
    text = "abc said 123\r\n\x07é中 \x80"
    kept = "".join(enc.core.splitter.chunks(text))
    return enc.decode(enc.encode_ordinary(text)) == kept and enc.n_vocab <= len(TOKENS) + 10


@given(data=some_damage(SMALL))
@settings(max_examples=scaled(1000))
def test_damaged_files(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    check(tmp_path_factory.getbasetemp() / "damaged_tekken.json", data, is_right)


@pytest.mark.sweep
def test_damage_all_over(tmp_path: Path) -> None:
    for data in spread_damage(SMALL):
        check(tmp_path / "tekken.json", data, is_right)
