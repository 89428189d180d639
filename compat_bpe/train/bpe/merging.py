"""Learning merges for a vocabulary that grows, from words that its tokens make.

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
then encoded again (see ``extend.extender``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..run.results import LearnedMerge
from .growing import GrowingVocabulary
from .learner import Learner
from .measure import MergedWords


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
