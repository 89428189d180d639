"""The core with tiktoken's methods: from text to ids and back, and what it refuses."""

from __future__ import annotations

import pytest

from compat_bpe.encodings.core import CoreBPE

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


def test_of_two_names_of_one_id_the_first_is_decoded() -> None:
    assert CoreBPE(RANKS, {"<a>": 300, "<b>": 300}, ".").decode_bytes([300]) == b"<a>"
