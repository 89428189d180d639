"""Unigram: the fast way gives what the plain rule gives, and that what a textbook would."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compat_bpe.pipeline.models.text_model import ChunkToken
from compat_bpe.pipeline.models.unigram import model as unigram_model
from compat_bpe.pipeline.models.unigram.model import Unigram
from compat_bpe.pipeline.models.unigram.shown_lattice import n_best, shown_lattice
from compat_bpe.pipeline.models.unigram.table import LONGEST_SHORT, UnigramTable
from tests.examples import scaled
from tests.strategies import texts as any_texts

ALPHABET = "ab中😀"
#: Few, so that many ways are as good; and some whose sums are rounded, or infinite.
SCORES = st.one_of(
    st.sampled_from([-1.0, -2.0, -3.0, 0.0, 1.0]),
    st.sampled_from([-0.1, -0.2, -0.3, -0.7, -1e16, 1e16, 3e-17, -1e308, 1e308, 5e-324]),
    st.floats(allow_nan=False, allow_infinity=False),
)
PIECES = st.one_of(
    st.text(ALPHABET, max_size=5),
    st.sampled_from(["<unk>", "<0x61>", "<0xE4>", "<0xB8>", "<0xAD>", "<", "", "aaaaaaaa"]),
    st.integers(LONGEST_SHORT - 1, LONGEST_SHORT + 3).map(lambda length: "a" * length),
    st.integers(LONGEST_SHORT - 1, LONGEST_SHORT + 3).map(lambda length: "ab" * length),
)
CHUNKS = st.one_of(
    st.text(ALPHABET, max_size=12),
    st.lists(st.sampled_from(["a", "b", "<unk>", "<0x61>", "中", "x", "é", "ab"]), max_size=8).map(
        "".join
    ),
    st.integers(30, 80).map(lambda length: "a" * length),
    st.integers(30, 80).map(lambda length: "ab" * length + "b"),
    any_texts.map(lambda text: text.encode("utf-8", "replace").decode()),
)


@st.composite
def models(draw: Callable[..., object]) -> Unigram:
    listed = draw(st.lists(st.tuples(PIECES, SCORES), max_size=16))
    assert isinstance(listed, list)
    unknown = draw(st.none() | st.integers(0, max(0, len(listed) - 1)))
    if not listed:
        unknown = None
    assert unknown is None or isinstance(unknown, int)
    pieces = [piece for piece, _ in listed]
    return Unigram(pieces, [score for _, score in listed], unknown, bool(draw(st.booleans())))


def best_path(model: Unigram, chunk: str) -> list[str]:
    """The rule by every slice that there is, one place after the other."""
    pieces = model.table.scores
    best: list[tuple[float, list[str]] | None] = [(0.0, [])] + [None] * len(chunk)
    for end in range(1, len(chunk) + 1):
        for start in range(end):
            before = best[start]
            assert before is not None
            score = pieces.get(chunk[start:end])
            if score is None and end == start + 1:
                score = model.unknown_score
            found = best[end]
            if score is not None and (found is None or score + before[0] > found[0]):
                best[end] = (score + before[0], [*before[1], chunk[start:end]])
    way = best[-1]
    assert way is not None
    return way[1]


def result(function: Callable[[], object]) -> object:
    try:
        return function()
    except ValueError as error:
        return str(error)


@settings(max_examples=scaled(400))
@given(models(), st.lists(CHUNKS, max_size=4))
@example(Unigram(["a", "aa", "aaa"], [-1.0, -2.0, -3.0], 0), ["aaaaaaa"])
@example(Unigram(["a", "aa"], [-1e308, -1e308], None), ["aaaaa"])
@example(Unigram(["a", "a" * 40], [-1.0, -1.0], None), ["a" * 100])
@example(Unigram(["a", "x", "x" * 40], [-1.0, -1.0, -1.0], None), ["x" * 100])
@example(Unigram(["a", "x" * 40], [-1.0, -1.0], 0), ["a" + "x" * 100])
def test_the_fast_way_gives_what_the_plain_rule_gives(model: Unigram, chunks: list[str]) -> None:
    for chunk in chunks:
        plain = result(lambda: tuple(token.id for token in model.find(chunk)))  # noqa: B023
        assert result(lambda: model.encode(chunk)) == plain  # noqa: B023
        if not isinstance(plain, str):
            assert model.best_path(chunk) == best_path(model, chunk)


@given(models(), CHUNKS)
def test_tokens_have_places_one_after_the_other(model: Unigram, chunk: str) -> None:
    try:
        found = model.find(chunk)
    except ValueError:
        return
    data = chunk.encode()
    place = (0, 0)
    for token in found:
        if token.text != data[token.start : token.end].decode():
            # One of the bytes of an unknown run, which all have the place of the run.
            assert bytes.fromhex(token.text[3:5]) in data[token.start : token.end]
        if (token.start, token.end) != place:
            assert token.start == place[1]
            place = (token.start, token.end)
    assert place[1] == len(data)


# The example of the Hugging Face course: the words hug (10 times), pug (5), pun (12), bun (4) and
# hugs (5), and how often each of their parts occurs in them.
PARTS = "h u g hu ug p pu n un b bu s hug gs ugs"
COURSE = dict(zip(PARTS.split(), [15, 36, 20, 15, 20, 17, 17, 16, 16, 4, 4, 5, 15, 5, 5]))


def course() -> Unigram:
    return Unigram(list(COURSE), [math.log(count / 210) for count in COURSE.values()], None)


def test_frequencies_of_the_course() -> None:
    words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    counted: dict[str, int] = {}
    for word, times in words.items():
        for start, end in combinations(range(len(word) + 1), 2):
            part = word[start:end]
            counted[part] = counted.get(part, 0) + times
    assert counted == {**COURSE, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    assert sum(COURSE.values()) == 210


def test_words_of_the_course() -> None:
    model = course()
    unhug = shown_lattice(model, "unhug").best
    assert [edge.text for edge in unhug.edges] == ["un", "hug"]
    assert round(math.exp(unhug.score), 6) == 0.005442
    # As good as ["pu", "g"]: the longest last piece wins.
    pug = n_best(model, "pug", 3)
    assert [[edge.text for edge in way.edges] for way in pug] == [
        ["p", "ug"],
        ["pu", "g"],
        ["p", "u", "g"],
    ]
    assert pug[0].score == pug[1].score
    chances = [Fraction(17 * 20, 210**2), Fraction(17 * 20, 210**2), Fraction(17 * 36 * 20, 210**3)]
    assert [math.exp(way.score) for way in pug] == pytest.approx([float(it) for it in chances])
    # The course has ["hug", "s"], which is as good.
    assert [token.text for token in model.find("hugs")] == ["h", "ugs"]
    assert n_best(model, "hugs", 2)[0].score == n_best(model, "hugs", 2)[1].score


# Long chunks, part by part


@contextmanager
def all_by_parts() -> Iterator[None]:
    """Let every chunk go part by part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unigram_model, "_LONG", 0)
        patch.setattr(unigram_model, "_WORTH_PARTS", 0)
        yield


