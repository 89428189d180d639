"""Explanations of the ids of a chunk, for each kind of model; imported on demand.

They take time and memory for all alternatives, so use them for single words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import singledispatch
from itertools import chain, groupby
from operator import attrgetter
from typing import Any, NamedTuple

from ..byte_level import encode_bytes
from .bpe.by_rank import ByteLevelBPE, BytePairEncoder
from .bpe.characters import CharacterBPE
from .sentencepiece.bpe import SentencePieceBPE
from .sentencepiece.unigram import SentencePieceUnigram
from .sentencepiece.ways import Edge
from .unigram import Unigram
from .wordpiece import WordPiece


class Token(NamedTuple):
    """One part of a chunk, its bytes or its name; ``id`` is None for a byte that is not a token."""

    id: int | None
    data: bytes


class Pair(NamedTuple):
    """Two neighbours that could be joined.

    Args:
        rank: the rank of the join: the new token's id, or the merge's index in the list, from 0.
        place: the index of the left part among all parts, from 0.
        made: the token that they make when they are joined.
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
        first: the first parts.
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
    """The pieces that are looked up at a place of a word.

    Args:
        place: the place, in characters.
        pieces: the pieces, the longest first; the last one is taken if it is in the vocabulary.
        id: the id of the last piece; None if no piece is in the vocabulary.
    """

    place: int
    pieces: Sequence[str]
    id: int | None


