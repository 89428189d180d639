"""BPE over bytes: by rank and by a list of merges, the fast ways give what the rule gives."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.pipeline.byte_level import encode_bytes
from compat_bpe.pipeline.models.bpe.by_merges import ListedMergesEncoder, UnknownPolicy
from compat_bpe.pipeline.models.bpe.by_rank import _LONG, BytePairEncoder, merge, merges_by_rank
from compat_bpe.pipeline.models.bpe.by_rank import _NO_RANK as NO_LIMIT
from compat_bpe.pipeline.models.bpe.merging import WINDOW, merge_in_windows
from compat_bpe.pipeline.pypy.pairs import CompiledMerger
from tests.drawn_models import (
    BYTE_NAMES,
    Pairs,
    letter_chunks,
    letter_ranks,
    letters,
    listed_encoder,
    merge_lists,
)
from tests.examples import scaled


def by_the_rule(chunk: bytes, ranks: dict[bytes, int]) -> list[bytes]:
    """The rule of merging, with no thought for speed."""
    parts = [chunk[i : i + 1] for i in range(len(chunk))]
    while True:
        pairs = map(b"".join, zip(parts, parts[1:]))
        joined = [(ranks[pair], i) for i, pair in enumerate(pairs) if pair in ranks]
        if not joined:
            return parts
        _, i = min(joined)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


@given(letter_chunks, letter_ranks())
@example(b"aaaaa", {b"a": 2, b"aa": 0, b"aaa": 1})
@example(b"abcabc", {b"a": 3, b"b": 4, b"c": 5, b"bc": 1, b"ab": 0, b"abc": 2})
@example(b"aba", {b"": 0, b"a": 1, b"b": 2, b"ab": 3})
@example(b"", {b"a": 0})
@example(b"ab", {b"a": 1, b"b": 2, b"ab": 0})
def test_all_ways_follow_the_rule(chunk: bytes, ranks: dict[bytes, int]) -> None:
    expected = by_the_rule(chunk, ranks)
    assert merge(chunk, ranks) == expected
    ids = [ranks[part] for part in expected]
    encoder = BytePairEncoder(ranks)
    assert encoder._merge_list(NO_LIMIT, chunk) == ids
    assert encoder._merge_heap(NO_LIMIT, chunk)[0] == ids


@given(st.lists(letters, min_size=_LONG - 5, max_size=_LONG + 5).map(b"".join), letter_ranks())
def test_no_seam_where_the_way_changes(chunk: bytes, ranks: dict[bytes, int]) -> None:
    expected = [ranks[part] for part in by_the_rule(chunk, ranks)]
    assert BytePairEncoder(ranks).merge(chunk) == expected


def test_a_whole_token_needs_no_merges() -> None:
    # Merging could not build it: there is no token of two bytes.
    encoder = BytePairEncoder({b"a": 0, b"b": 1, b"c": 2, b"abc": 3})
    assert encoder.encode(b"abc") == (3,)
    assert encoder.merge(b"abc") == [0, 1, 2]


@pytest.mark.parametrize("chunk", [b"ab", b"b", b"a" * 100 + b"b"])
def test_a_missing_byte_is_named(chunk: bytes) -> None:
    with pytest.raises(ValueError, match="no token for the byte b'b'"):
        BytePairEncoder({b"a": 0}).encode(chunk)


@given(letter_chunks, letter_ranks())
@example(b"<aac", {b"a": 3, b"b": 4, b"c": 2, b"aac": 0, b"aa": 1})
def test_a_token_is_always_merged_from_the_same_two_parts(
    chunk: bytes, ranks: dict[bytes, int]
) -> None:
    parts_of = dict(merges_by_rank(ranks))
    parts = [chunk[i : i + 1] for i in range(len(chunk))]
    while len(parts) > 1:
        pairs = [
            (ranks.get(left + right, NO_LIMIT), i)
            for i, (left, right) in enumerate(zip(parts, parts[1:]))
        ]
        lowest, i = min(pairs)
        if lowest == NO_LIMIT:
            break
        made = parts[i] + parts[i + 1]
        assert parts_of[made] == (parts[i], parts[i + 1])
        parts[i : i + 2] = [made]
    encoder = BytePairEncoder(ranks)
    for token, found in parts_of.items():
        assert (found is not None) == encoder.makes(token) == (merge(token, ranks) == [token])


def test_pairs_are_the_same_looked_up_singly_and_all_at_once() -> None:
    ranks = {bytes([byte]): 1000 + byte for byte in range(256)}
    ranks.update({bytes([7, other]): 999 - other for other in range(0, 256, 3)})
    encoder = BytePairEncoder(ranks)
    for _ in range(2):
        for other in (*range(255, -1, -1), *range(256)):
            chunk = bytes([7, other])
            assert [encoder.merge(chunk)] == [[ranks[part] for part in merge(chunk, ranks)]]
    # A first byte that many have followed has a list, one that few have does not.
    assert isinstance(encoder._first_pairs[7], list)
    encoder.merge(b"\x08\x09")
    assert not isinstance(encoder._first_pairs[8], list)


#: What two neighbours make, and their rank.
Rules = dict[tuple[int, int], tuple[int, int]]


def merged(rules: Rules, first: list[int]) -> tuple[list[int], list[int]]:
    """Merge by the plain rule: the lowest rank, the leftmost of these."""
    symbols, starts = first[:], list(range(len(first)))
    while True:
        pairs = [rules.get(pair, (99, 0)) for pair in zip(symbols, symbols[1:])]
        rank, made = min(pairs, default=(99, 0), key=lambda pair: pair[0])
        if rank == 99:
            return symbols, starts
        at = [pair[0] for pair in pairs].index(rank)
        symbols[at : at + 2] = [made]
        del starts[at + 1]


some_symbols = st.integers(0, 5)
some_rules = st.dictionaries(
    st.tuples(some_symbols, some_symbols), st.tuples(st.integers(0, 6), some_symbols), max_size=20
)


@given(
    some_rules,
    st.lists(st.integers(0, 3), max_size=20),
    st.integers(1, 20),
    st.integers(2, 12),
    st.integers(0, 5),
)
@settings(max_examples=scaled(1000))
def test_any_rule_of_neighbours(
    rules: Rules, row: list[int], times: int, window: int, overlap: int
) -> None:
    first = (row * times)[:120]
    found, starts = merge_in_windows(
        len(first), lambda low, high: merged(rules, first[low:high]), window, overlap
    )
    assert (found, list(starts)) == merged(rules, first)


def test_rules_without_a_junction_are_merged_at_once() -> None:
    # Each symbol swallows its right neighbour, whatever is in it.
    swallow = {(0, 0): (0, 1), (1, 0): (0, 2), (2, 0): (0, 1)}
    first = [0] * 500
    found, _ = merge_in_windows(500, lambda low, high: merged(swallow, first[low:high]), 16, 4)
    assert found == merged(swallow, first)[0]


@pytest.mark.parametrize("alphabet", ["a", "ab", "etaoin"])
def test_long_chunks(alphabet: str) -> None:
    encoder = BytePairEncoder(get_encoding("gpt2")._mergeable_ranks)
    chosen = random.Random(28)
    chunk = "".join(chosen.choices(alphabet, k=2 * WINDOW + 77)).encode()
    assert encoder.merge(chunk) == encoder._merge_heap(1 << 32, chunk)[0]


_LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
import compat_bpe
print(compat_bpe.get_encoding("cl100k_base").count("a" * 4_000_000))
"""


