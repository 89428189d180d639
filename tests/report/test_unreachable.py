"""Unreachable tokens: what is called so comes out of no text."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE, encode_bytes
from compat_bpe.report.unreachable import Unreachable, _Rules, unreachable_tokens

BYTES = [bytes([byte]) for byte in range(256)]
#: Bytes that UTF-8 never has.
NEVER = {bytes([byte]) for byte in (0xC0, 0xC1, *range(0xF5, 0x100))}

#: Patterns with what an automaton has to leave open: conditions, orders, groups that keep what they
#: took; the last one is left to tell by merging alone.
PATTERNS = [
    r"(?s:.+)",
    r" ?[a-z]+|\d{1,2}| ?[^\sa-z\d]+|\s+(?!\S)|\s",
    r"a(?=b)|b+?|\w++|(?i:A)? +",
    r"(?:ab|a)(?>b?1)|[^1]|1(?!1)",
    r"(?<=a)b|\b\w|\W",
    "[ab]+",
]
CHARACTERS = ["a", "b", "1", " ", "é"]
#: All texts of up to three characters, and some longer ones.
TEXTS = ["".join(text) for length in range(4) for text in product(CHARACTERS, repeat=length)]
TEXTS += ["".join(text) for text in product(["ab", "b1", "  ", "aé"], repeat=4)]


def encoding_of(tokens: list[bytes], pattern: str, ranks: list[int] | None = None) -> Encoding:
    numbers = range(len(tokens)) if ranks is None else ranks
    return Encoding(
        "own", pat_str=pattern, mergeable_ranks=dict(zip(tokens, numbers)), special_tokens={}
    )


def found_in(encoding: Encoding) -> dict[bytes, str]:
    """What is called unreachable but for the bytes that UTF-8 never has, and why.

    The rules have to see it alone: what gives itself they must not rule out, either.
    """
    found = {one.token: one.reason for one in unreachable_tokens(encoding)}
    rules = _Rules(encoding)
    reasons = {one: rules.reason(one, number) for one, number in encoding.ordinary_tokens().items()}
    assert found == {one: reason for one, reason in reasons.items() if reason is not None}
    assert {found.pop(byte) for byte in NEVER} == {"not UTF-8"}
    return {token: str(reason) for token, reason in found.items()}


token = st.text(CHARACTERS, min_size=1, max_size=4).map(str.encode)
cut_token = st.builds(lambda whole, start: whole[start:] or whole, token, st.integers(0, 2))


@given(st.sets(st.one_of(token, cut_token)), st.sampled_from(PATTERNS), st.randoms())
def test_no_text_gives_them(some: set[bytes], pattern: str, order: Any) -> None:
    tokens = list(dict.fromkeys([*BYTES, *sorted(some)]))
    ranks = list(range(len(tokens)))
    if order.random() < 0.5:
        order.shuffle(ranks)  # some tokens are made by no merge then
    encoding = encoding_of(tokens, pattern, ranks)
    rules = _Rules(encoding)
    ranked = encoding.ordinary_tokens()
    ruled_out = {number for one, number in ranked.items() if rules.reason(one, number)}
    # What gives itself is not even looked at.
    assert {one.id for one in unreachable_tokens(encoding)} <= ruled_out
    for text in TEXTS:
        assert ruled_out.isdisjoint(encoding.encode_ordinary(text)), text


def test_reasons() -> None:
    tokens = [
        *BYTES,
        *(b" a", b"ab", b"12", b"123", b"a ", b"a1"),
        *("é".encode(), b"\xa9a", b"a\xc3", b"\xa9 "),
        *(b"\xc3a", b"\xe9\xa0\x80\x80", b"\x80\x80\x80\x80", b"\xed\xa0", b"\xe0\x80"),
        b"abab1",
    ]
    encoding = encoding_of(tokens, r" ?[a-z\xe9]+|\d{1,2}|\s|[^\sa-z\d\xe9]")
    no_utf8 = [b"\xc3a", b"\xe9\xa0\x80\x80", b"\x80\x80\x80\x80", b"\xed\xa0", b"\xe0\x80"]
    # Numbers are of two digits at most.
    cut = [b"123", b"a ", b"a1", b"\xa9 ", b"abab1"]
    assert found_in(encoding) == {
        **dict.fromkeys(no_utf8, "not UTF-8"),
        **dict.fromkeys(cut, "cut"),
    }


def test_what_the_pattern_leaves_out_is_in_no_chunk() -> None:
    encoding = encoding_of([*BYTES, b"ab", b"aA"], "[a-z]+|[^ -~]")
    cut = [bytes([byte]) for byte in range(0x20, 0x7F) if not ord("a") <= byte <= ord("z")]
    assert found_in(encoding) == dict.fromkeys([*cut, b"aA"], "cut")


def test_parts_of_characters_by_the_characters_they_can_be_of() -> None:
    # What begins with E5 are letters; with E3 80, signs, too; and C3 97 is the sign ×.
    tokens = [*BYTES, b"\xe3\x80", b"1\xe5", b"1\xe3\x80", b"1\xc3", b"\x97\xe5"]
    found = found_in(encoding_of(tokens, r"\p{L}+|[^\p{L}]+"))
    assert found == {b"1\xe5": "cut"}


def test_a_token_that_is_not_merged_may_be_a_chunk() -> None:
    tokens = [*BYTES, b"abc", b"bc1", b"1bc", b"x\xc3"]
    # "abc" has no parts of two tokens, but is looked up; "bc1" is never a chunk by itself.
    assert found_in(encoding_of(tokens, "abc|bc1b|1bc(?=1)|(?s:.)")) == {
        b"bc1": "not merged",
        b"x\xc3": "cut",
    }


def test_conditions_and_optional_rounds_are_no_reason() -> None:
    # Three spaces are looked up, before a condition; "1bc" has one round of three.
    tokens = [*BYTES, b"   ", b"1bc", b"111bc", b"1111bc"]
    encoding = encoding_of(tokens, r"\s+(?!\S)|1{1,3}bc|(?s:.)")
    assert encoding.encode("   ") == [256]
    assert encoding.encode("1bc111bc1111bc") == [257, 258, ord("1"), 258]
    assert found_in(encoding) == {b"1111bc": "cut"}


def test_the_end_of_a_character_of_four_bytes() -> None:
    tokens = [*BYTES, b"\x9f\x98", b"\x9f\x98\x80", b"\x80\xf0\x9f"]
    encoding = encoding_of(tokens, "(?s:.)")
    assert encoding.encode("😀") == [0xF0, 257]
    assert found_in(encoding) == {b"\x80\xf0\x9f": "cut"}


def test_ranks_out_of_order() -> None:
    # "abc" ranks below "ab", of which it is made all the same.
    tokens = [*BYTES, b"abc", b"ab", b"bcd"]
    encoding = encoding_of(tokens, "(?s:.+)")
    assert encoding.encode("xabcx") == [120, 256, 120]
    assert found_in(encoding) == {}
    # Only as a whole: "bc" is no token.
    assert encoding.encode("bcd") == [258]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("name", "step"), [("gpt2", 1), ("cl100k_base", 5), ("o200k_base", 12), ("deepseek_v4", 12)]
)
def test_shipped_encodings(name: str, step: int) -> None:
    encoding = get_encoding(name)
    tokens = encoding.ordinary_tokens()
    some = list(dict.fromkeys([*BYTES, *list(tokens)[::step]]))
    found = list(unreachable_tokens(encoding, some))
    assert found == [Unreachable(tokens[byte], byte, "not UTF-8") for byte in sorted(NEVER)]
    # The rules themselves never rule out what gives itself.
    rules = _Rules(encoding)
    assert [one for one in some if rules.reason(one, tokens[one])] == sorted(NEVER)


def test_a_shipped_vocabulary_with_another_pattern() -> None:
    # Of cl100k_base, by a pattern that takes single digits: numbers cannot come.
    shipped = get_encoding("cl100k_base")
    ranks = shipped._mergeable_ranks
    encoding = Encoding(
        "digits",
        pat_str=shipped._pat_str.replace(r"\p{N}{1,3}+", r"\p{N}"),
        mergeable_ranks=ranks,
        special_tokens={},
    )
    numbers = [str(number).encode() for number in range(1000)]
    found = {one.token: one.reason for one in unreachable_tokens(encoding, numbers)}
    assert found == {number: "cut" for number in numbers if len(number) > 1}


def test_tokens_to_look_at_are_mergeable_ones() -> None:
    with pytest.raises(KeyError):
        list(unreachable_tokens(get_encoding("gpt2"), [b"no such token"]))


def tokenizer(folder: Path, **model: Any) -> Encoding:
    names = [*BYTE_TO_UNICODE.values(), "ab", "abc", "xyz"]
    content: dict[str, Any] = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "ByteLevel",
            "add_prefix_space": False,
            "trim_offsets": True,
            "use_regex": True,
        },
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
        "model": {
            "type": "BPE",
            "vocab": {name: number for number, name in enumerate(names)},
            "merges": ["a b", "ab c"],
            **model,
        },
    }
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(content), "utf-8")
    return load(path)


def test_a_list_of_merges(tmp_path: Path) -> None:
    # Nothing makes "xyz": without merges being ignored it does not come even as a chunk.
    assert found_in(tokenizer(tmp_path)) == {b"xyz": "not merged"}
    assert found_in(tokenizer(tmp_path, ignore_merges=True)) == {}


def test_added_tokens_are_no_mergeable_ones(tmp_path: Path) -> None:
    encoding = tokenizer(tmp_path)
    content = json.loads((tmp_path / "tokenizer.json").read_text("utf-8"))
    flags = dict.fromkeys(("special", "normalized", "lstrip", "rstrip", "single_word"), False)
    content["added_tokens"] = [{"id": 258, "content": "xyz", **flags}]
    (tmp_path / "tokenizer.json").write_text(json.dumps(content), "utf-8")
    with_added = load(tmp_path)
    assert encoding.ordinary_tokens().keys() - with_added.ordinary_tokens().keys() == {b"xyz"}
    assert found_in(with_added) == {}


FALLBACK = [f"<0x{byte:02X}>" for byte in range(256)]


@pytest.mark.parametrize(
    "unknown", [{"byte_fallback": True}, {"unk_token": "?!"}, {"unk_token": None}]
)
def test_tokens_in_place_of_unknown_bytes(tmp_path: Path, unknown: dict[str, Any]) -> None:
    known = [name for byte, name in BYTE_TO_UNICODE.items() if byte not in (0xA9, 0x62)]
    names = [*known, *FALLBACK, "?!", "?!a", "a?!", "ac", "<0x62>a", encode_bytes(b"\xc3a"), "zz"]
    vocabulary = {name: number for number, name in enumerate(dict.fromkeys(names))}
    merges = ["?! a", "a ?!", "a c", "<0x62> a", f"{encode_bytes(bytes([0xC3]))} a"]
    encoding = tokenizer(tmp_path, vocab=vocabulary, merges=merges, **unknown)
    ruled_out = {one.id for one in unreachable_tokens(encoding)}
    assert vocabulary["zz"] in ruled_out
    for text in map("".join, product("abcé?!", repeat=4)):
        assert ruled_out.isdisjoint(encoding.encode_ordinary(text)), text
