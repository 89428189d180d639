"""Long chunks and stretches, whole and edited, against merging and counting each by itself."""

from __future__ import annotations

import pickle
import random
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.fit import Document, long_chunk, piece_tree
from compat_bpe.fit.long_chunk import (
    LongChunk,
    _Kinds,
    _one_chunk_from,
    possible_ends,
    possible_starts,
)
from compat_bpe.fit.piece_tree import LONG_PIECE, LongPieceTokens
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder
from compat_bpe.pipeline.offsets import locate
from tests.fit.hard_encodings import encoding_of
from tests.fit.helpers import SINGLE, stretches, tokens
from tests.pattern.random_trees import PATTERNS

byte_tokens = st.lists(st.binary(min_size=2, max_size=6).map(lambda b: bytes(c % 3 for c in b)))
chunks = st.one_of(
    st.binary(min_size=1, max_size=60),
    st.builds(lambda part, times: part * times, st.binary(min_size=1, max_size=4), st.just(15)),
).map(lambda data: bytes(byte % 3 for byte in data))


@given(byte_tokens, st.randoms(use_true_random=False), chunks)
# The longest beginning of at most three tokens follows others of two, and many of four.
@example([b"\2\0\1", b"\1\1", b"\0\1"], random.Random(1), b"\0\1\2\0\1\1\1\0\0\2\0\1")
# The longest end of at most two tokens comes before one of one, and two of more.
@example([b"\1\1\2", b"\2\1\1\2", b"\1\1\2\1", b"\1\1"], random.Random(1), b"\1\1\1\2\1\1\1\2")
def test_beginnings_and_ends(more: list[bytes], rng: object, data: bytes) -> None:
    vocabulary = list(dict.fromkeys([bytes([byte]) for byte in range(256)] + more))
    ids = list(range(len(vocabulary)))
    rng.shuffle(ids)  # type: ignore[attr-defined]
    ranks = dict(zip(vocabulary, ids))
    length_of = {number: len(token) for token, number in ranks.items()}
    merge = BytePairEncoder(ranks).merge
    chunk = LongChunk(data, merge, length_of.__getitem__, max(map(len, vocabulary)))
    places = range(len(data) + 1)
    to = [len(merge(data[:end])) for end in places]
    following = [len(merge(data[start:])) for start in places]
    assert [chunk.count_to(end) for end in places] == to
    assert [chunk.count_from(start) for start in places] == following
    assert chunk.count == to[-1]
    for limit in range(len(data) + 2):
        last, first = chunk.last_end_within(limit), chunk.first_start_within(limit)
        assert all(count > limit for count in to[last + 1 :])
        assert all(count > limit for count in following[:first])


def test_most_places_are_ruled_out() -> None:
    ranks = {b"a" * (1 << n): n for n in range(4)}
    merge = BytePairEncoder(ranks).merge
    chunk = LongChunk(b"a" * 1000, merge, [1, 2, 4, 8].__getitem__, 8)
    assert 80 <= chunk.last_end_within(10) <= 90
    assert 910 <= chunk.first_start_within(10) <= 920


@pytest.mark.parametrize("data", [bytes(random.Random(1).choices(b"abc", k=1500)), b"a" * 1500])
def test_few_bytes_are_merged_for_all_beginnings_and_ends(data: bytes) -> None:
    single = [bytes([byte]) for byte in range(256)]
    vocabulary = [*single, b"ab", b"ca", b"abc", b"bb", b"abca", b"aa", b"aaaa"]
    encoder = BytePairEncoder({token: number for number, token in enumerate(vocabulary)})
    merged = 0

    def merge(part: bytes) -> list[int]:
        nonlocal merged
        merged += len(part)
        return encoder.merge(part)

    chunk = LongChunk(data, merge, list(map(len, vocabulary)).__getitem__, 4)
    for place in reversed(range(1501)):
        chunk.count_to(place)
    beginnings = merged
    for place in range(1501):
        chunk.count_from(place)
    assert max(beginnings, merged - beginnings) < 15_000


def of_letters(tokens: list[str]) -> Encoding:
    """An encoding of any bytes and of these tokens, whose pattern takes all letters for a chunk."""
    ranks = {bytes([byte]): 1000 + byte for byte in range(256)}
    for token in tokens:
        ranks.setdefault(token.encode(), len(ranks))
    return Encoding("letters", pat_str=r"\p{L}+|[^\p{L}]", mergeable_ranks=ranks, special_tokens={})


letters = st.text("abé語", max_size=30)
edits = st.tuples(st.integers(0, 60), st.integers(0, 4), st.text("abé語", max_size=4))


