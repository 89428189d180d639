r"""Byte-pair encoding over characters, as in tokenizers for Llama, Gemma, CLIP and others.

A chunk becomes *symbols*, each named like a token of the vocabulary, first one for each character
(``CharacterBPE.first_symbols``). Then the two neighbours whose merge comes first in the list of
merges are joined, the leftmost such pair first, until no two neighbours have a merge:

    ▁ l o w e r  →  ▁ l o w er  →  ▁ lo w er  →  ▁ low er  →  ▁low er

``merging.merge`` is this rule, literally. ``CharacterBPE`` follows it in three faster ways: with a
list for a word, with a heap and a linked list for a long chunk, and by cutting a long chunk first
(see ``CharacterCuts``). A chunk may be a whole text, since some files have no pre-tokenizer.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate, chain, compress, count, repeat
from operator import add, not_

from ....caches import Cache, cached_property, getter, shareable
from ...byte_level import UNICODE_TO_BYTE, encode_bytes
from ..base import ChunkToken, Joints, TextModel
from .by_merges import UnknownPolicy
from .merging import Symbol, absent_from, merge, merge_by_heap, merge_in_windows, ranks_of_merges

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..base import Ids

#: The rank of two symbols without a merge: above every rank.
_NO_RANK = 1 << 32
#: The number of symbols from which the heap is faster than the list.
_MANY = 70
#: The length in characters from which a chunk is cut first.
_LONG = 16
#: Cut long chunks after this many characters in long chunks, since the preparation takes a while.
_WORTH_CUTTING = 1 << 13
#: The most pairs of characters, and the most parts of cut chunks, that are kept.
_KEPT = 1 << 17
#: The greatest length in characters of a part that is kept.
_LONGEST_KEPT = 64


class CharacterBPE(TextModel):
    """The model that encodes a chunk by merging its characters.

    Args:
        vocabulary: each token's id, which no other token has.
        merges: the left and the right parts of all merges, in their order; all are in the
            vocabulary, and none is empty. If a pair has two merges, the later one counts, as in
            tokenizers.
        unknown: the treatment of characters that are not tokens; by default they are dropped.
        prefix: the beginning of the names of a chunk's first symbols, except for the very first
            one. No right part of a merge is shorter.
        suffix: the end of the name of a chunk's last first symbol.
        ignore_merges: True if a chunk that is a token is that token, without merging.
        by_bytes: True if the characters are a chunk's bytes, written in the byte alphabet (see
            ``byte_level``).
        spelled: each merge as its parts with a space between them, if no part has one.

    Raises:
        KeyError: the token that a merge makes is not in the vocabulary; with the index of the merge
            and the name of the token.

    >>> ids = {"l": 0, "o": 1, "w</w>": 2, "lo": 3, "low</w>": 4}
    >>> CharacterBPE(ids, (["l", "lo"], ["o", "w</w>"]), suffix="</w>").encode("low")
    (4,)
    """

    def __init__(
        self,
        vocabulary: dict[str, int],
        merges: tuple[Sequence[str], Sequence[str]],
        unknown: UnknownPolicy | None = None,
        *,
        prefix: str = "",
        suffix: str = "",
        ignore_merges: bool = False,
        by_bytes: bool = False,
        spelled: Sequence[str] = (),
    ) -> None:
        self.vocabulary = vocabulary
        self._lefts, self._rights = merges
        self._unknown = unknown = unknown or UnknownPolicy()
        self._prefix, self._suffix = prefix, suffix
        self.whole = vocabulary if ignore_merges else {}
        self._whole_id = getter(self.whole)
        self.by_bytes = by_bytes
        # A merge joins a name and the *tail* of another name: the part after the prefix's length.
        tails = _tails(self._rights, prefix) if prefix else self._rights
        if not all(map(vocabulary.__contains__, map(add, self._lefts, tails))):
            made = list(map(add, self._lefts, tails))
            index = next(i for i, name in enumerate(made) if name not in vocabulary)
            raise KeyError(index, made[index])
        self._tails = shareable(zip(self._rights, tails) if prefix else ())
        self._separator, self._ranks = (
            (" ", shareable(zip(spelled, range(len(self._lefts)))))
            if spelled
            else ranks_of_merges(self._lefts, self._rights)
        )
        # The plain rule and the list need merges whose result is not their left part.
        self._many = 0 if "" in self._tails.values() else _MANY
        spans = None if prefix or suffix or ignore_merges else (self._lefts, self._rights)
        #: The places at which a chunk may be cut.
        self.cuts = CharacterCuts(vocabulary, spans, unknown)
        self._long_seen = 0
        self._cutter: Cutter | None = None

    @cached_property
    def is_complete(self) -> bool:
        """True if every text has ids, and no part of it is dropped."""
        if not self.by_bytes:
            return self.cuts.all_have_bytes
        names = [self._prefix + char for char in UNICODE_TO_BYTE] if self._prefix else []
        names += UNICODE_TO_BYTE
        names += [name + self._suffix for name in names]
        return self.vocabulary.keys() >= set(names)

    @cached_property
    def joints(self) -> Joints | None:
        """The places at which a chunk may be cut; None if it may not."""
        return Joints(self.cuts.are_between) if self.cuts.are_possible else None

    @property
    def unknown_id(self) -> int | None:
        """The id of the unknown token; None if there is none."""
        token = self._unknown.token
        return None if token is None else self.vocabulary.get(token)

    def encode(self, chunk: str) -> Ids:
        """Return the ids of a chunk.

        Raises:
            ValueError: a character is unknown, and the unknown token is not in the vocabulary.
        """
        if self.by_bytes:
            chunk = encode_bytes(chunk.encode())
        whole = self._whole_id(chunk)
        if whole is not None:
            return (whole,)
        if len(chunk) >= _LONG and self.cuts.are_possible:
            cutter = self._cutter
            if cutter is not None:
                return tuple(cutter.ids(chunk))
            self._long_seen += len(chunk)
            if self._long_seen > _WORTH_CUTTING:
                self._cutter = Cutter(self._merged_ids, self.cuts)
        return self._merged_ids(chunk)

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the tokens of a chunk with their places.

        The places are those of tokenizers: each token begins where the token before ends. So they
        are too small after a dropped character, and too large after the bytes of a decorated name.

        Raises:
            ValueError: as in ``encode``.
        """
        text = encode_bytes(chunk.encode()) if self.by_bytes else chunk
        whole = self.whole.get(text)
        if whole is not None:
            symbols = [Symbol(text, len(text.encode()))]
        else:
            symbols = self._merged(self.first_symbols(text))
        places = list(accumulate((symbol.length for symbol in symbols), initial=0))
        starts, ends = places[:-1], places[1:]
        if self.by_bytes:
            # A place in the text is that of the byte whose character is there, or beside it.
            chars = list(accumulate(len(char.encode()) for char in text))
            starts = [bisect_right(chars, start) for start in starts]
            ends = [bisect_left(chars, end) + 1 for end in ends]
        ids = self.vocabulary
        return [
            ChunkToken(ids[symbol.name], symbol.name, start, end)
            for symbol, start, end in zip(symbols, starts, ends)
        ]

    def clear_cache(self) -> None:
        """Clear the cache of long chunks."""
        self._cutter = None
        self._long_seen = 0

    # First symbols

    def first_symbols(self, chunk: str) -> list[Symbol]:
        """Return the symbols that merging begins with: characters with their decoration.

        ``UnknownPolicy.first_symbols`` has the rule for unknown characters.

        Raises:
            ValueError: as in ``encode``.
        """
        return self._unknown.first_symbols(chunk, self._decorated(chunk), self.vocabulary)

    def _decorated(self, chunk: str) -> Sequence[str]:
        """Return the characters of a chunk with the prefix and the suffix."""
        if not self._prefix and not self._suffix:
            return chunk
        names = list(chunk)
        names[1:] = map(add, repeat(self._prefix), names[1:])
        names[-1:] = [name + self._suffix for name in names[-1:]]
        return names

    # Merging

    def rank(self, left: str, right: str) -> int | None:
        """Return the rank of the merge of two names; None if there is none."""
        return self._ranks.get(left + self._separator + right)

    def join(self, left: str, right: str) -> str:
        """Return the name that the merge of two names makes."""
        return left + self._tails.get(right, right)

    def _merged(self, symbols: list[Symbol]) -> list[Symbol]:
        """Return the symbols after all merges, by the plain rule unless there are too many."""
        if len(symbols) < self._many:
            return merge(symbols, self.rank, self.join)
        names, starts = self._merge_long([symbol.name for symbol in symbols])
        ends = list(accumulate((symbol.length for symbol in symbols), initial=0))
        starts.append(len(symbols))
        return [
            Symbol(name, ends[end] - ends[start])
            for name, start, end in zip(names, starts, starts[1:])
        ]

    def _merged_ids(self, chunk: str) -> Ids:
        """Return the ids of a chunk, by merging all of it."""
        known = self.vocabulary
        names = self._decorated(chunk)
        if not all(map(known.__contains__, names)):
            names = [symbol.name for symbol in self.first_symbols(chunk)]
        if len(names) < self._many:
            merged = list(names)
            self._merge_list(merged)
        else:
            merged, _ = self._merge_long(names)
        return tuple(map(known.__getitem__, merged))

    def _merge_list(self, names: list[str]) -> None:
        """Merge names in place: each step searches a list for the lowest rank, and changes it."""
        ranks, separator = self._ranks, self._separator
        rank = ranks.get
        # pairs[i] is the rank of the merge of the names i and i + 1.
        pairs = list(map(rank, map(separator.join, zip(names, names[1:])), repeat(_NO_RANK)))
        while pairs:
            lowest = min(pairs)
            if lowest == _NO_RANK:
                return
            i = pairs.index(lowest)
            names[i] = made = self.join(names[i], names.pop(i + 1))
            del pairs[i]
            if i < len(pairs):
                pairs[i] = rank(made + separator + names[i + 1], _NO_RANK)
            if i:
                pairs[i - 1] = rank(names[i - 1] + separator + made, _NO_RANK)

    def _merge_long(self, names: Sequence[str]) -> tuple[list[str], array[int]]:
        """Return the names after all merges, and the indices where they began, in time n·log n."""
        return merge_in_windows(
            len(names), lambda low, high: merge_by_heap(names[low:high], self._merge_of)
        )

    def _merge_of(self, left: str, right: str) -> tuple[int, str] | None:
        rank = self._ranks.get(left + self._separator + right)
        return None if rank is None else (rank, self.join(left, right))


