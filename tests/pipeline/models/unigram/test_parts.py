"""Long chunks of Unigram, part by part: what the plain rule gives."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.pipeline.models.unigram import model as unigram_model
from compat_bpe.pipeline.models.unigram.model import Unigram
from tests.examples import scaled
from tests.pipeline.models.unigram.random_models import CHUNKS, models, result


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