@given(
    st.lists(st.text("abé語", min_size=2, max_size=5), max_size=12),
    letters,
    st.lists(edits, max_size=6),
    st.sampled_from([(0,), (1,), (0, 1, 2), (4, 32)]),
)
# Tokens of a run of one letter are shifted by what is put before them.
@example(["aa", "aaaa"], "a" * 30, [(0, 0, "a"), (7, 1, "")], (0, 1, 2))
# A token that the edit makes reaches over the tokens beside it.
@example(["ab", "abab", "babab"], "ababababab", [(4, 1, "")], (0,))
def test_edits_of_a_word(
    tokens: list[str], text: str, changes: list[tuple[int, int, str]], beside: tuple[int, ...]
) -> None:
    encoding = of_letters(tokens)
    with patch.object(piece_tree, "LONG_PIECE", 3), patch.object(piece_tree, "_BESIDE", beside):
        document = Document(encoding, text)
        for at, length, new in changes:
            at = min(at, len(text))
            text = text[:at] + new + text[at + length :]
            document.replace(at, min(at + length, len(document)), new)
            assert document.count == encoding.count(text)
            expected = locate(encoding.core.definition, text, frozenset())
            placed = document.tokens(0, len(text))
            assert [(one.id, one.start, one.end) for one in placed] == [
                (one.id, one.start, one.end) for one in expected
            ]
            for start in range(len(text)):
                for end in (start + 1, start + 2):
                    if end <= len(text):
                        assert document.tokens(start, end) == [
                            one for one in placed if one.start < end and one.end > start
                        ]
            assert [document.token(number) for number in range(document.count)] == placed


@pytest.mark.parametrize("name", ["o200k_base", "deepseek_v3", "gpt2"])
def test_a_keystroke_in_a_long_word_merges_what_is_beside_it(name: str) -> None:
    encoding = get_encoding(name)
    text = "".join(random.Random(1).choices("abcdefghij", k=20_000))
    document = Document(encoding, text)
    merged = []
    merge = encoding.core.model.merge

    def counted(data: bytes) -> list[int]:
        merged.append(len(data))
        return merge(data)

    with patch.object(encoding.core.model, "merge", counted):
        for at in (0, 5_000, 19_000):
            document.replace(at, at, "x")
            text = text[:at] + "x" + text[at:]
        document.tokens(100, 200)
        document.token(1000)
    assert sum(merged) < 1_000
    assert document.count == encoding.count(text)
    ids = [one.id for one in document.tokens(0, len(text))]
    assert ids == encoding.encode(text)


def test_other_texts_are_left_to_the_encoding() -> None:
    pieces = LongPieceTokens(get_encoding("gpt2"))
    assert pieces.merged("a" * (LONG_PIECE - 1)) is None  # short
    assert pieces.merged("a b" * LONG_PIECE) is None  # several chunks
    assert pieces.merged("a" * LONG_PIECE + "\ud800") is None
    assert pieces.merged("a" * LONG_PIECE) is not None
    # A text may be a token that no merging makes.
    whole = of_letters(["b" * LONG_PIECE])
    assert LongPieceTokens(whole).merged("b" * LONG_PIECE) is None
    assert Document(whole, "b" * LONG_PIECE).count == 1


def test_no_more_pieces_are_kept_than_are_edited() -> None:
    pieces = LongPieceTokens(get_encoding("gpt2"))
    for letter in "abcdefgh":
        pieces.merged(letter * LONG_PIECE)
    assert len(pieces._kept) == piece_tree._KEPT_PIECES
    assert len(pickle.dumps(pieces)) < LONG_PIECE