@settings(max_examples=scaled(400))
@given(models(), st.lists(CHUNKS, max_size=4))
def test_parts_give_what_the_plain_rule_gives(model: Unigram, chunks: list[str]) -> None:
    with all_by_parts():
        for chunk in [*chunks, *chunks]:
            plain = result(lambda: tuple(token.id for token in model.find(chunk)))  # noqa: B023
            assert result(lambda: model.encode(chunk)) == plain  # noqa: B023


#: Scores of which many sums are equal, but not as they are rounded.
CLOSE = st.integers(-9, -1).flatmap(lambda part: st.sampled_from([part / 10, part / 7, part / 3]))


@settings(max_examples=scaled(400))
@given(
    st.lists(st.tuples(st.text("ab", min_size=1, max_size=4), CLOSE), min_size=3, max_size=12),
    st.lists(st.sampled_from([-7e5, -1.1e3, -0.7]), min_size=2, max_size=2),
    st.lists(st.text("abxy?", max_size=30), max_size=5),
)
def test_parts_where_ways_are_nearly_as_good(
    listed: list[tuple[str, float]], others: list[float], chunks: list[str]
) -> None:
    pieces = ["a", "b", "x", "y", *(piece for piece, _ in listed)]
    scores = [-0.3, -0.6, *others, *(score for _, score in listed)]
    model = Unigram(pieces, scores, 0)
    with all_by_parts():
        for chunk in chunks:
            assert model.encode(chunk) == tuple(token.id for token in model.find(chunk))


