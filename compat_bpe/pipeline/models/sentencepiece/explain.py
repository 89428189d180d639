"""SentencePiece's BPE and Unigram: the merges, or the pieces that match and the best ways."""

from __future__ import annotations

from itertools import chain

from ..bpe.explain import Pair, Token, steps
from ..explain.base import explain
from ..explain.merging import Merging
from ..unigram.explain import BestWay
from ..unigram.shown_lattice import Edge, Way
from .bpe import SentencePieceBPE
from .lattice import PieceLattice
from .unigram import SentencePieceUnigram


@explain.register
def _explain_merges(model: SentencePieceBPE, chunk: str) -> Merging:
    pieces = model.pieces

    def token(text: str) -> Token:
        return Token(pieces.ids.get(text, pieces.unk_id), text.encode())

    symbols = model.first_symbols(chunk)
    first = [token(text) for text, _ in symbols]
    # User-defined symbols are not merged; the same text may be merged elsewhere.
    frozen = {id(one) for one, (_, is_frozen) in zip(first, symbols) if is_frozen}

    def join(left: Token, right: Token) -> tuple[int, Token] | None:
        texts = left.data.decode(), right.data.decode()
        rank = None if frozen & {id(left), id(right)} else model.rank(*texts)
        return None if rank is None else (rank, token("".join(texts)))

    def score(pair: Pair) -> str:
        return f"{pieces.scores[pair.made.id or 0]:g}"

    return Merging(
        chunk.encode(),
        model.encode(chunk),
        False,
        lambda: steps(first, join),
        score,
        " > ",
    )


@explain.register
def _explain_best_way(model: SentencePieceUnigram, chunk: str) -> BestWay:
    lattice = PieceLattice(model, chunk)
    edges = sorted(
        (
            Edge(node.number, node.text, node.start, node.start + len(node.text), node.score)
            for node in chain.from_iterable(lattice.ending)
        ),
        key=lambda edge: (edge.start, edge.end),
    )
    best = model.split(chunk)
    # Of ways that are nearly as good, rounding decides, here and there in other ways.
    others = [way for way in lattice.best(2) if way != best] if chunk else []
    ways = [_way(lattice.score(way), way) for way in [best, *others[:1]]]
    of_place = {(edge.start, edge.end): edge for edge in edges}
    return BestWay(
        chunk,
        model.encode(chunk),
        edges,
        [Way(score, tuple(of_place[place] for place in places)) for score, places in ways],
    )


def _way(score: float, way: list[tuple[str, int]]) -> tuple[float, list[tuple[int, int]]]:
    places = []
    end = 0
    for text, _ in way:
        places.append((end, end + len(text)))
        end += len(text)
    return score, places
