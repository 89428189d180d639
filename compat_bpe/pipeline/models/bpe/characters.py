r"""Byte-pair encoding over characters, as tokenizers does it for Llama, Gemma, CLIP and others.

A chunk becomes *symbols*, each named like a token of the vocabulary: first one for each character.
``CharacterBPE.first_symbols`` says which. Then two neighbours whose merge comes first in the list
of merges are joined, the leftmost such pair first, until no two neighbours have a merge:

    ▁ l o w e r  →  ▁ l o w er  →  ▁ lo w er  →  ▁ low er  →  ▁low er

``symbols.merge`` is this rule, literally. ``CharacterBPE`` follows it in three faster ways: with a
list for a word, with a heap and a linked list for a long chunk, and by cutting a long chunk first
(see ``character_cuts``). A chunk may be a whole text, since some files have no pre-tokenizer.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, repeat
from operator import add

from ....parallel.lazy import cached_property
from ...byte_level import UNICODE_TO_BYTE, encode_bytes
from ...cache import getter, shareable
from ..joints import Joints
from ..text_model import ChunkToken, TextModel
from .by_merges import UnknownPolicy
from .character_cuts import CharacterCuts, Cutter
from .heap import merge_by_heap
from .symbols import Symbol, absent_from, merge
from .windows import merge_in_windows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..base import Ids

#: The rank of two symbols without a merge: above every rank.
_NO_RANK = 1 << 32
#: The number of symbols from which the heap is faster than the list.
_MANY = 70
#: The length in characters from which a chunk is cut first.
_LONG = 16
#: Cut long chunks after this many characters of them; to prepare that takes a while.
_WORTH_CUTTING = 1 << 13


class CharacterBPE(TextModel):
    """The model that encodes a chunk by merging its characters.

    Args:
        vocabulary: each token's id, which no other token has.
        merges: the left and the right parts of all merges, in their order; all are in the
            vocabulary, and none is empty. Of two merges of one pair the later one counts, as in
            tokenizers.
        unknown: the treatment of characters that are not tokens; by default they vanish.
        prefix: what the names of all first symbols but a chunk's first begin with. No right part
            of a merge is shorter.
        suffix: what the name of a chunk's last first symbol ends with.
        ignore_merges: True if a chunk that is a token is that token, without merging.
        by_bytes: True if the characters are those that a chunk's bytes are written as, in the byte
            alphabet (see ``byte_level``).
        spelled: each merge as its parts with a space between them, if no part has one.

    Raises:
        KeyError: the token that a merge makes is not in the vocabulary; with the index of the merge
            and the name of the token.

    >>> ids = {"l": 0, "o": 1, "w</w>": 2, "lo": 3, "low</w>": 4}
    >>> CharacterBPE(ids, (["l", "lo"], ["o", "w</w>"]), suffix="</w>").encode("low")
    (4,)
    """

    #: Chunks are text, whose tokens may be decorated.

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
        # A merge joins a name and the *tail* of another: the name without the prefix's length.
        tails = _tails(self._rights, prefix) if prefix else self._rights
        if not all(map(vocabulary.__contains__, map(add, self._lefts, tails))):
            made = list(map(add, self._lefts, tails))
            index = next(i for i, name in enumerate(made) if name not in vocabulary)
            raise KeyError(index, made[index])
        self._tails = shareable(zip(self._rights, tails) if prefix else ())
        # The key of a merge: its two parts with a separator that is in none of them, so that it is
        # in no other key.
        keys: Iterable[str] = spelled
        self._separator = " "
        if not spelled:
            self._separator = absent_from("".join(self._lefts) + "".join(self._rights))
            keys = map(self._separator.join, zip(self._lefts, self._rights))
        self._ranks: dict[str, int] = shareable(zip(keys, range(len(self._lefts))))
        # The plain rule and the list expect that a merge makes another name than its left part.
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
        """The id of the token that stands for what is unknown; None if there is none."""
        token = self._unknown.token
        return None if token is None else self.vocabulary.get(token)

    def encode(self, chunk: str) -> Ids:
        """Return the ids of a chunk.

        Raises:
            ValueError: a character is unknown, and the token for that is not in the vocabulary.
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

        The places are those of tokenizers: each token begins where the one before ends. So they
        are too small after a character that has vanished, and too large after the bytes of a
        decorated name.

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
            # A place in the text stands for the byte whose character it is in, or is beside.
            chars = list(accumulate(len(char.encode()) for char in text))
            starts = [bisect_right(chars, start) for start in starts]
            ends = [bisect_left(chars, end) + 1 for end in ends]
        ids = self.vocabulary
        return [
            ChunkToken(ids[symbol.name], symbol.name, start, end)
            for symbol, start, end in zip(symbols, starts, ends)
        ]

    def clear_cache(self) -> None:
        """Drop what is remembered of long chunks."""
        self._cutter = None
        self._long_seen = 0

    # First symbols

    def first_symbols(self, chunk: str) -> list[Symbol]:
        """Return the symbols that merging begins with.

        A character's name is the character with its decoration, if that is a token. If not:

        1. With ``byte_fallback``, it is a symbol for each byte of the decorated character, if all
           of these are tokens.
        2. Else it is the token for unknown characters. With ``fuse``, one stands for several. As
           in tokenizers it comes only before the next character that is a token, or at the end:
           the bytes of other characters overtake it.
        3. Without such a token the character vanishes.

        Raises:
            ValueError: as in ``encode``.
        """
        known = self.vocabulary
        unknown = self._unknown
        symbols: list[Symbol] = []
        pending: list[Symbol] = []
        for char, name in zip(chunk, self._decorated(chunk)):
            length = len(char.encode())
            if name in known:
                symbols += pending
                pending = []
                symbols.append(Symbol(name, length))
                continue
            if unknown.byte_fallback:
                spelled = [f"<0x{byte:02X}>" for byte in name.encode()]
                if all(map(known.__contains__, spelled)):
                    symbols += map(Symbol, spelled, repeat(1))
                    continue
            if unknown.token is None:
                continue
            if unknown.token not in known:
                raise ValueError(
                    f"the vocabulary has no token for {char!r}, and not the token for unknown "
                    f"characters, {unknown.token!r}"
                )
            if unknown.fuse and pending:
                length += pending.pop().length
            symbols += pending
            pending = [Symbol(unknown.token, length)]
        return symbols + pending

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
        """Return the symbols after all merges, by the plain rule unless that took too long."""
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


def _tails(rights: Sequence[str], prefix: str) -> list[str]:
    """Return the right parts of merges without their first bytes, as many as the prefix has.

    These are cut off whatever they are, as in tokenizers. Bytes of a character that is cut in two
    are U+DC80 and above, which no name has.
    """
    length = len(prefix.encode())
    return [
        name[len(prefix) :]
        if name.startswith(prefix)
        else name.encode()[length:].decode(errors="surrogateescape")
        for name in rights
    ]
