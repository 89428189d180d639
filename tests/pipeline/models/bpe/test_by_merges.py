"""Merging by a list, against the rule as it stands, on vocabularies such as no training gives."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compat_bpe.pipeline.byte_level import encode_bytes
from compat_bpe.pipeline.models.bpe.by_merges import ListedMergesEncoder, UnknownPolicy
from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder, merges_by_rank
from compat_bpe.pipeline.pypy.pairs import CompiledMerger
from tests.examples import scaled
from tests.pipeline.models.drawn import BYTE_NAMES, Pairs, listed_encoder, merge_lists


def by_the_rule(chunk: str, pairs: Pairs) -> list[str]:
    """Join the pair that is first in the list, where it is leftmost, as long as there is one."""
    parts = list(chunk)
    while True:
        neighbours = list(zip(parts, parts[1:]))
        listed = [(pairs.index(pair), i) for i, pair in enumerate(neighbours) if pair in pairs]
        if not listed:
            return parts
        _, i = min(listed)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]


@settings(max_examples=scaled(200))
@given(
    merge_lists(),
    st.randoms(use_true_random=False),
    st.lists(st.text("abc", max_size=30), max_size=5),
)
@example([("a", "b"), ("b", "c"), ("a", "bc")], None, ["abc"])  # by rank, "abc" is ab + c
def test_as_the_rule_says(pairs: Pairs, random: object, chunks: list[str]) -> None:
    names = ["".join(pair) for pair in pairs]
    if random is not None:
        random.shuffle(names)  # type: ignore[attr-defined]
    encoder, ids = listed_encoder(pairs, [*BYTE_NAMES, *names])
    for chunk in chunks:
        expected = [ids[part] for part in by_the_rule(chunk, pairs)]
        assert encoder.merge(chunk.encode()) == expected
        assert encoder._merge_pairs(chunk.encode()) == expected


#: The bytes of characters that share some of them, as they are written.
WIDE = encode_bytes("国囷𐐀".encode())


@given(
    st.one_of(merge_lists(), merge_lists("ab" + "".join(dict.fromkeys(WIDE)))),
    st.randoms(use_true_random=False),
    st.lists(st.text("ab 国囷𐐀", max_size=12), max_size=5),
)
@example([("a", "b"), ("b", "c"), ("a", "bc")], None, ["abc"])
@example([("a", "b"), ("b", "a"), ("ab", "a"), ("a", "ba")], None, ["ababab"])
def test_by_pairs_of_ids_as_the_rule_says(pairs: Pairs, random: object, chunks: list[str]) -> None:
    names = ["".join(pair) for pair in pairs]
    if random is not None:
        random.shuffle(names)  # type: ignore[attr-defined]
    encoder, ids = listed_encoder(pairs, [*BYTE_NAMES, *names])
    merger = CompiledMerger.of(encoder)
    assert merger is not None
    for chunk in map(str.encode, [*chunks, "国囷国𐐀"]):
        expected = [ids[part] for part in by_the_rule(encode_bytes(chunk), pairs)]
        assert merger.merge(chunk) == expected
        assert merger.merge(chunk) == expected  # by what is kept of the first time
        assert merger._short.merge(chunk) == expected
        assert merger._runs.merge(chunk) == expected


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


@settings(max_examples=scaled(200))
@given(merges_of_tokens(), st.lists(st.text("abc", max_size=30), max_size=5))
@example([("a", "a"), ("aa", "a"), ("a", "aa")], ["aaaaa", "aaa"])
@example([("b", "a"), ("a", "b"), ("a", "ba"), ("ab", "a")], ["ababa", "aba"])
def test_several_merges_of_a_token(pairs: Pairs, chunks: list[str]) -> None:
    encoder, ids = listed_encoder(pairs, [*BYTE_NAMES, *map("".join, pairs)])
    for chunk in chunks:
        expected = [ids[part] for part in by_the_rule(chunk, pairs)]
        assert encoder.merge(chunk.encode()) == expected
        assert encoder._merge_pairs(chunk.encode()) == expected


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
    assert encoder.merge(b"a" * 2999) == by_ids("a" * 2999, tokens, ids)


def by_ids(chunk: str, tokens: list[str], ids: dict[str, int]) -> list[int]:
    # By the first merge all of it becomes pairs, which no other merge joins.
    assert len(chunk) % 2
    return [ids["aa"]] * (len(chunk) // 2 - 1) + [ids["aaa"]]


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
    with pytest.raises(ValueError, match=r"no token for 'x', and not the token for .*, '!'$"):
        policy._replace(token="!").first_symbols(text, text, known)


def test_lengths_where_bytes_are_unknown() -> None:
    names = [*BYTE_NAMES, "éa", "<unk>"]
    names.remove("b")
    ids = {name: number for number, name in enumerate(names)}
    encoder = ListedMergesEncoder(ids, (["é"], ["a"]), UnknownPolicy("<unk>"))
    unknown = ids["<unk>"], "<unk>", 1
    assert encoder.find(b"\xe9ab\xe9b") == [
        (ids["éa"], "éa", 3),
        unknown,
        (ids["é"], "é", 2),
        unknown,
    ]
