"""Training: from texts to an encoding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Callable, NamedTuple

from ..corpus.chunk_counts import ChunkCounter, Counts
from ..encodings import deepseek
from ..encodings.encoding import Encoding
from ..encodings.load import DEEPSEEK as DEEPSEEK
from ..encodings.load import pattern_named
from ..encodings.tokenizer import Tokenizer
from ..formats.checked_json import is_unicode
from ..formats.tokenizer_json import RankedModel, TokenizerDefinition
from ..pattern.ast import PatternError
from ..pipeline.added_tokens import AddedToken
from ..pipeline.byte_level import BYTE_TO_UNICODE, UNICODE_TO_BYTE, decode_bytes
from ..pipeline.chunks import chunk_bytes
from .bpe import MOST_TOKENS, Learner

#: The tokens that training begins with, in the order of their ids.
BYTES = [bytes([byte]) for byte in BYTE_TO_UNICODE]
#: From bytes to the words of ``merges``: the place of each byte in that order.
_TO_IDS = bytes(bytes(BYTE_TO_UNICODE).index(byte) for byte in range(256))

#: Weighted chunks are counted in these parts of one.
_UNIT = 1000

_Advance = Callable[[int], None]


class LearnedMerge(NamedTuple):
    """A merge: the two tokens, the id of what they make, and how often they stood together."""

    left: bytes
    right: bytes
    id: int
    frequency: float


class Trained(NamedTuple):
    """What came of training.

    Args:
        encoding: the encoding.
        merges: what was learned, in order.
        stopped: why no more was: ``"size"``, there are as many as were asked for, or
            ``"nothing left"``, no pair comes as often as ``min_frequency`` says.
        bytes: of the corpus, in UTF-8.
        chunks, distinct_chunks: how many chunks it has.
        tokens: how many tokens it has in the end.
        factors: with weights, by how much each group was multiplied; what is above is unweighted
            but for ``tokens`` and the frequencies of merges.
    """

    encoding: Encoding
    merges: list[LearnedMerge]
    stopped: str
    bytes: int
    chunks: int
    distinct_chunks: int
    tokens: float
    factors: dict[str, float]


def train_bpe(
    texts: Iterable[str] | Mapping[str, Iterable[str]],
    vocab_size: int | None = None,
    *,
    num_merges: int | None = None,
    pattern: str = "gpt2",
    special_tokens: Iterable[str] = (),
    min_frequency: int = 1,
    max_token_length: int | None = None,
    weights: Mapping[str, float] | None = None,
    workers: int | None = None,
    name: str = "trained",
) -> Encoding:
    """Train a byte-level BPE vocabulary on some texts.

    The merges are those of Hugging Face tokenizers 0.23.3: of its ``BpeTrainer`` with the
    byte-level alphabet, after a pre-tokenizer that splits by the same pattern.  They do not depend
    on the order of the texts or on the number of workers.

    The ids of the 256 bytes come first, in GPT-2's order, then those of the merges, then those of
    the special tokens.

    Args:
        texts: the corpus, read once; or for each group the texts of it.
        vocab_size: how many tokens there are in the end, those of single bytes and special tokens
            included; fewer if nothing is left to merge.
        num_merges: how many merges are learned at most; this or ``vocab_size`` is given, or both.
        pattern: how text is split into chunks, across which nothing is merged: a published pattern,
            the name of one (that of an encoding of OpenAI's, or ``"llama3"``), or ``"deepseek"``
            for the steps of DeepSeek V3.
        special_tokens: their names.  In the texts they are text as any other.
        min_frequency: a pair that comes less often is not merged.
        max_token_length: no token is longer, in bytes.  (That of tokenizers is one more: there,
            tokens are shorter than it.)
        weights: for some groups, their weight, which is 1 for the others: each group is multiplied
            so that its bytes are to those of the others as its weight to theirs, and none is made
            smaller.  ``min_frequency`` is compared with the multiplied frequencies.
        workers: how many processes split a large corpus; as many as there are processors unless
            given.
        name: what the encoding is called.

    Returns:
        The encoding; a ``Tokenizer`` with ``"deepseek"``.  ``compat_bpe.save`` writes it.

    Raises:
        ValueError: there is no text; the vocabulary is too small for all bytes and special
            tokens; a special token is empty, comes twice, or is what merging makes; the pattern
            cannot be used; a weight is not positive, or its group has no text.
        TypeError: a text is no str, or ``texts`` is a single one.
        OSError: a worker process has been killed.

    >>> enc = train_bpe(["hug " * 10 + "pug " * 5 + "pun " * 12], 259, pattern=r" ?\\w+")
    >>> [enc.decode([token]) for token in (256, 257, 258)]
    ['pu', ' pu', ' pun']
    """
    trainer = Trainer(
        vocab_size,
        num_merges=num_merges,
        pattern=pattern,
        special_tokens=special_tokens,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        weights=weights,
        workers=workers,
        name=name,
    )
    if isinstance(texts, str):
        raise TypeError("texts is a str; pass a list of texts")
    groups = texts if isinstance(texts, Mapping) else {"": texts}
    with trainer:
        for group, some in groups.items():
            for text in some:
                trainer.feed(text, group)
        return trainer.train().encoding


class Trainer:
    """Training step by step, for texts that come in pieces and for who wants to see how it goes.

    Args:
        vocab_size and all others: as in ``train_bpe``.

    Raises:
        ValueError: as ``train_bpe``, for what is wrong with its arguments.

    >>> with Trainer(num_merges=1, pattern="gpt2") as trainer:
    ...     trainer.feed("hug pug", is_last=False)
    ...     trainer.feed(" hug")
    ...     trained = trainer.train()
    >>> trained.merges
    [LearnedMerge(left=b'u', right=b'g', id=256, frequency=3)]
    """

    def __init__(
        self,
        vocab_size: int | None = None,
        *,
        num_merges: int | None = None,
        pattern: str = "gpt2",
        special_tokens: Iterable[str] = (),
        min_frequency: int = 1,
        max_token_length: int | None = None,
        weights: Mapping[str, float] | None = None,
        workers: int | None = None,
        name: str = "trained",
    ) -> None:
        if isinstance(special_tokens, str):
            raise TypeError(f"special_tokens is the str {special_tokens!r}; pass a list of names")
        self._special_tokens = list(special_tokens)
        _check_special_tokens(self._special_tokens)
        self._most_merges = _most_merges(vocab_size, num_merges, len(self._special_tokens))
        if max_token_length is not None and max_token_length < 1:
            raise ValueError(f"max_token_length is {max_token_length}; it must be 1 or more")
        if min_frequency < 0:
            raise ValueError(f"min_frequency is {min_frequency}; it must be 0 or more")
        self._min_frequency = min_frequency
        self._max_token_length = max_token_length
        for group, weight in (weights or {}).items():
            if not 0 < weight < float("inf"):
                raise ValueError(f"the weight of {group!r} is {weight}; it must be positive")
        self._weights = {group: Fraction(weight) for group, weight in (weights or {}).items()}
        self._pattern = pattern
        self._name = name
        #: An encoding that merges nothing, for how text is split.
        self._unmerged = make_encoding(name, pattern, BYTES, [])
        self._chunks = ChunkCounter(self._unmerged, workers)

    def __enter__(self) -> Trainer:
        return self

    def __exit__(self, *exception: object) -> None:
        self._chunks.__exit__(*exception)

    @property
    def most_merges(self) -> int:
        """How many merges are learned at most."""
        return self._most_merges

    def feed(self, text: str, group: str = "", *, is_last: bool = True) -> None:
        """Take a text, or a piece of one.

        Args:
            text: any text; surrogates are repaired as in ``Encoding.encode_ordinary``.
            group: what it belongs to.
            is_last: whether the text ends with it; else the next piece goes on with it.

        Raises:
            TypeError: ``text`` is no str.
            OSError: a worker process has been killed.
        """
        self._chunks.feed(text, group, is_last=is_last)

    def train(self, advance: _Advance = lambda merges: None) -> Trained:
        """Learn from all that was fed.

        Args:
            advance: called with 1 for each merge.

        Raises:
            ValueError: there was no text; a weight's group had none; a special token is what
                merging makes.
            OSError: a worker process has been killed.
        """
        counts = self._chunks.finish()
        sizes = {group: self._size(counter) for group, counter in counts.items()}
        if not any(sizes.values()):
            raise ValueError("there is no text to learn from")
        unit = _UNIT if self._weights else 1
        multipliers = _multipliers(sizes, self._weights) if self._weights else {}
        chunks = sum(sum(counter.values()) for counter in counts.values())
        words = self._words(counts, multipliers)
        learner = Learner(
            words,
            BYTES,
            min_frequency=self._min_frequency * unit,
            max_token_length=self._max_token_length,
        )
        tokens = list(BYTES)
        merges: list[LearnedMerge] = []
        taken = {token: name for name in self._special_tokens for token in spellings(name)}
        while len(merges) < self._most_merges:
            merge = learner.step()
            if merge is None:
                break
            left, right = tokens[merge.left], tokens[merge.right]
            if left + right in taken:
                raise ValueError(
                    f"the special token {taken[left + right]!r} is also the result of merge "
                    f"{len(merges) + 1}: choose a name that the pattern splits, such as <|name|>"
                )
            frequency = merge.frequency / unit if unit > 1 else merge.frequency
            merges.append(LearnedMerge(left, right, len(tokens), frequency))
            tokens.append(left + right)
            advance(1)
        return Trained(
            make_encoding(self._name, self._pattern, tokens, self._special_tokens),
            merges,
            "size" if len(merges) == self._most_merges else "nothing left",
            sum(sizes.values()),
            chunks,
            len(words),
            learner.size / unit if unit > 1 else learner.size,
            {group: multiplier / unit for group, multiplier in multipliers.items()},
        )

    def _size(self, counter: Counter[str]) -> int:
        """The bytes of some chunks."""
        core = self._unmerged.core
        return sum(len(chunk_bytes(core, chunk)) * count for chunk, count in counter.items())

    def _words(self, counts: Counts, multipliers: Mapping[str, int]) -> dict[str, int]:
        """All chunks, written as ids; what is counted is used up, so as not to hold both."""
        core = self._unmerged.core
        words: dict[str, int] = {}
        for group in list(counts):
            multiplier = multipliers.get(group, 1)
            counter = counts.pop(group)
            while counter:
                chunk, count = counter.popitem()
                word = chunk_bytes(core, chunk).translate(_TO_IDS).decode("latin-1")
                words[word] = words.get(word, 0) + count * multiplier
        return words


def make_encoding(
    name: str, pattern: str, tokens: Iterable[bytes], special_tokens: Iterable[str]
) -> Encoding:
    """An encoding of some tokens in the order of their ids, which special ones follow.

    Raises:
        ValueError: the pattern cannot be used.
    """
    ranks = {token: rank for rank, token in enumerate(tokens)}
    specials = {special: number for number, special in enumerate(special_tokens, len(ranks))}
    if pattern == DEEPSEEK:
        added = tuple(AddedToken(one, number, special=True) for one, number in specials.items())
        definition = TokenizerDefinition(RankedModel(ranks), added, deepseek.PARTS, name)
        return Tokenizer(name, definition)
    try:
        return Encoding(
            name,
            pat_str=pattern_named(pattern),
            mergeable_ranks=ranks,
            special_tokens=specials,
        )
    except PatternError as error:
        raise ValueError(f"the pattern cannot be used: {error}") from None


def _most_merges(vocab_size: int | None, num_merges: int | None, special_tokens: int) -> int:
    if vocab_size is None and num_merges is None:
        raise ValueError("give vocab_size or num_merges")
    most = MOST_TOKENS - len(BYTES)
    if num_merges is not None:
        if num_merges < 0:
            raise ValueError(f"num_merges is {num_merges}; it must be 0 or more")
        most = min(most, num_merges)
    if vocab_size is not None:
        least = len(BYTES) + special_tokens
        if vocab_size < least:
            raise ValueError(
                f"a vocabulary of {vocab_size} is too small: with all single bytes and special "
                f"tokens it has {least} tokens or more"
            )
        if vocab_size > MOST_TOKENS:
            raise ValueError(f"a vocabulary of {vocab_size} is too large: {MOST_TOKENS} at most")
        most = min(most, vocab_size - least)
    return most


def _check_special_tokens(names: list[str]) -> None:
    for number, name in enumerate(names):
        if not name:
            raise ValueError("a special token has an empty name")
        if not is_unicode(name):
            raise ValueError(f"the special token {name!r} has a lone surrogate")
        if name in names[:number]:
            raise ValueError(f"the special token {name!r} is named twice")
        if not {*BYTES}.isdisjoint(spellings(name)):
            raise ValueError(f"the special token {name!r} is written like a single byte's token")


def spellings(name: str) -> list[bytes]:
    """The tokens that are written as a special token is: as text, and in the byte alphabet."""
    found = [name.encode()]
    if UNICODE_TO_BYTE.keys() >= set(name):
        found.append(decode_bytes(name))
    return found


def _multipliers(sizes: Mapping[str, int], weights: Mapping[str, Fraction]) -> dict[str, int]:
    """By how many ``_UNIT``-ths the counts of each group are multiplied."""
    for group in weights:
        if not sizes.get(group):
            known = ", ".join(map(repr, sorted(group for group, size in sizes.items() if size)))
            raise ValueError(
                f"there is a weight for {group!r}, but no such text; the groups are {known}"
            )
    factors = {
        group: weights.get(group, Fraction(1)) / size for group, size in sizes.items() if size
    }
    least = min(factors.values())
    return {group: round(_UNIT * factor / least) for group, factor in factors.items()}
