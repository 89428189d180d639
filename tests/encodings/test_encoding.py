"""``Encoding`` on its own terms; what it shares with tiktoken is in tests/differential."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding

BYTES = {bytes([i]): i for i in range(256)}


def make(**changes: object) -> Encoding:
    arguments: dict[str, object] = {
        "pat_str": r"\w+|\W+",
        "mergeable_ranks": BYTES,
        "special_tokens": {"<|end|>": 256},
    }
    return Encoding("test", **{**arguments, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"mergeable_ranks": {}}, "no mergeable tokens"),
        ({"mergeable_ranks": {**BYTES, b"ab": 7}}, "two mergeable tokens have the same rank"),
        ({"mergeable_ranks": {**BYTES, b"ab": -1}}, "not from 0 to 4294967294"),
        ({"mergeable_ranks": {**BYTES, b"ab": 1 << 32}}, "not from 0 to 4294967294"),
        ({"mergeable_ranks": {**BYTES, b"ab": 1.5}}, "not an integer"),
        ({"special_tokens": {"": 256}}, "empty name"),
        ({"explicit_n_vocab": 300}, "257 tokens up to id 256, but explicit_n_vocab is 300"),
        ({"pat_str": "(a"}, "character 0"),
    ],
)
def test_bad_vocabularies_are_refused(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        make(**changes)


def test_a_missing_byte_fails_only_where_it_is_needed() -> None:
    encoding = make(mergeable_ranks={b"a": 0, b"b": 1, b"ab": 2})
    assert encoding.encode_ordinary("abab") == [2, 2]
    with pytest.raises(ValueError, match="no token for the byte b'c'"):
        encoding.encode_ordinary("abc")


def test_lists_are_always_fresh() -> None:
    encoding = get_encoding("gpt2")
    for encode in (encoding.encode, encoding.encode_ordinary):
        first = encode("hello")
        first.append(1)
        assert encode("hello") == [31373]


def test_count_never_raises_on_a_special_token() -> None:
    encoding = get_encoding("o200k_base")
    text = "a <|endoftext|> b"
    with pytest.raises(ValueError, match=r"disallowed special token '<\|endoftext\|>'"):
        encoding.encode(text)
    assert encoding.count(text) == len(encoding.encode(text, disallowed_special=()))


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_cache_limit(limit: int) -> None:
    encoding = make()
    encoding.cache_limit = limit
    assert encoding.cache_limit == limit
    assert encoding.encode_ordinary("ab cd ab ef") == list(b"ab cd ab ef")
    recent = encoding.core._chunk_ids
    assert len(recent) + len(recent.older) <= limit


def test_a_negative_cache_limit_is_refused() -> None:
    with pytest.raises(ValueError, match="cache_limit is -1"):
        make().cache_limit = -1


def test_changing_the_ranks_changes_no_ids() -> None:
    shipped = get_encoding("gpt2")
    assert shipped.encode("hello") == [31373]
    del shipped._mergeable_ranks[b"hello"]
    for encoding in (shipped, get_encoding("r50k_base")):
        encoding.clear_cache()
        assert encoding.encode("hello") == [31373]
    del shipped._mergeable_ranks
    assert b"hello" in shipped._mergeable_ranks
    ranks = dict(BYTES)
    own = make(mergeable_ranks=ranks)
    assert own._mergeable_ranks is ranks
    ranks[b"ab"] = 300
    assert own.encode("ab") == [97, 98]


def test_clear_cache() -> None:
    encoding = make()
    encoding.encode_ordinary("ab cd")
    assert encoding.core._chunk_ids
    encoding.clear_cache()
    assert not encoding.core._chunk_ids


@given(st.text())
def test_count_is_the_number_of_ids(text: str) -> None:
    encoding = get_encoding("cl100k_base")
    assert encoding.count(text) == len(encoding.encode_ordinary(text))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_decoding_gives_the_text_back(text: str) -> None:
    encoding = get_encoding("o200k_base")
    assert encoding.decode(encoding.encode_ordinary(text)) == text


def test_a_text_of_many_passages() -> None:
    encoding = get_encoding("cl100k_base")
    line = "Ünïcode, a cut here? (😀 or there) and 123456 more.\n"
    ids = encoding.encode_ordinary(line)
    # The newlines are tokens of their own, so lines encode one by one.
    assert encoding.encode_ordinary(line * 20_000) == ids * 20_000
    assert encoding.count(line * 20_000) == len(ids) * 20_000


def test_of_two_special_names_of_one_id_the_first_is_decoded() -> None:
    encoding = make(special_tokens={"one": 256, "two": 256})
    assert encoding.encode("onetwo", allowed_special="all") == [256, 256]
    assert encoding.decode([256]) == "one"


def test_repr() -> None:
    assert repr(get_encoding("gpt2")) == "<Encoding 'gpt2'>"