@pytest.mark.sweep
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is limited on Linux")
def test_a_chunk_of_megabytes_takes_little_memory() -> None:
    # Merged at once, it took 580 MB.
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED], capture_output=True, text=True, timeout=100
    )
    assert done.stdout == "500000\n", done.stderr


def by_the_list(chunk: str, pairs: Pairs) -> list[str]:
    """Join the pair that is first in the list, where it is leftmost, as long as there is one."""
    parts = list(chunk)
    while True:
        neighbours = list(zip(parts, parts[1:]))
        listed = [(pairs.index(pair), i) for i, pair in enumerate(neighbours) if pair in pairs]
        if not listed:
            return parts
        _, i = min(listed)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


def test_of_two_merges_of_one_pair_the_later_counts() -> None:
    encoder, ids = listed_encoder([("a", "b"), ("b", "c"), ("a", "b")], [*BYTE_NAMES, "ab", "bc"])
    merger = CompiledMerger.of(encoder)
    assert merger is not None
    assert merger.merge(b"abc") == encoder.merge(b"abc") == [ids["a"], ids["bc"]]


def test_lists_that_do_not_fit_into_a_table_of_pairs() -> None:
    def of(ids: dict[str, int]) -> CompiledMerger | None:
        return CompiledMerger.of(ListedMergesEncoder(ids, (["a"], ["b"]), UnknownPolicy()))

    ids = {name: number for number, name in enumerate([*BYTE_NAMES, "ab"])}
    assert of(ids) is not None
    assert of({**ids, "ab": 1 << 20}) is None
    assert of({**ids, "ab": -1}) is None
    assert of({**ids, "ab": ids["a"]}) is None
    del ids["z"]
    assert of(ids) is None


@given(merge_lists(), st.text("abc", max_size=30))
def test_if_ranks_suffice_they_give_the_same(pairs: Pairs, chunk: str) -> None:
    encoder, _ = listed_encoder(pairs, [*BYTE_NAMES, *map("".join, pairs)])
    if encoder.ranks_suffice():
        assert encoder.merge(chunk.encode()) == BytePairEncoder(encoder.ranks).merge(chunk.encode())
        listed = {(left.encode(), right.encode()) for left, right in pairs}
        assert listed.issuperset(parts for _, parts in merges_by_rank(encoder.ranks))


@st.composite
def merges_of_tokens(draw: st.DrawFn) -> Pairs:
    """Merges of one token after the other, of each all that there are, or some."""
    tokens = list(dict.fromkeys("".join(pair) for pair in draw(merge_lists())))
    known = {*"abc", *tokens}
    splits = [
        [(name[:at], name[at:]) for at in range(1, len(name)) if {name[:at], name[at:]} <= known]
        for name in tokens
    ]
    kept = [draw(st.permutations(pairs)) for pairs in splits]
    if draw(st.booleans()):
        kept = [pairs[: draw(st.integers(1, len(pairs)))] for pairs in kept]
    return [pair for pairs in kept for pair in pairs]


