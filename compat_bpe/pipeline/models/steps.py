"""The steps of a model by its plain rule, one at a time, for display (``explain``).

They take time and memory for all that could be chosen, so this is for single words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Callable, NamedTuple

from .bpe.by_rank import BytePairEncoder
from .sentencepiece.lattice import Edge
from .unigram import Unigram
from .words import WordPiece


class Token(NamedTuple):
    """One part of a chunk, its bytes or its name; ``id`` is None for a byte that is no token."""

    id: int | None
    data: bytes


class Pair(NamedTuple):
    """Two neighbours that could be joined.

    Args:
        rank: the rank of the join: the new token's id, or the merge's index in the list, from 0.
        place: the index of the left one among the parts, from 0.
        made: the token that they make.
    """

    rank: int
    place: int
    made: Token


class MergeStep(NamedTuple):
    """A state of merging.

    Args:
        parts: the parts of the chunk.
        pairs: the pairs that could be joined, in the order of the rule. The first one is joined
            in the next step. The last state has no pairs.
    """

    parts: list[Token]
    pairs: list[Pair]


def merge_steps(chunk: bytes, encoder: BytePairEncoder) -> Iterator[MergeStep]:
    """Yield the states of merging, from single bytes to the final parts.

    Args:
        chunk: any bytes.
        encoder: the encoder to follow; the ids of the last state are its ``merge(chunk)``.

    >>> ranks = {b"h": 0, b"u": 1, b"g": 2, b"s": 3, b"ug": 4, b"gs": 5, b"hug": 6}
    >>> for parts, pairs in merge_steps(b"hugs", BytePairEncoder(ranks)):
    ...     print([part.data for part in parts], [(pair.made.data, pair.rank) for pair in pairs])
    [b'h', b'u', b'g', b's'] [(b'ug', 4), (b'gs', 5)]
    [b'h', b'ug', b's'] [(b'hug', 6)]
    [b'hug', b's'] []
    """
    first = [Token(token_id, data) for token_id, data in encoder.first_tokens(chunk)]

    def join(left: Token, right: Token) -> tuple[int, Token] | None:
        merge = encoder.joined(left, right)
        return merge and (merge[0], Token(merge[1], left.data + right.data))

    return steps(first, join)


def steps(
    first: Iterable[Token], join: Callable[[Token, Token], tuple[int, Token] | None]
) -> Iterator[MergeStep]:
    """Yield the states of merging.

    Args:
        first: the parts that it begins with.
        join: returns the rank of the join of two neighbours, and the token that they make; None if
            they are not joined.
    """
    parts = list(first)
    while True:
        pairs = []
        for place, (left, right) in enumerate(zip(parts, parts[1:])):
            merge = join(left, right)
            if merge is not None:
                pairs.append(Pair(merge[0], place, merge[1]))
        pairs.sort(key=lambda pair: (pair.rank, pair.place))
        yield MergeStep(parts, pairs)
        if not pairs:
            return
        place = pairs[0].place
        parts = [*parts[:place], pairs[0].made, *parts[place + 2 :]]


class Tried(NamedTuple):
    """The pieces that are tried at a place of a word.

    Args:
        place: the place, in characters.
        pieces: the pieces, the longest first; the last one is taken if it is in the vocabulary.
        id: the id of the last one; None if none is in the vocabulary.
    """

    place: int
    pieces: Sequence[str]
    id: int | None


def tried(model: WordPiece, chunk: str) -> Iterator[Tried]:
    """Yield the pieces that are tried at each place of a word that is not too long.

    >>> model = WordPiece({"hug": 0, "##s": 1, "[UNK]": 2}, "[UNK]")
    >>> for found in tried(model, "hugs"):
    ...     print(*found)
    0 ['hugs', 'hug'] 0
    3 ['##s'] 1
    """
    start = 0
    while start < len(chunk):
        prefix = model.prefix if start else ""
        pieces: list[str] = []
        token_id = None
        end = len(chunk)
        while end > start and token_id is None:
            pieces.append(prefix + chunk[start:end])
            token_id = model.vocabulary.get(pieces[-1])
            end -= 1
        yield Tried(start, pieces, token_id)
        if token_id is None:
            return
        start = end + 1


class Way(NamedTuple):
    """A way through the lattice.

    Args:
        score: the scores of its pieces, added up from the left.
        edges: its pieces.
    """

    score: float
    edges: tuple[Edge, ...]


def lattice(model: Unigram, chunk: str) -> list[Edge]:
    """Return the lattice of a chunk: all pieces that match, by their start, then by their length.

    A way through it, from the beginning to the end, is one way to write the chunk. Unknown
    characters are edges of their own; the model joins a run of them to one token.

    >>> model = Unigram(["<unk>", "h", "u", "g", "ug"], [-9.0, -3.0, -2.0, -3.0, -3.5], 0)
    >>> [(edge.text, edge.score) for edge in lattice(model, "hug")]
    [('h', -3.0), ('u', -2.0), ('ug', -3.5), ('g', -3.0)]
    """
    edges = []
    for start in range(len(chunk)):
        for end, score, is_unknown in model.edges(chunk, start):
            text = chunk[start:end]
            token_id = model.unknown if is_unknown else model.ids[text]
            if token_id is not None:
                edges.append(Edge(token_id, text, start, end, score))
    return edges


def n_best(model: Unigram, chunk: str, count: int) -> list[Way]:
    """Return the ways of the greatest scores, the best first.

    The first is the model's. Of equal ways, the one whose last piece is the longest comes first.
    Every place of the chunk keeps its ``count`` best ways, so this is for single words.

    Args:
        model: the model.
        chunk: any text.
        count: the greatest number of ways to return.

    Raises:
        ValueError: a character is unknown, and there is no unknown token.

    >>> model = Unigram(["<unk>", "h", "u", "g", "ug"], [-9.0, -3.0, -2.0, -3.0, -3.5], 0)
    >>> [(way.score, [edge.text for edge in way.edges]) for way in n_best(model, "hug", 2)]
    [(-6.5, ['h', 'ug']), (-8.0, ['h', 'u', 'g'])]
    """
    model.best_path(chunk)  # Raises if there may be no way.
    if count < 1:
        return []
    ways: list[list[Way]] = [[Way(0.0, ())]] + [[] for _ in chunk]
    ending: list[list[Edge]] = [[] for _ in range(len(chunk) + 1)]
    for edge in lattice(model, chunk):
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
