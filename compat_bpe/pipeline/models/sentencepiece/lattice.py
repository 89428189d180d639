"""All ways in which a Unigram model can cut a text into pieces: the best, and random ones.

It is imported when more than the best way is asked for.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import exp, inf, log1p
from typing import NamedTuple

from .unigram import SentencePieceUnigram, rounded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from random import Random

#: The search for the best ways is cut back when it has as many begun ways, at most this often.
_MOST_BEGUN, _KEPT, _MOST_CUTS = 10_000, 512, 10
#: The number of begun ways at which the search is given up: the very best way is returned alone.
_MOST_IN_ALL = 500_000


class Edge(NamedTuple):
    """A piece at a place of a text, or an unknown character.

    Args:
        id: its id; that of the unknown token for an unknown character.
        text: the piece.
        start, end: its place, in characters.
        score: its score.
    """

    id: int
    text: str
    start: int
    end: int
    score: float


if TYPE_CHECKING:
    from typing import Optional

    #: A piece and all after it.
    Rest = Optional[tuple[Edge, "Rest"]]


class _Begun(float):
    """A way that is begun at its end, as the best total that it may have, negative.

    Begun ways are compared by that alone. ``heapq`` moves what is equal as the reference's
    ``std::priority_queue`` does, so of several equal ways the same one comes first.
    """

    __slots__ = ("place", "rest", "score")

    def __new__(cls, total: float, score: float, place: int, rest: Rest) -> _Begun:
        begun = super().__new__(cls, -total)
        #: The score of what there is of it, the place where that begins, and its edges.
        begun.score, begun.place, begun.rest = score, place, rest
        return begun

    score: float
    place: int
    rest: Rest


class PieceLattice:
    """All pieces at all places of a text.

    The score of a user-defined symbol is 0.1 for each of its characters but the first here. In
    the search for the one best way the reference takes bytes.

    Args:
        model: the model.
        text: the normalized text.
    """

    def __init__(self, model: SentencePieceUnigram, text: str) -> None:
        #: The pieces that end at each place.
        self.ending: list[list[Edge]] = [[] for _ in range(len(text) + 1)]
        for start in range(len(text)):
            candidates = model.pieces_at(text, start)
            # The unknown piece is put in last.
            for end, score, token_id in sorted(
                candidates, key=lambda one: one[2] == model.pieces.unk_id
            ):
                piece = text[start:end]
                if model.is_user_defined(token_id):
                    score = rounded(0.1 * (end - start - 1))
                self.ending[end].append(Edge(token_id, piece, start, end, score))

    def best(self, number: int) -> list[list[tuple[str, int]]]:
        """Return the best ways, the best first; A* search from the end.

        Args:
            number: the number of ways, 1 or more. There may be fewer.
        """
        heuristic = self._best_scores()
        end = len(self.ending) - 1
        queue = [_Begun(heuristic[end], 0.0, end, None)]
        ways: list[list[tuple[str, int]]] = []
        in_all, cuts = 1, 0
        while queue and len(ways) < number:
            begun = heappop(queue)
            if begun.place < 0:
                ways.append(_pieces(begun.rest))
                continue
            if not begun.place:
                # The reference has a node for the beginning, so a whole way waits once more.
                heappush(queue, _Begun(begun.score, begun.score, -1, begun.rest))
                in_all += 1
            for edge in self.ending[begun.place]:
                own = rounded(edge.score + begun.score)
                # As in the reference: the best score up to the end of the piece, and what follows.
                total = rounded(rounded(heuristic[edge.start] + edge.score) + begun.score)
                heappush(queue, _Begun(total, own, edge.start, (edge, begun.rest)))
            in_all += len(self.ending[begun.place])
            if in_all >= _MOST_IN_ALL or (len(queue) >= _MOST_BEGUN and cuts == _MOST_CUTS):
                return self.best(1) if number > 1 else ways
            if len(queue) >= _MOST_BEGUN:
                cuts += 1
                queue = [heappop(queue) for _ in range(min(_KEPT, 10 * number))]
        return ways

    def _best_scores(self) -> list[float]:
        """Return the score of the best way to each place."""
        scores = [0.0]
        for edges in self.ending[1:]:
            scores.append(max(rounded(scores[edge.start] + edge.score) for edge in edges))
        return scores

    def sample(self, alpha: float, random: Random) -> list[tuple[str, int]]:
        """Return a random way; its probability is that of its score times ``alpha``, normalized.

        The sums of all ways to each place are made forward, and pieces are drawn backward.
        """
        sums = [0.0]
        for edges in self.ending[1:]:
            total = -inf
            for edge in edges:
                total = _log_sum(total, sums[edge.start] + alpha * edge.score)
            sums.append(total)
        place = len(self.ending) - 1
        rest: Rest = None
        while place:
            edges = self.ending[place]
            weights = [exp(sums[edge.start] + alpha * edge.score - sums[place]) for edge in edges]
            edge = random.choices(edges, weights)[0]
            rest = edge, rest
            place = edge.start
        return _pieces(rest)

    def score(self, pieces: list[tuple[str, int]]) -> float:
        """Return the score of a way."""
        total = 0.0
        place = 0
        for text, token_id in pieces:
            place += len(text)
            total += next(
                edge.score
                for edge in self.ending[place]
                if edge.id == token_id and edge.text == text
            )
        return total


def _pieces(rest: Rest) -> list[tuple[str, int]]:
    pieces = []
    while rest is not None:
        edge, rest = rest
        pieces.append((edge.text, edge.id))
    return pieces


def _log_sum(one: float, other: float) -> float:
    """Return log(exp(one) + exp(other))."""
    high, low = max(one, other), min(one, other)
    return high + log1p(exp(low - high)) if low > -inf else high
