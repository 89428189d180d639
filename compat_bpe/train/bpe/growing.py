"""A byte-level BPE that grows: its first tokens, and the merging that adds to them.

It begins with the tokens of single bytes, or with an existing vocabulary.

Learning goes on from any byte-level BPE as if it had never stopped, since a word's tokens after *n*
merges depend on the word and these merges alone:

- Learning joins the pair of the first merge in all words, then that of the second, and so on. A
  merge makes pairs only with its own new token, so no earlier merge becomes possible again.
- Encoding joins the pair of the lowest rank first, wherever it is, until none is left. By the same
  argument that is the first merge everywhere, then the second, and so on.

So the words are encoded once with the existing merges, and pairs are counted in the result.
Training to *n* tokens and going on to *m* gives what training to *m* gives at once. A pattern other
than that of the first merges changes the words, but not this argument.

**Tokens that merging never makes** are found whole by tiktoken's rule, and one of their parts is
not a token. If a new token is such a part, merging by rank may make an old token of it. The words
are then encoded again (see ``extend``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

from ...caches import cached_property
from ...encodings.deepseek import PARTS as DEEPSEEK_PARTS
from ...encodings.encoding import Encoding
from ...encodings.load import DEEPSEEK, encoding_of_ranks
from ...encodings.published import PATTERNS, pattern_named
from ...encodings.save import ranks_of
from ...encodings.tokenizer import Tokenizer
from ...formats import RANK_LIMIT
from ...formats.settings_beside import AS_TOKENIZER_JSON
from ...formats.tokenizer_json import TokenizerDefinition
from ...formats.tokenizer_writing import byte_level_part, pattern_part, pre_tokenizers_part
from ...pattern.tree import PatternError
from ...pipeline.added_tokens import AddedToken
from ...pipeline.byte_level import BYTE_TO_UNICODE, UNICODE_TO_BYTE, decode_bytes
from ...pipeline.core import is_byte_level
from ...pipeline.models.bpe.by_rank import merges_by_rank
from ..kind import LearnedMerge
from ..words import types_in
from .held_out import MergedWords
from .learner import Learner

#: The tokens that training begins with, in the order of their ids.
BYTES = [bytes([byte]) for byte in BYTE_TO_UNICODE]

#: The id of each byte, for ``bytes.translate``.
TO_IDS = bytes(bytes(BYTE_TO_UNICODE).index(byte) for byte in range(256))


def make_encoding(name: str, pattern: str, tokens: Iterable[bytes] = BYTES) -> Encoding:
    """Make an encoding of tokens, in the order of their ids, without special tokens.

    Raises:
        ValueError: the pattern is not valid.
    """
    try:
        ranks = {token: rank for rank, token in enumerate(tokens)}
        return encoding_of_ranks(name, pattern, ranks, {})
    except PatternError as error:
        raise ValueError(f"the pattern cannot be used: {error}") from None


def check_byte_level(encoding: Encoding, done: str) -> None:
    """Raise ``ValueError`` if an encoding is not byte-level BPE, so that it cannot be ``done``.

    >>> from compat_bpe import get_encoding
    >>> check_byte_level(get_encoding("words"), "extended")
    Traceback (most recent call last):
    ValueError: 'words' is not byte-level BPE and cannot be extended
    """
    if not is_byte_level(encoding.core):
        raise ValueError(f"{encoding.name!r} is not byte-level BPE and cannot be {done}")


def spellings(name: str) -> list[bytes]:
    """Return the tokens that a file may write like a special token.

    One is the name as text. The other is read from the name by GPT-2's byte alphabet, if it has
    all characters of the name.

    >>> spellings("Ġa"), spellings("世")
    ([b'\\xc4\\xa0a', b' a'], [b'\\xe4\\xb8\\x96'])
    """
    tokens = [name.encode()]
    if UNICODE_TO_BYTE.keys() >= set(name):
        tokens.append(decode_bytes(name))
    return tokens


def split_by(encoding: Encoding, pattern: str | None) -> Encoding:
    """Return a byte-level BPE with all its tokens and ids, which splits text by another pattern.

    Args:
        encoding: the encoding, which is not changed.
        pattern: the pattern, or its name; None for the encoding's own.

    Raises:
        ValueError: the pattern is not valid, or the encoding puts a space before each chunk.

    >>> from compat_bpe import get_encoding
    >>> enc = split_by(get_encoding("gpt2"), "superbpe")
    >>> enc.core.splitter.chunks("by the way, in 2024"), enc.encode("way")
    (['by the way, in ', '202', '4'], [1014])
    """
    encoding = _by_ranks(encoding)
    if pattern is None:
        return encoding
    try:
        if isinstance(encoding, Tokenizer):
            definition = encoding.definition
            assert isinstance(definition, TokenizerDefinition)
            parts = {**definition.parts, "pre_tokenizer": _pre_tokenizer(definition, pattern)}
            return Tokenizer(encoding.name, definition._replace(parts=parts))
        core = encoding.core
        return encoding_of_ranks(encoding.name, pattern, dict(core.encoder), dict(core.special))
    except PatternError as error:
        raise ValueError(f"the pattern cannot be used: {error}") from None


def _by_ranks(encoding: Encoding) -> Encoding:
    """Return the plain ``Encoding`` of a tokenizer of ranks and one pattern; others unchanged.

    So a vocabulary that was trained here is the same after it is read from ``tokenizer.json``.
    """
    definition = encoding.definition if isinstance(encoding, Tokenizer) else None
    if not isinstance(definition, TokenizerDefinition):
        return encoding
    parts, added = definition.parts, definition.added_tokens
    split = next(_patterns_of(parts["pre_tokenizer"]), None)
    if (
        split is None
        or parts["normalizer"] is not None
        or parts["decoder"] != byte_level_part(use_regex=False)
        or parts["post_processor"] is not None
        or definition.truncation is not None
        or definition.padding is not None
        or any(token != AddedToken(token.content, token.id, special=True) for token in added)
    ):
        return encoding
    try:
        ranks = ranks_of(encoding)
    except ValueError:
        return encoding
    special = {token.content: token.id for token in added}
    return Encoding(
        encoding.name, pat_str=split, mergeable_ranks=dict(ranks), special_tokens=special
    )


def _patterns_of(pre_tokenizer: Any) -> Iterator[str]:
    """Yield the pattern that a pre-tokenizer was written for, if it splits by one alone."""
    steps = pre_tokenizer.get("pretokenizers", ()) if isinstance(pre_tokenizer, Mapping) else ()
    written = steps[0].get("pattern", {}).get("Regex") if steps else None
    for pattern in (*PATTERNS.values(), written):
        if pattern is None:
            continue
        with suppress(ValueError):
            if pre_tokenizer == _by_pattern(pattern):
                yield pattern


def _by_pattern(pattern: str) -> dict[str, Any]:
    return pre_tokenizers_part(pattern_part(pattern), byte_level_part(use_regex=False))


def _pre_tokenizer(definition: TokenizerDefinition, pattern: str) -> Any:
    """Return the pre-tokenizer by another pattern, as in a file."""
    old = definition.parts["pre_tokenizer"]
    if "ByteLevel" not in {*types_in(old)}:
        raise ValueError("its normalizer makes the bytes, so its pattern cannot be replaced")
    if _adds_space(old):
        raise ValueError("it puts a space before each chunk, so its pattern cannot be replaced")
    if pattern == DEEPSEEK:
        return DEEPSEEK_PARTS["pre_tokenizer"]
    return _by_pattern(pattern_named(pattern))


def _adds_space(part: Any) -> bool:
    """Return True if a pre-tokenizer, or one of a sequence, adds a space."""
    if part is None:
        return False
    return bool(part.get("add_prefix_space")) or any(
        map(_adds_space, part.get("pretokenizers", ()))
    )


def with_special_tokens(encoding: Encoding, names: Iterable[str]) -> Encoding:
    """Return an encoding with special tokens after all others; those that are there stay.

    >>> from compat_bpe import get_encoding
    >>> enc = with_special_tokens(get_encoding("gpt2"), ["<|endoftext|>", "<|pad|>"])
    >>> enc.special_tokens
    {'<|endoftext|>': 50256, '<|pad|>': 50257}
    """
    names = [*names]
    known = encoding.core.special
    new = [name for name in names if name not in known]
    first = encoding.max_token_value + 1
    if isinstance(encoding, Tokenizer):
        definition = encoding.definition
        assert isinstance(definition, TokenizerDefinition)
        added = [AddedToken(name, number, special=True) for number, name in enumerate(new, first)]
        definition = definition._replace(added_tokens=(*definition.added_tokens, *added))
        return Tokenizer(encoding.name, definition.with_special({*names}))
    if not new:
        return encoding
    return Encoding(
        encoding.name,
        pat_str=encoding.pattern,
        mergeable_ranks=dict(encoding.core.encoder),
        special_tokens={**known, **{name: number for number, name in enumerate(new, first)}},
    )


def pattern_name_of(encoding: Encoding) -> str:
    """Return the pattern of a byte-level BPE as a manifest has it.

    >>> from compat_bpe import get_encoding
    >>> pattern_name_of(get_encoding("deepseek_v3")), pattern_name_of(get_encoding("gpt2"))
    ('that of tokenizer.json', 'gpt2')
    """
    if isinstance(encoding, Tokenizer):
        parts = encoding.definition.parts
        same = all(parts.get(key) == DEEPSEEK_PARTS[key] for key in ("normalizer", "pre_tokenizer"))
        # A manifest has only names and ids of special tokens, and no other added tokens.
        simple = all(
            token == AddedToken(token.content, token.id, special=True)
            for token in encoding.added_tokens
        )
        return DEEPSEEK if same and simple else AS_TOKENIZER_JSON
    pattern = encoding.pattern
    return next((name for name, known in PATTERNS.items() if known == pattern), pattern)


class GrowingVocabulary:
    """A vocabulary and the merges added to it.

    It merges a chunk without being set up as an encoding: it takes the ids of the old vocabulary
    and goes on merging these (see ``extend``).

    Args:
        old: an encoding, which is not changed.

    Raises:
        ValueError: it is not byte-level BPE.

    >>> from compat_bpe import get_encoding
    >>> grown = GrowingVocabulary(get_encoding("gpt2"))
    >>> grown.merge(b"mRNA"), grown.make_one(b"mRNA"), grown.merge(b"mRNA")
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

    def chunk_of(self, text: str) -> bytes:
        """Return a chunk, as the splitter gives it, as bytes."""
        return self._old.core.model.to_bytes(text)

    def make_one(self, chunk: bytes) -> str:
        """Make a chunk one token, by merges of the first two of its tokens.

        Returns:
            An empty string; or the reason why it cannot be done, and then nothing is added.

        Raises:
            ValueError: a byte of the chunk is not a token, or there are no free ids.
        """
        if chunk in self._old.core.byte_level.whole:
            return ""
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

    def learn(
        self, counts: Mapping[bytes, int], number: int, min_frequency: int, longest: int | None
    ) -> Iterator[LearnedMerge]:
        """Learn up to ``number`` tokens from chunks and their counts; yield each merge.

        Args:
            counts, number: the chunks, and the most tokens.
            min_frequency: the lowest frequency of a pair that is merged.
            longest: the length in bytes of the longest token.
        """
        spelling = Spelling(self)
        words = {spelling.spell(chunk): count for chunk, count in counts.items()}
        merging = Merging(self, words, min_frequency=min_frequency, max_token_length=longest)
        yield from islice(iter(merging.step, None), number)

    @property
    def new_tokens(self) -> list[bytes]:
        """The new tokens, in the order of their ids."""
        return [merge.left + merge.right for merge in self.merges]

    @staticmethod
    def ids_of(encoding: Encoding, chunk: bytes) -> list[int]:
        """Return the ids that a vocabulary, the old one or this, gives for a chunk."""
        return encoding.core.byte_level.ids_of(chunk)

    @staticmethod
    def is_whole(encoding: Encoding, token: int, text: str) -> bool:
        """Return True if the one token of a text is all of it."""
        return encoding.decode_bytes([token]) == text.encode()

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
    """Chunks as text with a character for each token: the place of its id among all ids.

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
        """Return a chunk as text; "" if the vocabulary has a stand-in for one of its bytes.

        Raises:
            ValueError: a byte is not a token, and nothing stands for it.
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
        #: The id of each place; -1 for bytes that no token may be.
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