class SharedIdsBPE(CharacterBPE):
    """``CharacterBPE`` by a vocabulary in which several tokens have one id.

    In tokenizers a symbol is an id, so a merge of two tokens joins all tokens with these ids. Here
    each symbol has the name of the last token with its id.

    Args:
        vocabulary, merges, unknown, flags: as in ``CharacterBPE``, but tokens may share an id.

    Raises:
        KeyError: as in ``CharacterBPE``.

    >>> ids = {"a": 0, "b": 0, "c": 1, "ac": 2}
    >>> SharedIdsBPE(ids, (["a"], ["c"])).encode("acbc")
    (2, 2)
    """

    def __init__(
        self,
        vocabulary: dict[str, int],
        merges: tuple[Sequence[str], Sequence[str]],
        unknown: UnknownPolicy | None = None,
        **flags: Any,
    ) -> None:
        super().__init__(vocabulary, merges, unknown, **flags)
        last = {token_id: name for name, token_id in vocabulary.items()}
        #: The name of each token's symbol.
        self._symbol = {name: last[token_id] for name, token_id in vocabulary.items()}
        made = [super(SharedIdsBPE, self).join(*pair) for pair in zip(*merges)]
        self._lefts, self._rights = (list(map(self._symbol.__getitem__, part)) for part in merges)
        self._separator, self._ranks = ranks_of_merges(self._lefts, self._rights)
        self._made = shareable((key, self._symbol[made[i]]) for key, i in self._ranks.items())
        # A merge may make its left part again, which only the heap can do.
        self._many = 0
        self.cuts = CharacterCuts(vocabulary, None, self._unknown)

    def join(self, left: str, right: str) -> str:
        """Return the name that the merge of two names makes; both names if there is no merge."""
        return self._made.get(left + self._separator + right, left + right)

    def first_symbols(self, chunk: str) -> list[Symbol]:
        """Return the symbols that merging begins with; see ``CharacterBPE.first_symbols``."""
        symbols = super().first_symbols(chunk)
        return [symbol._replace(name=self._symbol[symbol.name]) for symbol in symbols]

    def _merged_ids(self, chunk: str) -> Ids:
        names, _ = self._merge_long([symbol.name for symbol in self.first_symbols(chunk)])
        return tuple(map(self.vocabulary.__getitem__, names))


