"""A byte-level BPE that grows, and the merging that adds to it.

Learning goes on from any byte-level BPE as if it had never stopped. That is so because a word's
tokens after *n* merges depend on the word and these merges alone:

- Learning joins the pair of the first merge in all words, then that of the second, and so on. A
  merge makes pairs only with its own new token, so no earlier merge becomes possible again.
- Encoding joins the pair of the lowest rank first, wherever it is, until none is left. By the same
  argument that is the first merge everywhere, then the second, and so on.

So the words are encoded once with the merges that are there, and the pairs of what that gives are
counted. Training to *n* tokens and going on to *m* gives what training to *m* gives at once. A
pattern other than that of the first merges changes the words, and nothing in this argument.

**Tokens that merging never makes** are found whole by tiktoken's rule, and one of their parts is no
token. If a new token is such a part, merging by rank may make an old token of it. The words are
then encoded again (see ``extend.extend``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...caches import cached_property
from ...encodings.encoding import Encoding
from ...formats import RANK_LIMIT
from ...pipeline.models.bpe.by_rank import merges_by_rank
from ..kind import LearnedMerge
from .beginning import check_byte_level, spellings
from .learner import Learner
from .measure import MergedWords


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


class Spelling:
    """Chunks as text with a character for each token; its code point is the token's place by id.

    Learning needs ids without holes, in the same order, which decides between equal pairs.

    Args:
        grown: the vocabulary.

    >>> from compat_bpe import get_encoding
    >>> spelling = Spelling(GrowingVocabulary(get_encoding("gpt2")))
    >>> [ord(char) for char in spelling.spell(b"hello world")]
    [31373, 995]
    """

    def __init__(self, grown: GrowingVocabulary) -> None:
        self.ids = sorted(grown.data_of)
        self._data_of = grown.data_of
        self._char_of = {token: chr(place) for place, token in enumerate(self.ids)}
        self._ids_of = grown.encoding("").core.byte_level.ids_of

    def spell(self, chunk: bytes) -> str:
        """Return a chunk as text; "" if a byte is no token and has a stand-in, as none is merged.

        Raises:
            ValueError: a byte is no token, and nothing stands for it.
        """
        if not chunk:
            return ""
        ids = self._ids_of(chunk)
        if b"".join(self._data_of.get(token, b"") for token in ids) != chunk:
            return ""
        return "".join(map(self._char_of.__getitem__, ids))

    def bytes_of(self, word: str) -> bytes:
        """Return the chunk that was spelled so."""
        return b"".join(self._data_of[self.ids[ord(char)]] for char in word)


class Merging:
    """Merges learned one after another.

    Args:
        grown: the vocabulary, to which they are added.
        words: the words and their counts; emptied as soon as they are not needed any more.
        held_out: words from which nothing is learned; their number of tokens is counted.
        unit: the factor of all counts.
        spelling: the spelling of the words; by default that with all tokens of ``grown``.
        limits: ``min_frequency``, ``max_token_length`` and ``allow``, as of ``Learner``.

    >>> from compat_bpe import get_encoding
    >>> grown = GrowingVocabulary(get_encoding("gpt2"))
    >>> merging = Merging(grown, {Spelling(grown).spell(b"mRNA"): 3})
    >>> merging.size, merging.step(), merging.size
    (6, LearnedMerge(left=b'm', right=b'RNA', id=50257, frequency=3), 3)
    """

    def __init__(
        self,
        grown: GrowingVocabulary,
        words: dict[str, int],
        held_out: Mapping[str, int] | None = None,
        unit: int = 1,
        spelling: Spelling | None = None,
        **limits: Any,
    ) -> None:
        self._grown = grown
        self._unit = unit
        self._limits = limits
        self._spelling = Spelling(grown) if spelling is None else spelling
        #: All words and the held-out ones, if they may have to be spelled again.
        self._given = [words, {**(held_out or {})}]
        if len(self._spelling.ids) < len(grown.data_of):
            self._spell_again()
        else:
            self._begin(*self._given)

    def _begin(self, words: dict[str, int], held_out: dict[str, int]) -> None:
        grown = self._grown
        #: The id of each place; -1 for what no token may be.
        self._ids = list(self._spelling.ids)
        tokens = [grown.data_of[token] for token in self._ids]
        tokens += grown.taken - set(tokens)
        self._ids += [-1] * (len(tokens) - len(self._ids))
        self._learner = Learner(words, tokens, **self._limits)
        self._held_out = MergedWords(held_out)
        if not grown.has_unmade_tokens:
            words.clear()
            self._given = []

    @property
    def size(self) -> float:
        """The number of tokens of all words."""
        size = self._learner.size
        return size / self._unit if self._unit > 1 else size

    @property
    def held_out_size(self) -> int:
        """The number of tokens of the held-out words."""
        return self._held_out.size

    def step(self) -> LearnedMerge | None:
        """Learn a merge and return it; None if there is nothing left to merge.

        Raises:
            ValueError: there are no free ids, or as many tokens as code points.
        """
        merge = self._learner.step()
        if merge is None:
            return None
        frequency = merge.frequency / self._unit if self._unit > 1 else merge.frequency
        made = self._grown.add(self._ids[merge.left], self._ids[merge.right], frequency)
        self._ids.append(made)
        self._held_out.join(chr(merge.left) + chr(merge.right), chr(merge.made))
        if self._given and self._grown.may_make_an_old_token(made):
            self._spell_again()
        return self._grown.merges[-1]

    def _spell_again(self) -> None:
        old, self._spelling = self._spelling, Spelling(self._grown)
        self._given = [
            {self._spelling.spell(old.bytes_of(word)): count for word, count in words.items()}
            for words in self._given
        ]
        self._begin(*self._given)