def tried(model: WordPiece, chunk: str) -> Iterator[Tried]:
    """Yield the pieces that are looked up at each place of a word that is not too long.

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

    The first way is the model's. Among equal ways, the way with the longest last piece comes first.
    Every place of the chunk keeps its ``count`` best ways, so use this for single words.

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
    model.best_path(chunk)  # raises an error if there may be no way
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


#: The number of ways that are shown.
_WAYS = 2


class Item(NamedTuple):
    """An alternative of a step.

    Args:
        parts: its parts.
        figure: its number as text; may be empty.
        lead: the text between it and the alternative before.
    """

    parts: Sequence[bytes]
    figure: str = ""
    lead: str = ", "


class Row(NamedTuple):
    """A step.

    Args:
        parts: the current parts of the chunk.
        marked: the start and the end of the parts that the step changes; equal if there are none.
        items: the alternatives, in the order in which they are considered.
        taken: the index of the chosen alternative; None if there is none.
    """

    parts: Sequence[bytes]
    marked: tuple[int, int] = (0, 0)
    items: Sequence[Item] = ()
    taken: int | None = None


class Explanation(NamedTuple):
    """The steps of a model from a chunk to its ids.

    Args:
        chunk: the chunk, as bytes.
        ids: its ids.
        rows: yields the steps, for people to read.
        members: returns the steps as members of a JSON object, given the function that returns text
            to show bytes.
        note: a remark on the whole chunk; may be empty.
        widest: the parts of the step that has the most text, for columns.
    """

    chunk: bytes
    ids: Sequence[int]
    rows: Callable[[], Iterator[Row]]
    members: Callable[[Callable[[bytes], str]], dict[str, Any]]
    note: str = ""
    widest: Sequence[bytes] = ()


@singledispatch
def explain(model: Any, chunk: str) -> Explanation:
    """Return the steps of a model from a chunk to its ids.

    For a kind of model without an explanation of its own, the steps are only its tokens.

    Raises:
        ValueError: the model has no token for a part of the chunk.

    >>> from compat_bpe.pipeline.models.wordpiece import WordLevel
    >>> found = explain(WordLevel({"hi": 0, "[UNK]": 1}, "[UNK]"), "hey")
    >>> found.note, found.ids, found.members(bytes.decode)["tokens"]
    ('unknown', (1,), [{'token': '[UNK]', 'id': 1}])
    """
    tokens = [(token.text.encode(), token.id) for token in model.find(chunk)]

    def rows() -> Iterator[Row]:
        yield Row([text for text, _ in tokens])

    def members(show: Callable[[bytes], str]) -> dict[str, Any]:
        return {"tokens": [{"token": show(text), "id": token_id} for text, token_id in tokens]}

    ids = tuple(token_id for _, token_id in tokens)
    note = "unknown" if ids == (model.unknown_id,) else ""
    return Explanation(chunk.encode(), ids, rows, members, note)


# Byte-pair encoding, over bytes or over characters: the states of merging


@explain.register
def _explain_bytes(model: ByteLevelBPE, chunk: str) -> Explanation:
    data = model.to_bytes(chunk)
    return _merging(
        data,
        model.ids_of(data),
        data in model.whole,
        lambda: merge_steps(data, model.merges),
        _number_in_list if model.merges.follows_list else lambda pair: str(pair.rank),
    )


@explain.register
def _explain_characters(model: CharacterBPE, chunk: str) -> Explanation:
    vocabulary = model.vocabulary

    def token(name: str) -> Token:
        return Token(vocabulary[name], name.encode())

    def join(left: Token, right: Token) -> tuple[int, Token] | None:
        names = left.data.decode(), right.data.decode()
        rank = model.rank(*names)
        return None if rank is None else (rank, token(model.join(*names)))

    text = encode_bytes(chunk.encode()) if model.by_bytes else chunk
    return _merging(
        chunk.encode(),
        model.encode(chunk),
        text in model.whole,
        lambda: steps([token(symbol.name) for symbol in model.first_symbols(text)], join),
        _number_in_list,
    )


@explain.register
def _explain_pieces(model: SentencePieceBPE, chunk: str) -> Explanation:
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

    ids = model.encode(chunk)
    return _merging(chunk.encode(), ids, False, lambda: steps(first, join), score, " > ")


def _number_in_list(pair: Pair) -> str:
    """Return the number of a merge in its list, counted from 1."""
    return f"#{pair.rank + 1}"


def _merging(
    chunk: bytes,
    ids: Sequence[int],
    is_token: bool,
    states: Callable[[], Iterator[MergeStep]],
    figure: Callable[[Pair], str],
    sign: str = " < ",
) -> Explanation:
    """Return the explanation of a chunk by the states that merging goes through.

    Args:
        chunk: the chunk, as bytes.
        ids: its ids.
        is_token: True if it is a token as a whole, which is not merged.
        states: returns the states.
        figure: returns the text that shows the rank of a pair.
        sign: the text between two figures; the pair of the first figure is joined first.
    """

    def rows() -> Iterator[Row]:
        for step in states():
            parts = [part.data for part in step.parts]
            if step.pairs:
                place = step.pairs[0].place
                yield Row(parts, (place, place + 2), items(step), 0)
            # A chunk that was never in parts is not shown twice.
            elif is_token or len(parts) > 1 or parts != [chunk]:
                yield Row(parts)

    def items(step: MergeStep) -> list[Item]:
        def key(pair: Pair) -> tuple[int, list[bytes]]:
            return pair.rank, [part.data for part in step.parts[pair.place : pair.place + 2]]

        found: list[Item] = []
        before = -1
        for (rank, parts), equal in groupby(sorted(step.pairs, key=key), key):
            pairs = list(equal)
            times = f" x{len(pairs)}" if len(pairs) > 1 else ""
            # Two pairs can make one token.
            lead = " = " if rank == before else sign
            found.append(Item(parts, figure(pairs[0]) + times, lead))
            before = rank
        return found

    def members(show: Callable[[bytes], str]) -> dict[str, Any]:
        return {
            "is_token": is_token,
            "steps": [
                {
                    "parts": [show(part.data) for part in step.parts],
                    "pairs": [
                        {"place": pair.place, "rank": pair.rank, "id": pair.made.id}
                        for pair in step.pairs
                    ],
                }
                for step in states()
            ],
        }

    # The first parts have the most separators.
    widest = [part.data for part in next(states()).parts]
    is_merged = is_token and len(widest) > 1
    note = "the whole chunk is a token and is not merged; merging would give:" if is_merged else ""
    return Explanation(chunk, ids, rows, members, note, widest)


# WordPiece: the pieces that are tried at each place, the longest first


@explain.register
def _explain_word(model: WordPiece, chunk: str) -> Explanation:
    ids = model.encode(chunk)
    is_too_long = len(chunk) > model.longest_word
    places = [] if is_too_long else list(tried(model, chunk))
    is_unknown = is_too_long or any(step.id is None for step in places)
    note = "unknown: a part of it matches no piece of the vocabulary" if is_unknown else ""
    if is_too_long:
        note = f"unknown: it has more than {model.longest_word} characters"

    def rows() -> Iterator[Row]:
        taken: list[bytes] = []
        for step in places:
            items = [Item([piece.encode()]) for piece in step.pieces]
            if step.id is None:
                items.append(Item([], "none is in the vocabulary", ": "))
            else:
                items[-1] = items[-1]._replace(figure=str(step.id))
            parts = [*taken, chunk[step.place :].encode()]
            last = len(items) - 1
            yield Row(parts, (len(taken), len(parts)), items, None if step.id is None else last)
            taken.append(step.pieces[-1].encode())
        if not is_unknown and len(taken) > 1:
            yield Row(taken)

    def members(show: Callable[[bytes], str]) -> dict[str, Any]:
        return {
            "is_unknown": is_unknown,
            "steps": [
                {
                    "place": step.place,
                    "tried": [show(piece.encode()) for piece in step.pieces],
                    "id": step.id,
                }
                for step in places
            ],
        }

    # The last parts have the most prefixes.
    widest = [step.pieces[-1 if step.id is not None else 0].encode() for step in places]
    return Explanation(chunk.encode(), ids, rows, members, note, widest)


# Unigram: all pieces that match in a chunk with their scores, and the best ways through them


@explain.register
def _explain_lattice(model: Unigram, chunk: str) -> Explanation:
    edges, ways = lattice(model, chunk), n_best(model, chunk, _WAYS)
    return _best_ways(chunk, model.encode(chunk), edges, ways)


@explain.register
def _explain_piece_lattice(model: SentencePieceUnigram, chunk: str) -> Explanation:
    pieces = model.lattice(chunk)
    edges = sorted(chain.from_iterable(pieces.ending), key=lambda edge: (edge.start, edge.end))
    of_place = {(edge.start, edge.end): edge for edge in edges}

    def way_of(path: list[tuple[str, int]]) -> Way:
        way: list[Edge] = []
        for text, _ in path:
            end = way[-1].end if way else 0
            way.append(of_place[end, end + len(text)])
        return Way(pieces.score(path), tuple(way))

    best = model.split(chunk)
    # Between ways that are almost equal rounding decides, and the lattice rounds differently.
    others = [way for way in pieces.best(_WAYS) if way != best] if chunk else []
    ways = [way_of(path) for path in [best, *others[:1]]]
    return _best_ways(chunk, model.encode(chunk), edges, ways)


def _best_ways(
    chunk: str, ids: Sequence[int], edges: Sequence[Edge], ways: Sequence[Way]
) -> Explanation:
    """Return the explanation of a chunk by its lattice.

    Args:
        chunk: the chunk.
        ids: its ids.
        edges: all pieces that match, by their start.
        ways: the best ways, beginning with the model's.
    """

    def rows() -> Iterator[Row]:
        best = {edge.start: edge for edge in ways[0].edges} if ways else {}
        for place, char in enumerate(chunk):
            here = [edge for edge in edges if edge.start == place]
            items = [Item([edge.text.encode()], f"{edge.score:.2f}") for edge in here]
            taken = here.index(best[place]) if place in best else None
            yield Row([char.encode()], (0, int(taken is not None)), items, taken)
        for index, way in enumerate(ways):
            figure = f"{way.score:.2f} {'second best' if index else 'best'}"
            parts = [edge.text.encode() for edge in way.edges]
            yield Row(parts, (0, 0), [Item([], figure)], None if index else 0)

    def members(show: Callable[[bytes], str]) -> dict[str, Any]:
        return {
            "lattice": [
                {
                    "start": edge.start,
                    "end": edge.end,
                    "piece": show(edge.text.encode()),
                    "id": edge.id,
                    "score": edge.score,
                }
                for edge in edges
            ],
            "ways": [
                {"score": way.score, "pieces": [show(edge.text.encode()) for edge in way.edges]}
                for way in ways
            ],
        }

    return Explanation(chunk.encode(), ids, rows, members)
