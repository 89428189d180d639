"""Merging: the fast ways against the rule, on vocabularies of every kind."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.pipeline.models.bpe import by_rank as byte_pair
from compat_bpe.pipeline.models.bpe.by_rank import _LONG, BytePairEncoder, merge, merges_by_rank
from compat_bpe.pipeline.models.bpe.by_rank import _NO_RANK as NO_LIMIT

LETTERS = [b"a", b"b", b"c"]
alphabet = st.sampled_from(LETTERS)
chunks = st.lists(alphabet, max_size=40).map(b"".join)
tokens = st.lists(alphabet, min_size=1, max_size=6).map(b"".join)


@st.composite
def vocabularies(draw: st.DrawFn) -> dict[bytes, int]:
    """The letters and any tokens, with any ranks: also such as no training would give."""
    chosen = [*LETTERS, *draw(st.lists(tokens, unique=True, max_size=20))]
    chosen = list(dict.fromkeys(chosen))
    ranks = draw(st.permutations(range(len(chosen))))
    return dict(zip(chosen, ranks))


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


@given(chunks, vocabularies())
@example(b"aaaaa", {b"a": 2, b"aa": 0, b"aaa": 1})
@example(b"abcabc", {b"a": 3, b"b": 4, b"c": 5, b"bc": 1, b"ab": 0, b"abc": 2})
@example(b"aba", {b"": 0, b"a": 1, b"b": 2, b"ab": 3})
def test_all_ways_follow_the_rule(chunk: bytes, ranks: dict[bytes, int]) -> None:
    expected = by_the_rule(chunk, ranks)
    assert merge(chunk, ranks) == expected
    ids = [ranks[part] for part in expected]
    encoder = BytePairEncoder(ranks)
    assert encoder._merge_list(NO_LIMIT, chunk) == ids
    assert encoder._merge_heap(NO_LIMIT, chunk) == ids


@given(st.lists(alphabet, min_size=_LONG - 5, max_size=_LONG + 5).map(b"".join), vocabularies())
def test_no_seam_where_the_way_changes(chunk: bytes, ranks: dict[bytes, int]) -> None:
    expected = [ranks[part] for part in by_the_rule(chunk, ranks)]
    assert BytePairEncoder(ranks).merge(chunk) == expected


@pytest.mark.parametrize("chunk", [b"", b"a", b"ab", b"abc"])
def test_small_chunks(chunk: bytes) -> None:
    ranks = {b"a": 1, b"b": 2, b"c": 3, b"ab": 0}
    encoder = BytePairEncoder(ranks)
    expected = [ranks[part] for part in by_the_rule(chunk, ranks)]
    assert encoder._merge_list(NO_LIMIT, chunk) == encoder._merge_heap(NO_LIMIT, chunk) == expected


def test_a_whole_token_needs_no_merges() -> None:
    # Merging could not build it: there is no token of two bytes.
    encoder = BytePairEncoder({b"a": 0, b"b": 1, b"c": 2, b"abc": 3})
    assert encoder.encode(b"abc") == (3,)
    assert encoder.merge(b"abc") == [0, 1, 2]


@pytest.mark.parametrize("chunk", [b"ab", b"b", b"a" * 100 + b"b"])
def test_a_missing_byte_is_named(chunk: bytes) -> None:
    with pytest.raises(ValueError, match="no token for the byte b'b'"):
        BytePairEncoder({b"a": 0}).encode(chunk)


@given(chunks, vocabularies())
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


BYTES = {bytes([i]): i for i in range(256)}
#: Of one to four bytes; the first three of two bytes and the two of three begin or end alike.
CHARS = "aéĩѩ中丮😀"
few = st.lists(st.sampled_from(CHARS), min_size=1, max_size=4)
texts = few.flatmap(lambda chars: st.text(chars, min_size=1, max_size=30))


@st.composite
def character_vocabularies(draw: st.DrawFn) -> dict[bytes, int]:
    """Bytes, most characters with what they are made of, and stretches that begin anywhere."""
    tokens: set[bytes] = set()
    for char in draw(st.sets(st.sampled_from(CHARS[1:]), min_size=3)):
        data = char.encode()
        tokens.update(data[:end] for end in range(2, len(data) + 1))
    stretches = st.text(CHARS, max_size=4)
    for text, start, end in draw(
        st.lists(st.tuples(stretches, st.integers(0, 3), st.integers(0, 3)), max_size=12)
    ):
        tokens.add(text.encode()[start : len(text.encode()) - end])
    longer = sorted(token for token in tokens if len(token) > 1)
    # By length as training would have it, or in any order.
    longer = draw(st.permutations(longer)) if draw(st.booleans()) else sorted(longer, key=len)
    return {**BYTES, **{token: 256 + number for number, token in enumerate(longer)}}


@given(texts, character_vocabularies())
@example("ééé", {**BYTES, "é".encode(): 257, "é".encode()[1:] + "é".encode()[:1]: 256})
@example("éaé", {**BYTES, "é".encode(): 257, "éa".encode(): 256})
@example("é中", {**BYTES, "é".encode(): 256, "é中".encode()[:3]: 257})
# Read as text, a part of this character looks like the character itself.
@example("\ufffd\ufffd", {**BYTES, "\ufffd".encode(): 257, "\ufffd".encode()[:2]: 256})
def test_merging_characters_is_merging(text: str, ranks: dict[bytes, int]) -> None:
    chunk = text.encode()
    encoder = BytePairEncoder(ranks)
    found = encoder.merge_characters(chunk)
    assert found is None or found == [ranks[part] for part in by_the_rule(chunk, ranks)]


@pytest.mark.parametrize(
    ("tokens", "is_sure"),
    [
        (["é", "éé", "aé"], True),
        ([b"a\xc3", "é"], False),  # ends with a part of it, and comes before it
        (["é", b"a\xc3"], True),
        ([b"\xa9a", "é"], False),
        ([b"\xa9\xc3", "é"], False),
        (["éa", "é"], False),
        (["a"], False),
    ],
)
def test_when_it_is_sure_of_characters(tokens: list[str | bytes], is_sure: bool) -> None:
    data = [token.encode() if isinstance(token, str) else token for token in tokens]
    ranks = {**BYTES, **{token: 256 + number for number, token in enumerate(data)}}
    assert (BytePairEncoder(ranks).merge_characters("aéaéé".encode()) is not None) is is_sure


@pytest.mark.parametrize("chunk", [b"aaaa", b"\xc3", "éèêëì".encode()])
def test_what_is_not_merged_by_characters(chunk: bytes) -> None:
    ranks = {**BYTES, **{char.encode(): 256 + number for number, char in enumerate("éèêëì")}}
    assert BytePairEncoder(ranks).merge_characters(chunk) is None


def test_long_runs_go_this_way(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = {**BYTES, "é".encode(): 256, "éé".encode(): 257}
    encoder = BytePairEncoder(ranks)
    monkeypatch.setattr(byte_pair, "_VERY_LONG", 200)
    monkeypatch.setattr(encoder, "_merge_heap", None)  # what takes the bytes one by one
    assert encoder.merge("é".encode() * 101) == [257] * 50 + [256]