class CharacterCuts:
    """The places at which chunks may be cut before their characters are merged.

    A chunk may be a whole text, since some files have no pre-tokenizer at all. But few pairs of
    characters are ever joined in Chinese, say; and in most vocabularies ``▁``, which stands for a
    space, is only ever the beginning of a token.

    The property: a chunk may be cut between the characters x and y if

    1. no token has x and y in it as neighbours, and
    2. x is a token, or y is; or each character that is not a token becomes the tokens of its bytes,

    on the conditions (``are_possible``) that

    3. the first symbol of a character does not depend on its place in the chunk,
    4. each character has a symbol, and
    5. no merge joins a symbol that stands for an unknown character, or for a byte.

    The argument:

    - The first symbols of the two sides are those of the whole. Only the token for unknown
      characters could differ: one stands for several of them, and the bytes of others come before
      it. But no such token is pending at a cut, since it is put before the next character that is a
      token (2).
    - The symbols beside the cut are x and y, or stand for something unknown. In the first case the
      first merge across the cut would make a token that has x and y as neighbours (1). In the other
      case there is no such merge (5).
    - So no merge crosses the cut, and each side is merged as if it were alone.

    Args:
        vocabulary: each token's id.
        merges: the left and the right parts of all merges; None if a character's first symbol, or
            anything else, depends on the rest of the chunk.
        unknown: the treatment of characters that are not tokens.

    >>> cuts = CharacterCuts({"▁": 0, "a": 1, "▁a": 2, "?": 3}, (["▁"], ["a"]), UnknownPolicy("?"))
    >>> cuts.are_before("▁"), cuts.are_before("a"), cuts.after("▁")
    (True, False, frozenset({'a'}))
    """

    def __init__(
        self,
        vocabulary: dict[str, int],
        merges: tuple[Sequence[str], Sequence[str]] | None,
        unknown: UnknownPolicy,
    ) -> None:
        self._vocabulary = vocabulary
        self._merges = merges
        self._unknown = unknown

    @cached_property
    def all_have_bytes(self) -> bool:
        """True if each character that is not a token becomes the tokens of its bytes."""
        return self._unknown.byte_fallback and all(
            f"<0x{byte:02X}>" in self._vocabulary for byte in range(256)
        )

    @cached_property
    def are_possible(self) -> bool:
        """True if chunks may be cut at all: the conditions 3 to 5."""
        unknown = self._unknown
        if self._merges is None or (unknown.token is None and not self.all_have_bytes):
            return False
        others = {unknown.token}
        if unknown.byte_fallback:
            others.update(f"<0x{byte:02X}>" for byte in range(256))
        return all(map(others.isdisjoint, self._merges))

    def are_between(self, left: str, right: str) -> bool:
        """Return True if chunks may be cut between two characters."""
        return left + right not in self._neighbours and (
            self.all_have_bytes or left in self._vocabulary or right in self._vocabulary
        )

    def are_before(self, char: str) -> bool:
        """Return True if chunks may be cut between any other character and this one."""
        this = re.escape(char)
        return self._may_be_beside(char) and any(
            re.search(f"{this}(?<=[^{this}{re.escape(separator)}]{this})", joined) is None
            for joined, separator in self._all_joined()
        )

    def after(self, char: str) -> frozenset[str] | None:
        """Return the characters that a merge may join to a character before them.

        Between the character and any other one, chunks may be cut. None if they may not.
        """
        if not self._may_be_beside(char):
            return None
        joined, separator = self._tokens_joined
        following = re.findall(f"{re.escape(char)}(?=(.))", joined, re.DOTALL)
        return frozenset(following) - {separator}

    def _may_be_beside(self, char: str) -> bool:
        """Return True if all conditions for a cut beside a character hold, except the first."""
        return self.are_possible and (self.all_have_bytes or char in self._vocabulary)

    def _all_joined(self) -> Iterator[tuple[str, str]]:
        """Yield all tokens as one text, and the separator in it.

        Then yield the tokens that merges make. These are more, since several merges may make one.
        """
        assert self._merges is not None
        yield self._tokens_joined
        yield _joined(list(map(add, *self._merges)))

    @cached_property
    def _tokens_joined(self) -> tuple[str, str]:
        return _joined(self._vocabulary)

    @cached_property
    def _neighbours(self) -> frozenset[str]:
        """The pairs of characters that are neighbours in a token."""
        joined, _ = _joined([name for name in self._vocabulary if len(name) > 1])
        return frozenset(map(add, joined, joined[1:]))


