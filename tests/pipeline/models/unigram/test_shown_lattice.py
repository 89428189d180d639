"""The lattice and the best ways of Unigram, as they are shown."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.pipeline.models.unigram.model import Unigram
from compat_bpe.pipeline.models.unigram.shown_lattice import n_best, shown_lattice
from tests.pipeline.models.unigram.random_models import ALPHABET, models


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
