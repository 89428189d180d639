"""Trees of pieces: small ones for small texts, and the sums that hold in each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from compat_bpe.fit import document as document_module
from compat_bpe.fit import long_piece, piece_tree
from compat_bpe.fit.piece_tree import PieceTree, _Node


def check(tree: PieceTree) -> None:
    """Every sum is right, and every node as wide as it should be."""
    root, height = tree._root, tree._height
    assert len(root.items) <= piece_tree.WIDTH
    assert height == 0 or len(root.items) > 1
    assert (sum(root.chars), sum(root.tokens)) == (tree.chars, tree.tokens)
    level: list[_Node] = [root]
    for _ in range(height):
        below: list[_Node] = []
        for node in level:
            assert node.chars == [sum(child.chars) for child in node.items]
            assert node.tokens == [sum(child.tokens) for child in node.items]
            below += node.items
        assert all(piece_tree.WIDTH // 2 <= len(n.items) <= piece_tree.WIDTH for n in below)
        level = below
    for node in level:
        assert node.chars == [len(piece) for piece in node.items]
        assert 0 not in node.chars
        assert len(node.tokens) == len(node.items)


@contextmanager
def small_pieces(size: int) -> Iterator[None]:
    """Pieces of so many characters, and narrow nodes, so that a small text has many.

    Some are longer than a long piece then, of which only what is beside an edit is merged again.
    """
    with (
        patch.object(document_module, "PIECE", size),
        patch.object(piece_tree, "WIDTH", 4),
        patch.object(long_piece, "LONG", 2 * size),
    ):
        yield