def test_a_part_depends_on_what_is_before_where_ways_are_nearly_as_good() -> None:
    # 0.1 + 0.2 is greater than 0.3, but not after a greater number.
    model = Unigram(["a", "b", "ab", "x"], [0.1, 0.2, 0.3, -7e5], None)
    with all_by_parts():
        assert model.encode("ab") == (0, 1)
        assert model.encode("xab") == (3, 2)
        assert model.encode("abxab") == (0, 1, 3, 2)


@pytest.mark.parametrize("end", ["b", "bc", "b" * 40])
@pytest.mark.parametrize("before", ["x", "?"])
def test_pieces_of_any_length_are_nearly_as_good(end: str, before: str) -> None:
    scores = {"<unk>": 0.0, "b": -9.0, "c": -9.0, "x": -7e5, "a": 0.1, f"a{end}": 0.3, end: 0.2}
    model = Unigram(list(scores), list(scores.values()), 0)
    with all_by_parts():
        assert model.encode(f"a{end}") == (model.ids["a"], model.ids[end])
        ids = model.encode(f"{before}a{end}")
        assert ids == (model.ids.get(before, 0), model.ids[f"a{end}"])


def test_sums_that_are_too_great_for_parts() -> None:
    model = Unigram(["a", "b", "ab", "x"], [0.1, 0.2, 0.2999, -1e16], None)
    with all_by_parts():
        for chunk in ("xab", "abxab"):
            assert model.encode(chunk) == tuple(token.id for token in model.find(chunk))


def test_long_chunks_go_by_parts_after_a_while() -> None:
    model = Unigram(["<unk>", "a", "b", "ab"], [-9.0, -1.0, -1.0, -1.5], 0)
    for number in range(100, 200):
        assert model.encode("abba" * number) == (3, 2, 1) * number
    assert model._parts is not None
    assert model.encode("abba?b" * 100) == (3, 2, 1, 0, 2) * 100
    model.clear_cache()
    assert model._parts is None
    assert model.encode("abba" * 100) == (3, 2, 1) * 100


def test_long_chunks_are_remembered_until_the_cache_is_cleared() -> None:
    model = Unigram(["<unk>", "a", "b", "ab"], [-9.0, -1.0, -1.0, -1.5], 0)
    for length in (
        unigram_model._FROM - 1,
        unigram_model._FROM,
        unigram_model._UP_TO,
        unigram_model._UP_TO + 1,
    ):
        chunk = ("ab?" * length)[:length]
        assert model.encode(chunk) == model.encode(chunk)
        assert list(model.encode(chunk)) == [token.id for token in model.find(chunk)]
    assert sorted(map(len, model._chunks)) == [unigram_model._FROM, unigram_model._UP_TO]
    model.clear_cache()
    assert not model._chunks


def test_an_unknown_run_goes_over_joints() -> None:
    # The worst piece is so good that two unknown characters are better than it.
    model = Unigram(["<unk>", "a", "x?"], [100.0, 100.0, 100.0], 0)
    with all_by_parts():
        assert model.encode("ax?ya") == (1, 0, 1)
        assert model.encode("ax?a") == (1, 2, 1)
        assert model.encode("ay<unk>ya") == (1, 0, 1)


# Ties, and the order of the sums


