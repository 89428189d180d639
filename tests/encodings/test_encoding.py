"""``Encoding`` and its core; what they share with tiktoken is in tests/differential."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.encodings.core import CoreBPE

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


RANKS = {**{bytes([byte]): byte for byte in range(256)}, b"ab": 256, b"xyz": 257, b" ab": 258}
END = {"<end>": 300, "<e>": 301}


def core() -> CoreBPE:
    return CoreBPE(dict(RANKS), dict(END), r" ?[a-z]+|\s+(?!\S)|\s|[^a-z\s]")


def test_a_chunk_that_is_a_token_is_that_token_whatever_merging_gives() -> None:
    tested = core()
    assert tested.encode_ordinary("xyz ab") == [257, 258]
    assert tested.encode_single_piece(b"xyz") == [257]
    assert tested.model.merge(b"xyz") == [*b"xyz"]
    assert tested.count("xyz ab") == 2
    assert tested.count_chunk(" ab") == 1


def test_special_tokens_are_found_where_they_are_allowed() -> None:
    tested = core()
    assert tested.encode("ab<end> ab", {"<end>", "no such"}) == [256, 300, 258]
    assert tested.encode("<end>", {"<e>"}) == [*b"<", *b"end", *b">"]
    assert tested.encode_to_tiktoken_buffer("ab<e>", {"<e>"}).tolist() == [256, 301]
    assert tested.decode_bytes([300, 256]) == b"<end>ab"
    for allowed in (["<e>"], "<e>", None, {"<e>": 1}.keys()):
        with pytest.raises(TypeError, match="must be a set or 'all'"):
            tested.encode("ab", allowed)  # type: ignore[arg-type]
    with pytest.raises(UnicodeEncodeError):
        tested.encode("ab", {"\ud800"})


@pytest.mark.parametrize(
    ("text", "ids", "last"),
    [("ab ab", [256, 258], 1), ("ab cd", [256, 32, 99, 100], 3), ("ab<e>", [256, 301], 0)],
)
def test_ids_of_the_last_chunk(text: str, ids: list[int], last: int) -> None:
    found = [list(chunk) for chunk in core().ids_by_chunk(text)]
    assert [one for chunk in found for one in chunk] == core().encode_ordinary(text)


def test_a_single_token_is_found_by_its_bytes() -> None:
    tested = core()
    assert tested.encode_single_token(b" ab") == 258
    assert tested.encode_single_token(b"<e>") == 301
    for unknown in (b"abc", b"\xff<e>", b""):
        with pytest.raises(KeyError):
            tested.encode_single_token(unknown)
    with pytest.raises(TypeError, match="must be bytes, not str"):
        tested.encode_single_token("ab")  # type: ignore[arg-type]


def test_a_mergeable_token_comes_before_a_special_one_of_its_name() -> None:
    tested = CoreBPE({**RANKS}, {"ab": 400}, r"[a-z]+")
    assert tested.encode_single_token(b"ab") == 256
    assert tested.encode("ab", {"ab"}) == [400]


def test_bytes_that_end_within_a_character_are_one_chunk_with_the_last() -> None:
    tested = core()
    assert tested._encode_bytes("ab é".encode()[:-1]) == [256, 32, 0xC3]
    assert tested._encode_bytes(b"ab") == [256]


def test_the_bound_of_the_cache_is_in_chunks_and_in_proportion_of_passages() -> None:
    tested = core()
    tested.set_cache_limit(64)
    assert tested.cache_limit == 64
    assert tested._segment_ids.limit == tested._segment_counts.limit == 2
    long = "ab " * 1000
    assert tested.encode_ordinary(long) == tested.encode_ordinary(long) == [256, *[258] * 999, 32]
    assert tested.count(long) == 1001
    for held in (tested._chunk_ids, tested._segment_ids, tested._segment_counts):
        assert 0 < len(held) + len(held.older) <= held.limit
    tested.clear_cache()
    for held in (tested._chunk_ids, tested._segment_ids, tested._segment_counts):
        assert not held
        assert not held.older


def test_chunks_of_more_than_128_characters_are_not_remembered() -> None:
    tested = core()
    tested.encode_ordinary("x" * 128)
    assert len(tested._chunk_ids) == 1
    tested.encode_ordinary("y" * 129)
    assert len(tested._chunk_ids) == 1


def test_a_text_has_a_splitter_if_its_length_says_something() -> None:
    assert core().splitter_of("ab é") is not None
    assert core().splitter_of("\ud800") is None
    assert CoreBPE(RANKS, {}, "[a-z]+").splitter_of("ab") is None
    assert CoreBPE(RANKS, {}, r"(?<=a)b|\w|\W").splitter_of("ab") is None
    lacking = {token: rank for token, rank in RANKS.items() if token != b"q"}
    assert CoreBPE(lacking, {}, r"\w|\W").longest_token is None
    assert CoreBPE(lacking, {}, r"\w|\W").splitter_of("ab") is None


def test_tokens_sorted_are_a_new_list_each_time() -> None:
    tested = core()
    assert tested.token_byte_values() == sorted(RANKS)
    assert tested.token_byte_values() is not tested.token_byte_values()
