"""``PieceTree`` against a list of pieces."""

from __future__ import annotations

from itertools import accumulate
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.fit import piece_tree
from compat_bpe.fit.piece_tree import PieceTree
from tests.fit.piece_trees import check


def tokens_of(pieces: list[str]) -> list[int]:
    return [ord(piece[0]) for piece in pieces]


some_pieces = st.lists(st.sampled_from(["a", "bc", "def", "ghi"]), max_size=30)
changes = st.tuples(st.integers(0, 10**6), st.integers(0, 10**6), some_pieces)


@pytest.mark.parametrize("width", [4, 6, 32])
@given(st.integers(0, 8), some_pieces, st.lists(changes, max_size=8))
def test_as_a_list(
    width: int, repeat: int, first: list[str], changes: list[tuple[int, int, list[str]]]
) -> None:
    pieces = first * repeat
    with patch.object(piece_tree, "WIDTH", width):
        tree = PieceTree(pieces, tokens_of(pieces))
        for begin, length, new in changes:
            before = tree, list(pieces)
            start = begin % max(len(pieces), 1)
            end = start + 1 + length % max(len(pieces) - start, 1)
            edges = list(accumulate(map(len, pieces), initial=0))
            tree = tree.replaced(edges[start], edges[min(end, len(pieces))], new, tokens_of(new))
            pieces[start:end] = new
            check(tree)
            assert list(tree.pieces()) == pieces
            assert list(before[0].pieces()) == before[1], "the tree before has changed"


@given(some_pieces, st.integers(1, 8))
def test_places(first: list[str], repeat: int) -> None:
    pieces = first * repeat
    with patch.object(piece_tree, "WIDTH", 4):
        tree = PieceTree(pieces, tokens_of(pieces))
    start = tokens = 0
    for piece in pieces:
        expected = (piece, start, ord(piece[0]), tokens)
        assert all(tree.find(start + at) == expected for at in range(len(piece)))
        assert list(tree.pieces(start, start + len(piece))) == [piece]
        start, tokens = start + len(piece), tokens + ord(piece[0])
    text = "".join(pieces)
    for start in range(0, len(text), 17):
        for end in range(start + 1, len(text), 19):
            found = "".join(tree.pieces(start, end))
            first_start = tree.find(start).start
            assert found[start - first_start :].startswith(text[start:end])
            assert len(found) <= end - start + 4


def test_a_tree_of_nothing() -> None:
    tree = PieceTree([], [])
    assert (tree.chars, tree.tokens, list(tree.pieces())) == (0, 0, [])
    assert list(tree.replaced(0, 0, ["a"], [1]).replaced(0, 1, [], []).pieces()) == []


def test_height_is_that_of_what_is_left() -> None:
    tree = PieceTree(["a"] * 100_000, [1] * 100_000)
    assert tree._height == 3
    assert tree.replaced(10, 99_990, [], [])._height == 0
