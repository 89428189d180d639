"""Byte-pair encoding by a list of merges, as in GPT-2's and Hugging Face's files.

A merge names two tokens, and only these two may be joined to the token that they make. The same
bytes in two other parts are not joined. In ``by_rank``, any two parts that make a token are
joined. For the vocabularies that training gives, both rules give the same ids.

This module uses that fact, and checks it. It merges a chunk as ``by_rank`` does, with the index of
its merge in the list as the rank of a token. Several merges may make one token, if they follow one
another: a list that was made from ranks has every two tokens that can be joined.

The property: if each merge on the way is in the list, the list gives the same result. ``by_rank``
allows every merge of the list, so no merge of a lower rank was skipped.

It is enough to check each token once:

1. No merge crosses the edges of a token before it is complete. So the merges inside it follow one
   another as if it were alone, and a token is made in the same way in every chunk.
2. So the merges were listed if, for each token of the result, merging it alone ends with its two
   listed parts, and the same is true of these parts.
3. The answer for a token is found when the token first occurs, and kept.
4. By 1, only one of several merges that make a token is ever possible once all merges of lower
   ranks are done. So their order makes no difference.

If a token fails this check, or if the vocabulary lacks a byte, ``_merge_pairs`` follows the list.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate, repeat
from operator import add, le
from typing import NamedTuple

from ....caches import Memo, cached_property, getter
from ...byte_level import BYTE_TO_UNICODE, UNICODE_TO_BYTE, decode_all, decode_bytes, encode_bytes
from .by_rank import BytePairEncoder
from .merging import Symbol, merge_by_heap, merge_in_windows, ranks_of_merges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..base import Ids
    from .by_rank import ListedPairs

#: The most pairs of ids that are kept.
_KEPT = 1 << 17


class UnknownPolicy(NamedTuple):
    """The treatment of characters, and of written bytes, that are not tokens.

    Args:
        token: the token for an unknown character; None to drop it.
        fuse: True if one such token stands for several in a row.
        byte_fallback: True if tokens such as ``<0xC4>`` are tried first. They are used if the
            vocabulary has all of them that spell the character.
    """

    token: str | None = None
    fuse: bool = False
    byte_fallback: bool = False

    def first_symbols(
        self, text: str, names: Sequence[str], known: Mapping[str, int]
    ) -> list[Symbol]:
        """Return the symbols that merging a text begins with.

        A character is a symbol if its name is a token. If not:

        1. With ``byte_fallback``, it is a symbol for each byte of its name, if all of these are
           tokens.
        2. Else it is the token for unknown characters. With ``fuse``, one token stands for several.
           As in tokenizers, it is put only before the next character that is a token, or at the
           end: the bytes of other characters come before it.
        3. Without such a token the character is dropped.

        Args:
            text: the text.
            names: the name of each of its characters.
            known: the vocabulary.

        Raises:
            ValueError: a character is unknown, and the unknown token is not in the vocabulary.
        """
        symbols: list[Symbol] = []
        pending: list[Symbol] = []
        for char, name in zip(text, names):
            length = len(char.encode())
            if name in known:
                if pending:
                    symbols += pending
                    pending = []
                symbols.append(Symbol(name, length))
                continue
            if self.byte_fallback:
                spelled = [f"<0x{byte:02X}>" for byte in name.encode()]
                if all(map(known.__contains__, spelled)):
                    symbols += map(Symbol, spelled, repeat(1))
                    continue
            if self.token is None:
                continue
            if self.token not in known:
                raise ValueError(
                    f"the vocabulary has no token for {char!r}, and lacks the token for unknown "
                    f"characters, {self.token!r}"
                )
            if self.fuse and pending:
                length += pending.pop().length
            symbols += pending
            pending = [Symbol(self.token, length)]
        return symbols + pending


class ListedMergesEncoder(BytePairEncoder):
    """An encoder of chunks by one vocabulary and its list of merges.

    Args:
        vocabulary: each token's id; the tokens are written in the byte alphabet.
        merges: the left and the right parts of all merges, in their order; all are in
            the vocabulary.
        unknown: the treatment of bytes that are not tokens.

    Raises:
        KeyError: the token that a merge makes is not in the vocabulary.

    >>> ids = {"a": 7, "b": 3, "ab": 5, "aba": 1}
    >>> ListedMergesEncoder(ids, (["a", "ab"], ["b", "a"]), UnknownPolicy()).merge(b"aaba")
    [7, 1]
    """

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        merges: tuple[Sequence[str], Sequence[str]],
        unknown: UnknownPolicy,
    ) -> None:
        self._vocabulary = vocabulary
        self._lefts, self._rights = merges
        self._unknown = unknown
        names = list(vocabulary)
        written = decode_all(names)
        tokens = dict(zip(written, vocabulary.values()))
        others: set[str] = set()
        if tokens.pop(None, None) is not None:
            others = {name for name, data in zip(names, written) if data is None}
        #: Each token's bytes and its id, without tokens that are not in the byte alphabet.
        self.tokens: dict[bytes, int] = tokens  # type: ignore[assignment]
        made = list(map(add, self._lefts, self._rights))
        ids = _ids_of(made, names, vocabulary)
        singles = UNICODE_TO_BYTE.keys() & vocabulary.keys()
        self._missing = decode_bytes("".join(UNICODE_TO_BYTE.keys() - singles))
        #: The id of each rank; None if ids never decrease in the list, so that ids
        #: serve as ranks.
        self._ids: list[int] | None = None
        #: The ranks of the tokens that the merges make.
        self._ranks_made: Sequence[int] = ids
        #: Ranks of tokens known to be made as listed, and of tokens known not to be.
        self._as_listed: set[int] = set()
        self._otherwise: set[int] = set()
        if all(map(le, ids, ids[1:])):
            ranks = dict(self.tokens)
            if len(ranks) != len(made) + len(singles) or not others.isdisjoint(made):
                # There are tokens that no merge makes.
                for name in set(names).difference(made, singles, others):
                    del ranks[decode_bytes(name)]
        else:
            ranks = {decode_bytes(name): rank for rank, name in enumerate(singles)}
            self._ids = [vocabulary[name] for name in singles] + ids
            self._ranks_made = range(len(singles), len(self._ids))
            # Backwards, so that of several merges for one token the first remains, whose rank is
            # the lowest.
            for data, rank in zip(reversed(decode_all(made)), reversed(self._ranks_made)):
                if data in ranks:
                    self._otherwise.add(rank)
                if data is not None:
                    ranks[data] = rank
        self._as_listed.update(ranks[decode_bytes(name)] for name in singles)
        super().__init__(ranks)
        self._whole_rank = getter(ranks)
        self._id_of = getter(vocabulary)

    follows_list = True

    @property
    def drops_bytes(self) -> bool:  # type: ignore[override]
        return not self.is_complete

    @property
    def unknown_names(self) -> tuple[str, ...]:  # type: ignore[override]
        token = self._unknown.token
        fallback = ("<0x",) if self._unknown.byte_fallback else ()
        return fallback if token is None else (token, *fallback)

    @property
    def unknown_id(self) -> int | None:  # type: ignore[override]
        token = self._unknown.token
        return None if token is None else self._vocabulary.get(token)

    def joined(
        self, left: tuple[int | None, bytes], right: tuple[int | None, bytes]
    ) -> tuple[int, int] | None:
        return self.listed_merge(left[0], right[0])

    def encode(self, chunk: bytes) -> Ids:
        """Return the ids of a chunk of any bytes."""
        return tuple(self.merge(chunk))

    def merge(self, chunk: bytes) -> list[int]:
        """Return the ids of a chunk of any bytes, as a list."""
        if self._missing and len(chunk.translate(None, self._missing)) < len(chunk):
            return self._merge_pairs(chunk)
        whole = self._whole_rank(chunk)
        if whole is not None and self.is_as_listed(whole):
            tokens = [whole]
        else:
            tokens = super().merge(chunk)
            if not self._as_listed.issuperset(tokens) and not all(map(self.is_as_listed, tokens)):
                return self._merge_pairs(chunk)
        return tokens if self._ids is None else list(map(self._ids.__getitem__, tokens))

    def is_as_listed(self, token: int) -> bool:
        """Return True if merging by rank makes the token of a rank by listed merges only."""
        waiting = [token]
        while waiting:
            last = waiting[-1]
            if last in self._as_listed or last in self._otherwise:
                waiting.pop()
                continue
            parts = self._listed_parts(last)
            if parts is None or not self._otherwise.isdisjoint(parts):
                self._otherwise.add(last)
            elif self._as_listed.issuperset(parts):
                self._as_listed.add(last)
            else:
                waiting += parts
        return token in self._as_listed

    def ranks_suffice(self) -> bool:
        """Return True if ids serve as ranks and merging by them gives every chunk the same ids."""
        are_ranks = self._ids is None and not self._missing
        return are_ranks and all(map(self.is_as_listed, self.ranks.values()))

    def makes_all_tokens(self) -> bool:
        """Return True if merging makes each token of the byte alphabet."""
        return all(token in self.ranks and len(self.merge(token)) == 1 for token in self.tokens)

    def listed_merge(self, left: int | None, right: int | None) -> tuple[int, int] | None:
        """Return the index in the list of the merge of two ids, and the id that it makes.

        None if no merge joins them. Of two merges of one pair, the later one counts.
        """
        return self._pairs[left, right]

    def listed_pairs(self) -> ListedPairs | None:
        if self._missing or len(self.names) < len(self._vocabulary):
            return None
        ids = self._vocabulary
        # As in `_pairs`, of two merges of one pair the later one counts.
        pairs = zip(map(ids.__getitem__, self._lefts), map(ids.__getitem__, self._rights))
        return (
            [ids[BYTE_TO_UNICODE[byte]] for byte in range(256)],
            dict(zip(pairs, range(len(self._lefts)))),
            [ids[name] for name in map(add, self._lefts, self._rights)],
        )

    def first_tokens(self, chunk: bytes) -> list[tuple[int | None, bytes]]:
        """Return the ids that merging a chunk begins with, each with its bytes.

        A token for unknown bytes has the bytes of its name.
        """
        names = [symbol.name for symbol in self._first_symbols(chunk)]
        byte_of = UNICODE_TO_BYTE
        return [
            (self._vocabulary[name], bytes([byte_of[name]]) if name in byte_of else name.encode())
            for name in names
        ]

    def find(self, chunk: bytes) -> list[tuple[int, str, int]]:
        """Return the ids of a chunk, with their names and lengths; see ``BytePairEncoder.find``.

        As in tokenizers, a token for unknown bytes is as long as the bytes, and dropped bytes have
        no length.
        """
        if not self._missing or len(chunk.translate(None, self._missing)) == len(chunk):
            return super().find(chunk)
        symbols = self._first_symbols(chunk)
        places = list(accumulate((symbol.length for symbol in symbols), initial=0))
        ids, starts = self._merge_ids([self._vocabulary[symbol.name] for symbol in symbols])
        ends = [*starts[1:], len(symbols)]
        return [
            (token_id, self.names[token_id], places[end] - places[start])
            for token_id, start, end in zip(ids, starts, ends)
        ]

    @cached_property
    def names(self) -> Mapping[int, str]:
        """Each id and its token, as in the vocabulary."""
        return {token_id: name for name, token_id in self._vocabulary.items()}

    def _listed_parts(self, token: int) -> list[int] | None:
        """Return the ranks of the two parts that merging by rank ends with if they are listed.

        Otherwise return None. The merging stops before the merge that makes the token.
        """
        first, end = bisect_left(self._ranks_made, token), bisect_right(self._ranks_made, token)
        parts = self._merge_below(token, decode_bytes(self._lefts[first] + self._rights[first]))
        rank_of = self._whole_rank
        for left, right in zip(self._lefts[first:end], self._rights[first:end]):
            if parts == [rank_of(decode_bytes(left)), rank_of(decode_bytes(right))]:
                return parts
        return None

    def _merge_pairs(self, chunk: bytes) -> list[int]:
        """Return the ids by following the rule literally, by pairs of ids."""
        first = list(map(self._id_of, encode_bytes(chunk)))
        if None in first:
            first = [self._vocabulary[symbol.name] for symbol in self._first_symbols(chunk)]
        return self._merge_ids(first)[0]

    def _merge_ids(self, first: Sequence[int]) -> tuple[list[int], Sequence[int]]:
        """Return the ids after all merges, and the place where each begins, in time n·log n."""
        return merge_in_windows(
            len(first), lambda low, high: merge_by_heap(first[low:high], self.listed_merge)
        )

    @cached_property
    def _pairs(self) -> Memo[tuple[int | None, int | None], tuple[int, int] | None]:
        """For pairs of ids, the rank of their merge and the id that it makes; None without one.

        A pair is looked up in the list on first use, since few pairs are used.
        """
        separator, ranks = ranks_of_merges(self._lefts, self._rights)

        def find(pair: tuple[int | None, int | None]) -> tuple[int, int] | None:
            left, right = pair
            if left is None or right is None:
                return None
            first, second = self.names[left], self.names[right]
            rank = ranks.get(first + separator + second)
            return None if rank is None else (rank, self._vocabulary[first + second])

        return Memo(find, _KEPT)

    def _first_symbols(self, chunk: bytes) -> list[Symbol]:
        """Return the symbols of the bytes of a chunk, written in the byte alphabet."""
        text = encode_bytes(chunk)
        return self._unknown.first_symbols(text, text, self._vocabulary)


def _ids_of(made: list[str], names: list[str], vocabulary: Mapping[str, int]) -> list[int]:
    """Return the ids of the tokens that the merges make.

    Most vocabularies list these tokens in the merges' order. Checking for that is faster than
    looking up each token.
    """
    if made and made[0] in vocabulary:
        first = names.index(made[0])
        if names[first : first + len(made)] == made:
            return list(vocabulary.values())[first : first + len(made)]
    return list(map(vocabulary.__getitem__, made))