def test_of_equal_ways_the_longest_last_piece_wins() -> None:
    model = Unigram(["a", "aa", "aaa"], [-1.0, -2.0, -3.0], None)
    assert model.encode("aaaa") == (0, 2)
    assert model.encode("aaaaa") == (1, 2)


def test_sums_are_rounded_from_the_left() -> None:
    # 0.1 + 0.2 is greater than 0.3, but not after a greater number.
    pieces, scores = ["a", "b", "ab", "x", "y"], [0.1, 0.2, 0.3, -1e15, -1e18]
    model = Unigram(pieces, scores, None)
    assert model.encode("ab") == (0, 1)
    assert model.encode("yab") == (4, 2)
    for chunk in ("ab", "xab", "yab"):
        assert model.best_path(chunk) == best_path(model, chunk)


# What is unknown


def test_a_run_of_unknown_characters_is_one_token() -> None:
    model = Unigram(["<unk>", "a"], [0.0, -1.0], 0)
    assert model.find("axé😀a") == [
        ChunkToken(1, "a", 0, 1),
        ChunkToken(0, "xé😀", 1, 8),
        ChunkToken(1, "a", 8, 9),
    ]


def test_a_run_that_is_a_piece_is_that_piece() -> None:
    # Two unknown characters are better here than the piece of both.
    model = Unigram(["<unk>", "xx"], [0.0, -100.0], 0)
    assert model.unknown_score == -110.0
    worse = Unigram(["<unk>", "xx", "b"], [0.0, -300.0, 5.0], 0)
    assert model.encode("xx") == (1,)
    assert worse.find("bxxb") == [
        ChunkToken(2, "b", 0, 1),
        ChunkToken(1, "xx", 1, 3),
        ChunkToken(2, "b", 3, 4),
    ]
    with_bytes = Unigram(["<unk>", "<0x78>", "xx"], [100.0] * 3, 0, byte_fallback=True)
    assert with_bytes.encode("xx") == (2,)
    assert with_bytes.encode("xxx") == (1, 1, 1)
    better = Unigram(["<unk>", "x<unk>y"], [0.0, -1000.0], 0)
    assert better.encode("x<unk>y") == (1,)


def test_the_unknown_piece_joins_its_run() -> None:
    model = Unigram(["<unk>", "a"], [0.0, -1.0], 0)
    assert model.find("é<unk><unk>é") == [ChunkToken(0, "é<unk><unk>é", 0, 14)]
    assert model.encode("a<unk>a") == (1, 0, 1)


def test_bytes_all_or_none() -> None:
    pieces = ["<unk>", "<0xC3>", "<0xA9>", "<0xa8>"]
    model = Unigram(pieces, [0.0] * 4, 0, byte_fallback=True)
    assert model.find("éé") == [
        ChunkToken(1, "<0xC3>", 0, 4),
        ChunkToken(2, "<0xA9>", 0, 4),
        ChunkToken(1, "<0xC3>", 0, 4),
        ChunkToken(2, "<0xA9>", 0, 4),
    ]
    assert model.encode("è") == (0,)
    assert model.encode("éè") == (0,)
    assert not model.is_complete
    every = [f"<0x{byte:02X}>" for byte in range(256)]
    assert Unigram(["<unk>", *every], [0.0] * 257, 0, byte_fallback=True).is_complete
    assert not Unigram(["<unk>", *every], [0.0] * 257, 0).is_complete
    assert not Unigram(["<unk>", *every], [0.0] * 257, None, byte_fallback=True).is_complete


def test_without_an_unknown_token() -> None:
    model = Unigram(["a", "ab", "b"], [-1.0, -1.0, -1.0], None)
    with pytest.raises(ValueError, match="'x' is no piece of the vocabulary, and there is no unk"):
        model.encode("abx")
    # "b" is unknown, but "ab" leads over it.
    assert Unigram(["a", "ab"], [-1.0, -1.0], None).encode("ab") == (1,)
    # Here it would be better to pass "b" as unknown.
    with pytest.raises(ValueError, match="'b' is no piece"):
        Unigram(["a", "ab"], [20.0, -1.0], None).encode("ab")


