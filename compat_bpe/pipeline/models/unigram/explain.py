"""Unigram: all pieces that match in a chunk with their scores, and the best ways through them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..explain.base import Item, Row, explain
from .model import Unigram
from .shown_lattice import Edge, Way, n_best, shown_lattice

#: The number of ways that are shown.
_WAYS = 2


class BestWay:
    """The explanation of a chunk by its lattice.

    Args:
        chunk: the chunk.
        ids: its ids.
        edges: all pieces that match, by their start.
        ways: the best ways, the one that is taken first.
    """

    def __init__(
        self, chunk: str, ids: Sequence[int], edges: Sequence[Edge], ways: Sequence[Way]
    ) -> None:
        self.chunk = chunk.encode()
        self.ids = ids
        self.note = ""
        self.widest: Sequence[bytes] = ()
        self._text = chunk
        self._edges = edges
        self._ways = ways

    def rows(self) -> Iterator[Row]:
        """Yield the pieces that begin at each place, then the best ways and their scores."""
        best = {edge.start: edge for edge in self._ways[0].edges} if self._ways else {}
        for place, char in enumerate(self._text):
            edges = [edge for edge in self._edges if edge.start == place]
            items = [Item([edge.text.encode()], f"{edge.score:.2f}") for edge in edges]
            taken = edges.index(best[place]) if place in best else None
            is_taken = int(taken is not None)
            yield Row([char.encode()], (0, is_taken), items, taken)
        for index, way in enumerate(self._ways):
            said = f"{way.score:.2f} {'second best' if index else 'best'}"
            parts = [edge.text.encode() for edge in way.edges]
            yield Row(parts, (0, 0), [Item([], said)], None if index else 0)

    def members(self, show: Callable[[bytes], str]) -> dict[str, Any]:
        """Return the pieces that match and the two best ways, with exact scores."""
        return {
            "lattice": [
                {
                    "start": edge.start,
                    "end": edge.end,
                    "piece": show(edge.text.encode()),
                    "id": edge.id,
                    "score": edge.score,
                }
                for edge in self._edges
            ],
            "ways": [
                {
                    "score": way.score,
                    "pieces": [show(edge.text.encode()) for edge in way.edges],
                }
                for way in self._ways
            ],
        }


@explain.register
def _explain(model: Unigram, chunk: str) -> BestWay:
    edges = shown_lattice(model, chunk).edges
    return BestWay(chunk, model.encode(chunk), edges, n_best(model, chunk, _WAYS))