#: The bytes of characters that share some of them, as they are written.
WIDE = encode_bytes("国囷𐐀".encode())
merges_of_letters = merge_lists("ab" + "".join(dict.fromkeys(WIDE)))


@settings(max_examples=scaled(500))
@given(
    st.one_of(merge_lists(), merges_of_letters, merges_of_tokens()),
    st.randoms(use_true_random=False),
    st.lists(st.text("abc", max_size=30) | st.text("ab 国囷𐐀", max_size=12), max_size=5),
)
@example([("a", "b"), ("b", "c"), ("a", "bc")], None, ["abc"])  # by rank, "abc" is ab + c
@example([("a", "b"), ("b", "a"), ("ab", "a"), ("a", "ba")], None, ["ababab"])
@example([("a", "a"), ("aa", "a"), ("a", "aa")], None, ["aaaaa", "aaa"])
@example([("b", "a"), ("a", "b"), ("a", "ba"), ("ab", "a")], None, ["ababa", "aba"])
def test_all_ways_follow_the_list(pairs: Pairs, random: object, chunks: list[str]) -> None:
    names = ["".join(pair) for pair in pairs]
    if random is not None:
        random.shuffle(names)  # type: ignore[attr-defined]
    encoder, ids = listed_encoder(pairs, [*BYTE_NAMES, *names])
    merger = CompiledMerger.of(encoder)
    assert merger is not None
    for chunk in map(str.encode, [*chunks, "国囷国𐐀"]):
        expected = [ids[part] for part in by_the_list(encode_bytes(chunk), pairs)]
        assert encoder.merge(chunk) == expected
        assert encoder._merge_pairs(chunk) == expected
        assert merger.merge(chunk) == expected
        assert merger.merge(chunk) == expected  # by what is kept of the first time
        assert merger._short.merge(chunk) == expected
        assert merger._runs.merge(chunk) == expected


def test_all_merges_of_each_token_are_as_good_as_ranks() -> None:
    pairs = [("a", "b"), ("b", "c"), ("a", "bc"), ("ab", "c")]
    encoder, ids = listed_encoder(pairs, [*BYTE_NAMES, "ab", "bc", "abc"])
    assert encoder.ranks_suffice()
    assert encoder.merge(b"abc") == [ids["abc"]]


def test_a_merge_that_ranks_would_do_otherwise_is_found() -> None:
    pairs = [("a", "b"), ("b", "c"), ("a", "bc")]
    encoder, ids = listed_encoder(pairs, [*BYTE_NAMES, "ab", "bc", "abc"])
    assert not encoder.ranks_suffice()
    assert encoder.merge(b"abc") == [ids["ab"], ids["c"]]
    assert encoder.merge(b"xbcab") == [ids["x"], ids["bc"], ids["ab"]]


def test_long_chunks_take_no_longer_than_they_should() -> None:
    pairs = [("a", "b"), ("b", "c"), ("a", "bc"), ("abc", "abc")]
    encoder, ids = listed_encoder(pairs, [*BYTE_NAMES, "ab", "bc", "abc", "abcabc"])
    assert encoder.merge(b"abc" * 100_000) == [ids["ab"], ids["c"]] * 100_000


def test_a_chain_of_tokens_is_no_recursion() -> None:
    tokens = ["a" * length for length in range(2, 3000)]
    encoder, ids = listed_encoder([(token[:-1], "a") for token in tokens], [*BYTE_NAMES, *tokens])
    # By the first merge all of it becomes pairs, which no other merge joins.
    assert encoder.merge(b"a" * 2999) == [ids["aa"]] * 1498 + [ids["aaa"]]


@pytest.mark.parametrize(
    ("policy", "symbols"),
    [
        (UnknownPolicy(), [("a", 1), ("b", 1)]),
        (UnknownPolicy("?"), [("a", 1), ("?", 1), ("?", 2), ("b", 1), ("?", 3), ("?", 1)]),
        (UnknownPolicy("?", fuse=True), [("a", 1), ("?", 3), ("b", 1), ("?", 4)]),
        # Bytes overtake what is unknown before them.
        (
            UnknownPolicy("?", byte_fallback=True),
            [("a", 1), ("<0xC3>", 1), ("<0xA9>", 1), ("?", 1), ("b", 1), ("?", 3), ("?", 1)],
        ),
    ],
)
def test_what_is_unknown(policy: UnknownPolicy, symbols: list[tuple[str, int]]) -> None:
    known = dict.fromkeys(["a", "b", "?", "<0xC3>", "<0xA9>", "<0xE4>"], 0)
    text = "axéb中z"
    assert policy.first_symbols(text, text, known) == symbols
    with pytest.raises(ValueError, match=r"no token for 'x', and lacks the token for .*, '!'$"):
        policy._replace(token="!").first_symbols(text, text, known)