class Cutter:
    """A cutter of long chunks, with a cache of the ids of the parts.

    Args:
        merged_ids: returns the ids of a part.
        cuts: the places at which chunks may be cut.
    """

    def __init__(self, merged_ids: Callable[[str], Ids], cuts: CharacterCuts) -> None:
        self._joined = Cache(lambda pair: not cuts.are_between(*pair), _KEPT, 2)
        self._ids = Cache(merged_ids, _KEPT, _LONGEST_KEPT)

    def ids(self, chunk: str) -> Iterator[int]:
        """Return the ids of a chunk that is not empty."""
        joined = map(self._joined.__getitem__, map(add, chunk, chunk[1:]))
        cuts = list(compress(count(1), map(not_, joined)))
        parts = map(chunk.__getitem__, map(slice, [0, *cuts], [*cuts, len(chunk)]))
        return chain.from_iterable(map(self._ids.__getitem__, parts))


def _joined(names: Collection[str]) -> tuple[str, str]:
    """Return names joined to one text, and the separator, which is in none of the names."""
    joined = " ".join(names)
    if joined.count(" ") < len(names):
        return joined, " "
    separator = absent_from(joined)
    return separator.join(names), separator


def _tails(rights: Sequence[str], prefix: str) -> list[str]:
    """Return the right parts of merges without as many first bytes as the prefix has.

    As in tokenizers, these bytes are cut off even if they are not the prefix. The bytes of a
    character that is cut in two become U+DC80 and above, which no name has.
    """
    length = len(prefix.encode())
    return [
        name[len(prefix) :]
        if name.startswith(prefix)
        else name.encode()[length:].decode(errors="surrogateescape")
        for name in rights
    ]