@given(st.sampled_from(PATTERNS), tokens, st.data(), stretches)
def test_no_place_that_fits_is_ruled_out(
    pattern: str, more: list[str], data: st.DataObject, text: str
) -> None:
    ids = data.draw(st.permutations(range(256, 256 + len(more))))
    ranks = {**SINGLE, **{token.encode(): rank for token, rank in zip(more, ids)}}
    encoding = Encoding("small", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    places = range(len(text) + 1)
    to = [encoding.count(text[:end]) for end in places]
    following = [encoding.count(text[start:]) for start in places]
    limit = data.draw(st.integers(0, encoding.count(text)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(long_chunk, "_LONG_CHUNK", 8)
        ends = list(possible_ends(encoding.core, text, limit))
        starts = list(possible_starts(encoding.core, text, limit))
    assert ends == sorted(set(ends), reverse=True)
    assert starts == sorted(set(starts))
    assert {end for end in places if to[end] <= limit} <= set(ends)
    assert {start for start in places if following[start] <= limit} <= set(starts)


@pytest.mark.parametrize(
    ("pattern", "place"),
    [
        # Of nine characters the beginnings are one chunk, but not of ten.
        (r"(?s:.){1,9}", None),
        (r"(?s:.){1,9}|(?s:.)+", None),
        (r"(?s:.){1,8}a*", 9),
        (r"(?s:.)+", 1),
        (r"(?s:.){3,}?$|(?s:.)", 5),
        (r"(?:aa)+|(?s:.)", None),
    ],
)
def test_beginnings_are_one_chunk_from_some_place_on(pattern: str, place: int | None) -> None:
    splitter = Splitter(pattern)
    chunk = "a" * 40
    assert _one_chunk_from(splitter, chunk) == place
    if place is not None:
        assert all(len(splitter.chunks(chunk[:end])) == 1 for end in range(place, 41))


def test_only_the_run_at_the_end_is_of_one_kind() -> None:
    splitter = Splitter(r"[ab]+|[^ab]")
    assert _one_chunk_from(splitter, "ab" * 9) == 1  # a and b lie in the same classes
    assert _one_chunk_from(Splitter(r"[ab]+c|(?s:.)+"), "c" * 9 + "a" * 9) == 12
    assert _one_chunk_from(splitter, "ab") == 1
    assert _one_chunk_from(splitter, "a") is None


@pytest.mark.parametrize(
    ("pattern", "bound"),
    [
        ("ab", 2),
        ("(?:ab){3}", 6),
        ("(?:ab){2,5}", 10),
        ("a{4,}b", 5),
        ("a|bc", 3),
        ("(?>a+)b", 3),
        ("(?!a)b", 3),
        ("(?:a+){3}", 3),
        # Endless repeats of more than a character.
        ("(?:ab)+", None),
        ("(?:a{3})+", None),
        ("(?:(?!b)ac)+", None),
        # Of one under conditions: on a fixed number of characters, or on any.
        ("(?:(?!b)a)+", 3),
        ("(?:(?!)a)+", 2),
        ("(?:(?!b)(?<=c)a)+", 5),
        ("(?:(?!bc)a)+", 4),
        ("(?:(?!b{2}c)a)+", 5),
        ("(?:(?!bc+)a)+", 4),
        ("(?:(?!b|c+)a)+", 4),
        ("(?:(?!b+c)a)+", None),
        ("(?:(?!b|c+d)a)+", None),
        ("(?:(?!(?:bc+)*)a)+", None),
        ("(?:(?!b)(?!c+d)a)+", None),
    ],
)
def test_how_many_characters_a_pattern_can_tell_apart(pattern: str, bound: int | None) -> None:
    assert _Kinds(Splitter(pattern), "abcd").bound == bound


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["cl100k_base", "deepseek_v3"])
@pytest.mark.parametrize("part", ["a", "-", " ", "7", "\n", "ก", "中", "Ab", "acgt"])
def test_most_places_of_a_stretch_are_ruled_out(name: str, part: str) -> None:
    encoding = get_encoding(name)
    text = part * (400 // len(part))
    limit = encoding.count(text) // 2
    end = next(end for end in range(len(text), 0, -1) if encoding.count(text[:end]) <= limit)
    start = next(start for start in range(len(text)) if encoding.count(text[start:]) <= limit)
    ends = list(possible_ends(encoding.core, text, limit))
    starts = list(possible_starts(encoding.core, text, limit))
    assert ends.index(end) <= 8
    assert starts.index(start) <= 8


def test_most_places_after_a_long_chunk_are_ruled_out() -> None:
    encoding = get_encoding("cl100k_base")
    text = "-" * 300 + "a" * 300
    limit = encoding.count(text) // 2
    ends = list(possible_ends(encoding.core, text, limit))
    assert any(encoding.count(text[:end]) <= limit for end in ends[:9])


@pytest.mark.parametrize("text", ["国  é", "          中"])
def test_what_decides_on_a_chunk_may_be_beyond_the_next(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_chunk, "_LONG_CHUNK", 8)
    encoding = get_encoding("cl100k_base")
    for limit in range(encoding.count(text)):
        ends = set(possible_ends(encoding.core, text, limit))
        for end in range(len(text) + 1):
            assert end in ends or encoding.count(text[:end]) > limit


@pytest.mark.parametrize("part", ["a", "ab", " ", "中"])
def test_suffixes_of_a_long_run_are_not_counted_one_by_one(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = get_encoding("cl100k_base").core
    count_chunk, counted = core.count_chunk, 0

    def counting(chunk: str) -> int:
        nonlocal counted
        counted += len(chunk)
        return count_chunk(chunk)

    monkeypatch.setattr(core, "count_chunk", counting)
    text = f"x = {part * 3000}"
    assert set(range(len(text) - 9, len(text))) <= set(possible_starts(core, text, 100))
    # All the suffixes have more than four million characters together.
    assert counted < 300_000


def test_without_one_splitter_every_place_is_possible() -> None:
    core = encoding_of("added tokens").core
    assert core.splitter_of("a<b>c") is None
    assert list(possible_ends(core, "a<b>c", 1)) == [5, 4, 3, 2, 1, 0]
    assert list(possible_starts(core, "a<b>c", 1)) == [0, 1, 2, 3, 4, 5]
