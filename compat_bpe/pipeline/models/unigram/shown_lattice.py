"""All ways to write a chunk with the pieces of a Unigram model, for display.

The *lattice* of a chunk is all pieces that match somewhere in it. A way through it, from the
beginning to the end, is one way to write the chunk.
"""

from __future__ import annotations

from operator import attrgetter
from typing import NamedTuple

from .model import Unigram


class Edge(NamedTuple):
    """A piece that matches, or an unknown character.

    Args:
        id: its id; that of the unknown token for an unknown character.
        text: the piece.
        start, end: its place in the chunk, in characters.
        score: its score.
    """

    id: int
    text: str
    start: int
    end: int
    score: float


class Way(NamedTuple):
    """A way through the lattice.

    Args:
        score: the scores of its pieces, added up from the left.
        edges: its pieces.
    """

    score: float
    edges: tuple[Edge, ...]


class ShownLattice(NamedTuple):
    """The lattice of a chunk.

    Args:
        edges: all pieces that match, by their start, then by their length.
        best: the way of the greatest score, the one that the model takes.
    """

    edges: list[Edge]
    best: Way


def shown_lattice(model: Unigram, chunk: str) -> ShownLattice:
    """Return the lattice of a chunk.

    Unknown characters are edges of their own; the model joins a run of them to one token.

    Raises:
        ValueError: a character is unknown, and there is no unknown token.

    >>> model = Unigram(["<unk>", "h", "u", "g", "ug"], [-9.0, -3.0, -2.0, -3.0, -3.5], 0)
    >>> edges, best = shown_lattice(model, "hug")
    >>> [(edge.text, edge.score) for edge in edges]
    [('h', -3.0), ('u', -2.0), ('ug', -3.5), ('g', -3.0)]
    >>> best.score, [edge.text for edge in best.edges]
    (-6.5, ['h', 'ug'])
    """
    edges = _edges(model, chunk)
    of_place = {(edge.start, edge.end): edge for edge in edges}
    end = 0
    score = 0.0
    best = []
    for piece in model.best_path(chunk):
        edge = of_place[end, end + len(piece)]
        end = edge.end
        score += edge.score
        best.append(edge)
    return ShownLattice(edges, Way(score, tuple(best)))


def n_best(model: Unigram, chunk: str, count: int) -> list[Way]:
    """Return the ways of the greatest scores, the best first.

    The first is the model's. Of equal ways, the one whose last piece is the longest comes first.
    Every place of the chunk keeps its ``count`` best ways, so this is for single words.

    Args:
        model: the model.
        chunk: any text.
        count: the greatest number of ways to return.

    Raises:
        ValueError: as in ``shown_lattice``.

    >>> model = Unigram(["<unk>", "h", "u", "g", "ug"], [-9.0, -3.0, -2.0, -3.0, -3.5], 0)
    >>> [(way.score, [edge.text for edge in way.edges]) for way in n_best(model, "hug", 2)]
    [(-6.5, ['h', 'ug']), (-8.0, ['h', 'u', 'g'])]
    """
    model.best_path(chunk)  # Raises if there may be no way.
    if count < 1:
        return []
    ways: list[list[Way]] = [[Way(0.0, ())]] + [[] for _ in chunk]
    ending: list[list[Edge]] = [[] for _ in range(len(chunk) + 1)]
    for edge in _edges(model, chunk):
        ending[edge.end].append(edge)
    for end in range(1, len(chunk) + 1):
        candidates = [
            Way(edge.score + way.score, (*way.edges, edge))
            for edge in ending[end]  # by their start
            for way in ways[edge.start]
        ]
        # Equal ones keep their order.
        ways[end] = sorted(candidates, key=attrgetter("score"), reverse=True)[:count]
    return ways[-1]


def _edges(model: Unigram, chunk: str) -> list[Edge]:
    edges = []
    for start in range(len(chunk)):
        for end, score, is_unknown in model.edges(chunk, start):
            text = chunk[start:end]
            token_id = model.unknown if is_unknown else model.ids[text]
            if token_id is not None:
                edges.append(Edge(token_id, text, start, end, score))
    return edges
