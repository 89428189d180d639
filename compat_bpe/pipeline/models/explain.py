"""Explanations: how each kind of model comes to the ids of a chunk. Imported when one is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import singledispatch
from itertools import chain, groupby
from typing import Any, NamedTuple

from ..byte_level import encode_bytes
from .bpe.by_rank import ByteLevelBPE
from .bpe.characters import CharacterBPE
from .sentencepiece.bpe import SentencePieceBPE
from .sentencepiece.lattice import PieceLattice
from .sentencepiece.unigram import SentencePieceUnigram
from .steps import (
    Edge,
    MergeStep,
    Pair,
    Token,
    Way,
    merge_steps,
    n_best,
    shown_lattice,
    steps,
    tried,
)
from .unigram import Unigram
from .words import WordPiece

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Explanation(Protocol):
        """The steps by which a model comes to the ids of a chunk."""

        @property
        def chunk(self) -> bytes:
            """The chunk, as bytes."""

        @property
        def note(self) -> str:
            """A remark on the whole chunk; may be empty."""

        @property
        def ids(self) -> Sequence[int]:
            """The ids."""

        @property
        def widest(self) -> Sequence[bytes]:
            """The parts of the step that has the most text, for columns."""

        def rows(self) -> Iterator[Row]:
            """Yield the steps, for people to read."""

        def members(self, show: Callable[[bytes], str]) -> dict[str, Any]:
            """Return the steps as members of a JSON object.

            Args:
                show: returns text that shows bytes.
            """


#: The number of ways that are shown.
_WAYS = 2


class Item(NamedTuple):
    """One of the ways to go on.

    Args:
        parts: what it consists of.
        figure: its number as text; may be empty.
        lead: the text between it and the item before.
    """

    parts: Sequence[bytes]
    figure: str = ""
    lead: str = ", "


class Row(NamedTuple):
    """A step.

    Args:
        parts: the parts that the chunk has now.
        marked: the first and the end of those that the step is about; equal if there are none.
        items: the ways to go on, in the order in which they are thought of.
        taken: the index of the one that is taken; None if none is.
    """

    parts: Sequence[bytes]
    marked: tuple[int, int] = (0, 0)
    items: Sequence[Item] = ()
    taken: int | None = None


@singledispatch
def explain(model: Any, chunk: str) -> Explanation:
    """Return how a model comes to the ids of a chunk.

    A kind of model without an explanation of its own is explained by the tokens that it finds.

    Raises:
        ValueError: the model has no token for a part of the chunk.

    >>> from compat_bpe.pipeline.models.words import WordLevel
    >>> found = explain(WordLevel({"hi": 0, "[UNK]": 1}, "[UNK]"), "hey")
    >>> found.note, found.ids, found.members(bytes.decode)["tokens"]
    ('unknown', (1,), [{'token': '[UNK]', 'id': 1}])
    """
    return Tokens(model, chunk)


class Tokens:
    """The explanation of a chunk by its tokens alone.

    Args:
        model: any model.
        chunk: the chunk.

    Raises:
        ValueError: as in ``explain``.
    """

    def __init__(self, model: Any, chunk: str) -> None:
        self._found = model.find(chunk)
        self.chunk: bytes = chunk.encode()
        self.ids: Sequence[int] = tuple(token.id for token in self._found)
        self.note = "unknown" if self.ids == (model.unknown_id,) else ""

    widest: Sequence[bytes] = ()

    def rows(self) -> Iterator[Row]:
        """Yield the tokens."""
        yield Row([token.text.encode() for token in self._found])

    def members(self, show: Callable[[bytes], str]) -> dict[str, Any]:
        """Return the tokens."""
        return {
            "tokens": [
                {"token": show(token.text.encode()), "id": token.id} for token in self._found
            ]
        }


class Merging:
    """The states that merging goes through.

    Args:
        chunk: the chunk, as bytes.
        ids: its ids.
        is_token: True if it is a token as a whole, which is not merged.
        states: returns the states.
        figure: returns the text that shows the rank of a pair.
        sign: the text between two figures, of which the first comes first.
    """

    def __init__(
        self,
        chunk: bytes,
        ids: Sequence[int],
        is_token: bool,
        states: Callable[[], Iterator[MergeStep]],
        figure: Callable[[Pair], str],
        sign: str = " < ",
    ) -> None:
        self.chunk = chunk
        self.ids = ids
        self._is_token = is_token
        self._states = states
        self._figure = figure
        self._sign = sign

    @property
    def note(self) -> str:
        """A remark on a chunk that is a token as a whole."""
        if not self._is_token or len(next(self._states()).parts) < 2:
            return ""
        return "a token as a whole, so it is not merged; if it were:"

    @property
    def widest(self) -> Sequence[bytes]:
        """The first parts: they have the most separators."""
        return [part.data for part in next(self._states()).parts]

    def rows(self) -> Iterator[Row]:
        """Yield the states, with the pairs that could be merged."""
        for step in self._states():
            parts = [part.data for part in step.parts]
            if not step.pairs:
                # What was never in parts is not shown twice.
                if self._is_token or len(parts) > 1 or parts != [self.chunk]:
                    yield Row(parts)
                return
            place = step.pairs[0].place
            yield Row(parts, (place, place + 2), self._items(step), 0)

    def _items(self, step: MergeStep) -> list[Item]:
        def key(pair: Pair) -> tuple[int, list[bytes]]:
            return pair.rank, [part.data for part in step.parts[pair.place : pair.place + 2]]

        items: list[Item] = []
        before = -1
        for (rank, parts), equal in groupby(sorted(step.pairs, key=key), key):
            pairs = list(equal)
            times = f" x{len(pairs)}" if len(pairs) > 1 else ""
            # Two pairs can make one token.
            lead = " = " if rank == before else self._sign
            items.append(Item(parts, self._figure(pairs[0]) + times, lead))
            before = rank
        return items

    def members(self, show: Callable[[bytes], str]) -> dict[str, Any]:
        """Return the states; "is_token" is true if the chunk is not merged."""
        return {
            "is_token": self._is_token,
            "steps": [
                {
                    "parts": [show(part.data) for part in step.parts],
                    "pairs": [
                        {"place": pair.place, "rank": pair.rank, "id": pair.made.id}
                        for pair in step.pairs
                    ],
                }
                for step in self._states()
            ],
        }


@explain.register
def _explain_bytes(model: ByteLevelBPE, chunk: str) -> Merging:
    data = model.to_bytes(chunk)
    return Merging(
        data,
        model.ids_of(data),
        data in model.whole,
        lambda: merge_steps(data, model.merges),
        number_in_list if model.merges.follows_list else rank,
    )


@explain.register
def _explain_characters(model: CharacterBPE, chunk: str) -> Merging:
    vocabulary = model.vocabulary

    def token(name: str) -> Token:
        return Token(vocabulary[name], name.encode())

    def join(left: Token, right: Token) -> tuple[int, Token] | None:
        names = left.data.decode(), right.data.decode()
        rank = model.rank(*names)
        return None if rank is None else (rank, token(model.join(*names)))

    text = encode_bytes(chunk.encode()) if model.by_bytes else chunk
    return Merging(
        chunk.encode(),
        model.encode(chunk),
        text in model.whole,
        lambda: steps([token(symbol.name) for symbol in model.first_symbols(text)], join),
        number_in_list,
    )


def rank(pair: Pair) -> str:
    """Return the rank of a pair, which is the id of the token that it makes."""
    return str(pair.rank)


def number_in_list(pair: Pair) -> str:
    """Return the number of a merge in its list, counted from 1."""
    return f"#{pair.rank + 1}"


class LongestPieces:
    """The explanation of a word.

    Args:
        model: the model.
        chunk: the word.

    Raises:
        ValueError: it is unknown, and there is no token for that.
    """

    def __init__(self, model: WordPiece, chunk: str) -> None:
        self.chunk = chunk.encode()
        self.ids = model.encode(chunk)
        self._text = chunk
        self._is_too_long = len(chunk) > model.longest_word
        self._tried = [] if self._is_too_long else list(tried(model, chunk))
        self._is_unknown = self._is_too_long or any(step.id is None for step in self._tried)
        self.note = ""
        if self._is_too_long:
            self.note = f"unknown: it has more than {model.longest_word} characters"
        elif self._is_unknown:
            self.note = "unknown: at some place no piece of the vocabulary fits"

    @property
    def widest(self) -> Sequence[bytes]:
        """The last parts: they have the most prefixes."""
        return [step.pieces[-1 if step.id is not None else 0].encode() for step in self._tried]

    def rows(self) -> Iterator[Row]:
        """Yield the pieces that are tried at each place."""
        taken: list[bytes] = []
        for step in self._tried:
            items = [Item([piece.encode()]) for piece in step.pieces]
            if step.id is None:
                items.append(Item([], "none is in the vocabulary", ": "))
            else:
                items[-1] = items[-1]._replace(figure=str(step.id))
            parts = [*taken, self._text[step.place :].encode()]
            last = len(items) - 1
            yield Row(parts, (len(taken), len(parts)), items, None if step.id is None else last)
            taken.append(step.pieces[-1].encode())
        if not self._is_unknown and len(taken) > 1:
            yield Row(taken)

    def members(self, show: Callable[[bytes], str]) -> dict[str, Any]:
        """Return the pieces that are tried; "id" is that of the last one, null if none fits."""
        return {
            "is_unknown": self._is_unknown,
            "steps": [
                {
                    "place": step.place,
                    "tried": [show(piece.encode()) for piece in step.pieces],
                    "id": step.id,
                }
                for step in self._tried
            ],
        }


@explain.register
def _explain_word(model: WordPiece, chunk: str) -> LongestPieces:
    return LongestPieces(model, chunk)


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
def _explain_lattice(model: Unigram, chunk: str) -> BestWay:
    edges = shown_lattice(model, chunk).edges
    return BestWay(chunk, model.encode(chunk), edges, n_best(model, chunk, _WAYS))


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
