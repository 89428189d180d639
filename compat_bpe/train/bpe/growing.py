"""``GrowingVocabulary``: a vocabulary to which merges are added one by one."""

from __future__ import annotations

from ...encodings.encoding import Encoding
from ...formats import RANK_LIMIT
from ...parallel.lazy import cached_property
from ...pipeline.models.bpe.by_rank import merges_by_rank
from ..run.results import LearnedMerge
from .byte_tokens import check_byte_level, spellings


class GrowingVocabulary:
    """A vocabulary and the merges added to it.

    It merges a chunk without being set up as an encoding: it takes the ids of the old vocabulary
    and goes on merging these (see ``extend``).

    Args:
        old: an encoding, which is not changed.

    Raises:
        ValueError: it is no byte-level BPE.

    >>> from compat_bpe import get_encoding
    >>> grown = GrowingVocabulary(get_encoding("gpt2"))
    >>> grown.merge(b"mRNA"), grown.join_all(b"mRNA"), grown.merge(b"mRNA")
    ([76, 27204], '', [50257])
    >>> grown.merges
    [LearnedMerge(left=b'm', right=b'RNA', id=50257, frequency=0)]
    """

    def __init__(self, old: Encoding) -> None:
        check_byte_level(old, "extended")
        core = old.core
        self._old = old
        self._old_merges = core.byte_level.merges
        self._is_listed = self._old_merges.follows_list
        self._first = old.max_token_value + 1
        #: The bytes of each ordinary token, new ones included.
        self.data_of = {number: data for data, number in core.encoder.items()}
        #: The bytes that no new token may have, besides those of tokens: spellings of added tokens,
        #: and names that stand for unknown bytes.
        self.taken = {data for name in core.special for data in spellings(name)}
        if "<0x" in self._old_merges.unknown_names:
            self.taken.update(b"<0x%02X>" % byte for byte in range(256))
        #: The added merges; each makes a token with the next free id.
        self.merges: list[LearnedMerge] = []
        self._ids: dict[bytes, int] = {}
        self._pairs: dict[tuple[int, int], int] = {}
        #: The ids that each added merge joins.
        self._parts: list[tuple[int, int]] = []

    def add(self, left: int, right: int, frequency: float = 0) -> int:
        """Add the merge of two ids, and return the id of the new token.

        Raises:
            ValueError: there are no free ids.
        """
        number = self._first + len(self.merges)
        if number >= RANK_LIMIT:
            raise ValueError(f"{self._old!r} has ids up to {number - 1}, the highest possible")
        parts = self.data_of[left], self.data_of[right]
        data = parts[0] + parts[1]
        self.merges.append(LearnedMerge(*parts, number, frequency))
        self.data_of[number] = data
        self._ids[data] = number
        self._pairs[left, right] = number
        self._parts.append((left, right))
        return number

    def parts_of(self, merge: LearnedMerge) -> tuple[int, int]:
        """Return the ids that an added merge joins."""
        return self._parts[merge.id - self._first]

    def take_back(self, length: int) -> None:
        """Keep the first ``length`` merges, and undo all later ones."""
        for left, right, number, _ in self.merges[length:]:
            del self.data_of[number], self._ids[left + right]
        self._pairs = {pair: made for pair, made in self._pairs.items() if made in self.data_of}
        del self.merges[length:], self._parts[length:]

    def merge(self, chunk: bytes) -> list[int]:
        """Return the ids that merging gives for a chunk.

        Raises:
            ValueError: a byte of the chunk is not a token.
        """
        ids = self._old_merges.merge(chunk)
        while True:
            made = [(self._joined(*pair), index) for index, pair in enumerate(zip(ids, ids[1:]))]
            # The lowest id is the lowest rank: here each id is a rank, or ids rise with the ranks.
            number, index = min(made, default=(RANK_LIMIT, 0))
            if number == RANK_LIMIT:
                return ids
            ids[index : index + 2] = [number]

    def _joined(self, left: int, right: int) -> int:
        """Return the id that two ids are joined to; ``RANK_LIMIT`` if they are not joined."""
        if self._is_listed:
            return self._pairs.get((left, right), RANK_LIMIT)
        if left not in self.data_of or right not in self.data_of:
            return RANK_LIMIT
        data = self.data_of[left] + self.data_of[right]
        return self._ids.get(data, self._old_merges.ranks.get(data, RANK_LIMIT))

    def join_all(self, chunk: bytes) -> str:
        """Make a chunk one token, by merges of the first two of its tokens.

        Returns:
            An empty string. Or, if it cannot be done, the reason; then nothing is added.

        Raises:
            ValueError: a byte of the chunk is not a token, or there are no free ids.
        """
        before = len(self.merges)
        while len(ids := self.merge(chunk)) > 1:
            left, right = (self.data_of.get(token) for token in ids[:2])
            if left is None or right is None:
                self.take_back(before)
                return "the vocabulary has no token for one of its bytes"
            made = left + right
            if made in self.taken or made in self._ids or made in self._old.core.encoder:
                self.take_back(before)
                shown = made.decode("utf-8", "replace")
                return f"{shown!r} is already a token, and no merge makes it"
            self.add(*ids[:2])
        return ""

    def may_make_an_old_token(self, token: int) -> bool:
        """Return True if a new token may be a part of an old one that merging did not make."""
        data = self.data_of[token]
        return any(old.startswith(data) or old.endswith(data) for old in self._never_made)

    @cached_property
    def _never_made(self) -> list[bytes]:
        """The old tokens that merging by rank did not make."""
        if self._is_listed:
            return []
        return [token for token, parts in merges_by_rank(self._old_merges.ranks) if parts is None]

    @property
    def has_unmade_tokens(self) -> bool:
        """True if merging by rank did not make some old tokens."""
        return bool(self._never_made)

    def encoding(self, name: str) -> Encoding:
        """Return the present vocabulary as an encoding.

        If nothing was added and the name is empty, it is the old one itself.
        """
        old = self._old
        if not name and not self.merges:
            return old
        return old.extended(name, self._ids, [(one.left, one.right) for one in self.merges])
