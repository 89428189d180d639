"""Byte-pair encoding, over bytes or over characters: the states of merging."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from ...byte_level import encode_bytes
from ..bpe.byte_level import ByteLevelBPE
from ..bpe.characters import CharacterBPE
from ..bpe.explain import MergeStep, Pair, Token, merge_steps, steps
from .base import Item, Row, explain


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
