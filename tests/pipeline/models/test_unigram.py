"""Unigram: the fast way gives what the plain rule gives, and that what a textbook would."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compat_bpe.pipeline.models import unigram as unigram_module
from compat_bpe.pipeline.models.base import ChunkToken
from compat_bpe.pipeline.models.scored_pieces import (
    LONGEST_SHORT,
    MOST_NESTED,
    LongPieces,
    UnigramTable,
)
from compat_bpe.pipeline.models.unigram import Unigram
from tests.drawn_models import CHUNKS, PIECES, result, unigram_models
from tests.examples import scaled
from tools.attack.growth import work_of

#: Most begin with the same characters, as many as long pieces are looked up by.
LONG_PIECES = st.builds(
    lambda count, end: "a" * count + end, st.integers(28, 40), st.text("ab", max_size=3)
)


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


@settings(max_examples=scaled(400))
@given(unigram_models(), st.lists(CHUNKS, max_size=4))
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


@given(unigram_models(), CHUNKS)
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


# Ties, and the order of the sums


def test_sums_are_rounded_from_the_left() -> None:
    # 0.1 + 0.2 is greater than 0.3, but not after a greater number.
    pieces, scores = ["a", "b", "ab", "x", "y"], [0.1, 0.2, 0.3, -1e15, -1e18]
    model = Unigram(pieces, scores, None)
    assert model.encode("ab") == (0, 1)
    assert model.encode("yab") == (4, 2)
    for chunk in ("ab", "xab", "yab"):
        assert model.best_path(chunk) == best_path(model, chunk)


# What is unknown


def test_bytes_all_or_none() -> None:
    pieces = ["<unk>", "<0xC3>", "<0xA9>", "<0xa8>"]
    model = Unigram(pieces, [0.0] * 4, 0, byte_fallback=True)
    both = [ChunkToken(1, "<0xC3>", 0, 4), ChunkToken(2, "<0xA9>", 0, 4)]
    assert model.find("éé") == both * 2
    assert model.encode("è") == (0,)
    assert model.encode("éè") == (0,)
    assert not model.is_complete
    every = [f"<0x{byte:02X}>" for byte in range(256)]
    assert Unigram(["<unk>", *every], [0.0] * 257, 0, byte_fallback=True).is_complete
    assert not Unigram(["<unk>", *every], [0.0] * 257, 0).is_complete
    assert not Unigram(["<unk>", *every], [0.0] * 257, None, byte_fallback=True).is_complete


def test_without_an_unknown_token() -> None:
    model = Unigram(["a", "ab", "b"], [-1.0, -1.0, -1.0], None)
    with pytest.raises(ValueError, match="'x' is not in the vocabulary, and there is no unk"):
        model.encode("abx")
    # "b" is unknown, but "ab" leads over it.
    assert Unigram(["a", "ab"], [-1.0, -1.0], None).encode("ab") == (1,)
    # Here it would be better to pass "b" as unknown.
    with pytest.raises(ValueError, match="'b' is not in the vocabulary"):
        Unigram(["a", "ab"], [20.0, -1.0], None).encode("ab")


# Long texts and long pieces


@pytest.mark.sweep
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
    assert sum(map(len, table.longest)) + sum(map(len, table.long._pieces)) < 50


def test_many_long_pieces_that_begin_alike_cost_a_few_steps() -> None:
    begin = "a" * LONGEST_SHORT
    pieces = [f"{begin}{number:05}{'b' * 40}" for number in range(20_000)]
    table = UnigramTable(dict.fromkeys(["a", *pieces], -1.0))
    text = begin * 3 + pieces[7][LONGEST_SHORT:]
    work_of(lambda: list(table.matches(text, 0)))
    for start in range(2 * LONGEST_SHORT + 1):
        assert work_of(partial(table.long.matches, text, start)) < 500
    assert list(table.matches(text, 2 * LONGEST_SHORT)) == [
        (2 * LONGEST_SHORT + 1, -1.0),
        (len(text), -1.0),
    ]


def test_pieces_nested_in_each_other_are_bounded() -> None:
    pieces = ["a" * length for length in range(1, LONGEST_SHORT + MOST_NESTED + 1)]
    table = UnigramTable({piece: float(len(piece)) for piece in pieces})
    assert [end for end, _ in table.matches("a" * 1500, 7)] == list(range(8, 8 + len(pieces)))
    assert [end for end, _ in table.matches("a" * 500, 400)] == list(range(401, 501))
    pieces.append("a" * 5000)
    with pytest.raises(ValueError, match="more than 1,024 pieces that begin with each other"):
        UnigramTable(dict.fromkeys(reversed(pieces), -1.0))


@given(st.lists(LONG_PIECES, max_size=12), st.lists(LONG_PIECES, max_size=3).map("".join))
def test_all_long_pieces_at_a_place(pieces: list[str], text: str) -> None:
    long = LongPieces({piece: float(len(piece)) for piece in pieces})
    for start in range(len(text)):
        lengths = sorted({len(one) for one in pieces if text.startswith(one, start)})
        expected = [(length, float(length)) for length in lengths if length > LONGEST_SHORT]
        assert long.matches(text, start) == expected


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


@contextmanager
def all_by_parts() -> Iterator[None]:
    """Let every chunk go part by part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(unigram_module, "_LONG", 0)
        patch.setattr(unigram_module, "_WORTH_PARTS", 0)
        yield


@settings(max_examples=scaled(400))
@given(unigram_models(), st.lists(CHUNKS, max_size=4))
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
    least, most = unigram_module._FROM, unigram_module._UP_TO
    for length in (least - 1, least, most, most + 1):
        chunk = ("ab?" * length)[:length]
        assert model.encode(chunk) == model.encode(chunk)
        assert list(model.encode(chunk)) == [token.id for token in model.find(chunk)]
    assert sorted(map(len, model._chunks)) == [least, most]
    model.clear_cache()
    assert not model._chunks


def test_an_unknown_run_goes_over_joints() -> None:
    # The worst piece is so good that two unknown characters are better than it.
    model = Unigram(["<unk>", "a", "x?"], [100.0, 100.0, 100.0], 0)
    with all_by_parts():
        assert model.encode("ax?ya") == (1, 0, 1)
        assert model.encode("ax?a") == (1, 2, 1)
        assert model.encode("ay<unk>ya") == (1, 0, 1)