def test_the_last_of_equal_pieces_counts() -> None:
    model = Unigram(["a", "<unk>", "a", "<unk>", "aa"], [5.0, 0.0, -5.0, 0.0, -9.0], 1)
    assert model.encode("aa") == (4,)
    assert model.encode("a<unk>x") == (2, 3, 1)


# Long texts and long pieces


def test_a_long_text_in_one_piece() -> None:
    model = Unigram(["<unk>", "a", "aaa", "ba"], [0.0, -1.3, -2.9, -1.1], 0)
    for text in ("a" * 100_000, "ab" * 50_000, "中" * 100_000):
        ids = model.encode(text)
        assert list(ids) == [token.id for token in model.find(text)]


def test_one_long_piece_makes_nothing_slow() -> None:
    long = "a" * 100 + "b" * 60_000
    model = Unigram(["<unk>", "a", "b", long], [0.0, -1.0, -1.0, -1.0], 0)
    assert len(model.encode("a" * 60_000)) == 60_000
    assert model.encode("a" + long + "b") == (1, 3, 2)
    assert [token.id for token in model.find("a" + long + "b")] == [1, 3, 2]
    table = model.table
    assert sum(map(len, table.longest)) + sum(map(len, table.long)) < 50


@given(st.lists(PIECES, max_size=12), CHUNKS)
def test_all_pieces_at_a_place(pieces: list[str], chunk: str) -> None:
    table = UnigramTable({piece: float(len(piece)) for piece in pieces})
    for start in range(len(chunk)):
        ends = [
            start + length
            for length in sorted({len(piece) for piece in pieces if piece})
            if start + length <= len(chunk) and chunk[start : start + length] in pieces
        ]
        assert list(table.matches(chunk, start)) == [(end, float(end - start)) for end in ends]


# For display


@given(models(), st.text(ALPHABET + "x", max_size=7))
def test_lattice(model: Unigram, chunk: str) -> None:
    try:
        path = model.best_path(chunk)
    except ValueError:
        with pytest.raises(ValueError, match="is no piece"):
            shown_lattice(model, chunk)
        with pytest.raises(ValueError, match="is no piece"):
            n_best(model, chunk, 2)
        return
    edges, best = shown_lattice(model, chunk)
    assert [edge.text for edge in best.edges] == path
    assert edges == sorted(edges, key=lambda edge: (edge.start, edge.end))
    assert all(chunk[edge.start : edge.end] == edge.text for edge in edges)
    ways = n_best(model, chunk, 1)
    assert ways == [best]
    everything = n_best(model, chunk, 10_000)
    assert everything[0] == best
    texts = [tuple(edge.text for edge in way.edges) for way in everything]
    assert len(set(texts)) == len(texts)
    assert set(texts) == set(all_ways(model, chunk))
    scores = [way.score for way in everything]
    assert scores == sorted(scores, reverse=True)
    for way in everything:
        total = 0.0
        for edge in way.edges:
            total += edge.score
        assert total == way.score
    assert n_best(model, chunk, 0) == []
    if scores and math.isfinite(model.unknown_score) and min(map(abs, scores)) < 1e300:
        assert [way.score for way in n_best(model, chunk, 3)] == scores[:3]


def all_ways(model: Unigram, chunk: str) -> list[tuple[str, ...]]:
    if not chunk:
        return [()]
    ways = []
    for end in range(1, len(chunk) + 1):
        piece = chunk[:end]
        if piece in model.table.scores or (end == 1 and model.unknown is not None):
            ways += [(piece, *way) for way in all_ways(model, chunk[end:])]
    return ways


def test_nothing_is_merged() -> None:
    model = course()
    with pytest.raises(ValueError, match="no byte-level BPE"):
        model.merge(b"hug")
    assert model.encode_segment("hug", str.split) is None
    assert model.to_bytes("é") == b"\xc3\xa9"
    assert not model.is_text
