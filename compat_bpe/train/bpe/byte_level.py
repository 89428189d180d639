"""Byte-level BPE: settings, learning, and the encoding that is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from ...corpus.counted import Counted
from ...encodings import deepseek
from ...encodings.encoding import Encoding
from ...encodings.load_by_ranks import DEEPSEEK, pattern_named
from ...encodings.tokenizer import Tokenizer
from ...formats.manifest import FORMATS
from ...formats.models.bpe import RankedModel
from ...formats.tokenizer_json import TokenizerDefinition
from ...pattern.ast import PatternError
from ...pipeline.added.added_tokens import AddedToken
from ...pipeline.byte_level import BYTE_TO_UNICODE, UNICODE_TO_BYTE, decode_bytes
from ...pipeline.chunks import chunk_bytes, is_byte_level
from ..checks import check_integer, check_least, check_special_names, check_weights
from ..convergence import Convergence, Curve, check_has_end
from ..costs import Costs, distinct_bytes
from ..counted_chunks import whole_chunk_check
from ..trainer import Advance, KindSettings, Learned, LearnedMerge, Options, train_encoding
from ..words import CountedWords, WordCounter
from .learner import MOST_TOKENS, Learner
from .measure import MergedWords

#: The tokens that training begins with, in the order of their ids.
BYTES = [bytes([byte]) for byte in BYTE_TO_UNICODE]

#: The id of each byte, for ``bytes.translate``.
_TO_IDS = bytes(bytes(BYTE_TO_UNICODE).index(byte) for byte in range(256))


@dataclass(frozen=True)
class TrainingSettings(KindSettings):
    """The settings of training a byte-level BPE vocabulary.

    Args:
        vocab_size and all others: as in ``train_bpe``.

    Raises:
        ValueError: a setting is impossible. The message names it. ``Trainer`` checks the pattern.
        TypeError: ``special_tokens`` is a single str.

    >>> TrainingSettings(300, special_tokens=["<|end|>"]).most_merges
    43
    >>> TrainingSettings(200)
    Traceback (most recent call last):
    ValueError: a vocabulary of 200 is too small: with all single bytes and special tokens it has \
256 tokens or more
    """

    vocab_size: int | None = None
    num_merges: int | None = None
    pattern: str = "gpt2"
    special_tokens: Iterable[str] = ()
    min_frequency: int = 1
    max_token_length: int | None = None
    weights: Mapping[str, float] | None = None
    convergence: Convergence | None = None

    def __post_init__(self) -> None:
        if isinstance(self.special_tokens, str):
            raise TypeError(
                f"special_tokens is the str {self.special_tokens!r}; pass a list of names"
            )
        # Copies: an iterator ends, and what the caller changes later was not checked.
        object.__setattr__(self, "special_tokens", tuple(self.special_tokens))
        if self.weights is not None:
            object.__setattr__(self, "weights", dict(self.weights))
        self._check_special_tokens()
        self._check_size()
        check_least("max_token_length", self.max_token_length, 1)
        check_least("min_frequency", self.min_frequency, 0)
        check_weights(self.weights or {})

    kind: ClassVar[str] = "bpe"
    formats: ClassVar[tuple[str, ...]] = tuple(FORMATS)
    ends: ClassVar[tuple[str, ...]] = ("vocab_size", "num_merges", "convergence")
    learns_merges: ClassVar[bool] = True
    usual_pattern: ClassVar[str] = "gpt2"

    @property
    def least_tokens(self) -> int:
        """The number of tokens without any merge: single bytes and special tokens."""
        return len(BYTES) + len(tuple(self.special_tokens))

    @property
    def most_merges(self) -> int:
        """The number of merges that are learned unless nothing is left to merge."""
        most = MOST_TOKENS - len(BYTES)
        if self.num_merges is not None:
            most = min(most, self.num_merges)
        if self.vocab_size is not None:
            most = min(most, self.vocab_size - self.least_tokens)
        return most

    @property
    def pattern_name(self) -> str:
        return self.pattern

    @property
    def most_steps(self) -> int | None:
        has_end = self.vocab_size is not None or self.num_merges is not None
        return self.most_merges if has_end else None

    @property
    def steps(self) -> str:
        return "steps" if self.most_steps is None else "merges"

    @property
    def stops_by(self) -> Convergence | None:
        return self.convergence

    @property
    def costs(self) -> Costs:
        return Costs(distinct_bytes(self.splitter()), 0.065, 0.0, 2.8, 1.0, 16.0)

    def described(self) -> dict[str, Any]:
        described = asdict(self)
        # These two stand beside the settings in a manifest.
        del described["pattern"], described["special_tokens"]
        return described

    @classmethod
    def from_options(cls, kind: str, options: Options) -> TrainingSettings:
        return cls(**options.values, special_tokens=options.special_with_roles())

    def splitter(self) -> Encoding:
        return make_encoding("chunks", self.pattern, BYTES, [])

    def word_counter(self, workers: int | None, *, is_held_out: bool = False) -> WordCounter:
        splitter = self.splitter()
        core = splitter.core

        def spelled(chunk: str) -> str:
            return chunk_bytes(core, chunk).translate(_TO_IDS).decode("latin-1")

        return WordCounter(
            splitter,
            lambda: whole_chunk_check(splitter, self.pattern),
            lambda chunk: len(chunk_bytes(core, chunk)),
            spelled,
            weights=None if is_held_out else self.weights,
            workers=workers,
        )

    def learn(self, words: CountedWords, advance: Advance) -> Learned:
        unit = words.unit
        learner = Learner(
            words.counts,
            BYTES,
            min_frequency=self.min_frequency * unit,
            max_token_length=self.max_token_length,
        )
        words.counts.clear()  # The learner has what it needs of them.
        counts, size = words.held_out if words.held_out is not None else ({}, 0)
        held_out = MergedWords(counts)
        curve = None if self.convergence is None else Curve(self.convergence, size)
        tokens = list(BYTES)
        merges: list[LearnedMerge] = []
        taken = {token: name for name in self.special_tokens for token in spellings(name)}
        stopped = "size"
        while True:
            if curve is not None and curve.is_due(len(merges)):
                size = self.least_tokens + len(merges)
                if curve.add(size, len(merges), held_out.size):
                    stopped = "convergence"
                    break
            if len(merges) == self.most_merges:
                break
            merge = learner.step()
            if merge is None:
                stopped = "nothing left"
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
            held_out.join(chr(merge.left) + chr(merge.right), chr(merge.made))
            advance(1)
        if curve is not None and not curve.is_due(len(merges)):
            curve.add(self.least_tokens + len(merges), len(merges), held_out.size)
        return Learned(
            tokens,
            merges,
            stopped,
            learner.size / unit if unit > 1 else learner.size,
            curve.points if curve is not None else (),
        )

    def encoding(self, model: Iterable[bytes], name: str) -> Encoding:
        return make_encoding(name, self.pattern, model, self.special_tokens)

    def _check_special_tokens(self) -> None:
        check_special_names(self.special_tokens)
        for name in self.special_tokens:
            if not {*BYTES}.isdisjoint(spellings(name)):
                raise ValueError(
                    f"the special token {name!r} is written like a single byte's token"
                )

    def _check_size(self) -> None:
        size, least = self.vocab_size, self.least_tokens
        check_has_end(size, self.num_merges, self.convergence)
        check_least("num_merges", self.num_merges, 0)
        check_integer("vocab_size", size)
        if size is not None and size < least:
            raise ValueError(
                f"a vocabulary of {size} is too small: with all single bytes and special "
                f"tokens it has {least} tokens or more"
            )
        if size is not None and size > MOST_TOKENS:
            raise ValueError(f"a vocabulary of {size} is too large: {MOST_TOKENS} at most")


def train_bpe(
    texts: Iterable[str] | Mapping[str, Iterable[str]] = (),
    vocab_size: int | None = None,
    *,
    num_merges: int | None = None,
    pattern: str = "gpt2",
    special_tokens: Iterable[str] = (),
    min_frequency: int = 1,
    max_token_length: int | None = None,
    weights: Mapping[str, float] | None = None,
    convergence: Convergence | None = None,
    counts: Counted | Mapping[str, Counted] = (),
    validation: Iterable[str] = (),
    workers: int | None = None,
    name: str = "trained",
) -> Encoding:
    """Train a byte-level BPE vocabulary on texts.

    The merges are those of Hugging Face tokenizers 0.23.3: of its ``BpeTrainer`` with the
    byte-level alphabet, after a pre-tokenizer that splits by the same pattern. They do not depend
    on the order of the texts or on the number of workers.

    The ids of the 256 bytes come first, in GPT-2's order, then those of the merges, then those of
    the special tokens.

    Args:
        texts: the corpus, read once; or the texts of each group.
        vocab_size: the number of tokens, single bytes and special tokens included. There are fewer
            if nothing is left to merge.
        num_merges: the most merges to learn. Give this, ``vocab_size`` or ``convergence``, or
            several of them.
        pattern: the pattern that splits text into chunks, across which nothing is merged; or its
            name: that of an encoding of OpenAI's, ``"llama3"``, or ``"deepseek"`` for the steps of
            DeepSeek V3.
        special_tokens: the names of special tokens. In the texts they are plain text.
        min_frequency: the lowest frequency of a pair that is merged.
        max_token_length: the length in bytes of the longest token. (In tokenizers, the option of
            this name is one more: tokens there are shorter than it.)
        weights: the weights of some groups; the others have 1. Each group is multiplied so that
            group sizes in bytes are in these proportions, and none is made smaller.
            ``min_frequency`` is compared with the multiplied frequencies.
        convergence: when to stop because more merges are of little use for ``validation``.
        validation: held-out texts, from which nothing is learned.
        counts: chunks with their counts, beside texts or instead of them: a mapping; pairs, in any
            order, of which those of the same chunk are added up; or either for each group. The
            merges are those of the texts that were counted.
        workers: the most processes that split a large corpus; by default one for each processor.
        name: the name of the encoding.

    Returns:
        The encoding; a ``Tokenizer`` with ``"deepseek"``. ``compat_bpe.save`` writes it.

    Raises:
        ValueError: there is no text; the vocabulary is too small for all bytes and special tokens;
            a special token is empty, is named twice, or is also made by merging; the pattern is not
            valid; a weight is not positive, or its group has no text; a count is negative or no
            integer; a counted text is empty, has a surrogate, or is more than one chunk.
        TypeError: a text is not a str, or ``texts`` is a single str.
        OSError: a worker process has been killed.

    >>> enc = train_bpe(["hug " * 10 + "pug " * 5 + "pun " * 12], 259, pattern=r" ?\\w+")
    >>> [enc.decode([token]) for token in (256, 257, 258)]
    ['pu', ' pu', ' pun']
    >>> counts = {"hug": 1, " hug": 9, " pug": 5, " pun": 12}
    >>> enc = train_bpe(counts=counts, vocab_size=259, pattern=r" ?\\w+")
    >>> [enc.decode([token]) for token in (256, 257, 258)]
    ['pu', ' pu', ' pun']
    """
    settings = TrainingSettings(
        vocab_size,
        num_merges=num_merges,
        pattern=pattern,
        special_tokens=special_tokens,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        weights=weights,
        convergence=convergence,
    )
    return train_encoding(settings, texts, counts, validation, workers=workers, name=name)


def make_encoding(
    name: str, pattern: str, tokens: Iterable[bytes], special_tokens: Iterable[str]
) -> Encoding:
    """Make an encoding of tokens, in the order of their ids, followed by special tokens.

    Raises:
        ValueError: the pattern is not valid.
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


def check_byte_level(encoding: Encoding, done: str) -> None:
    """Raise ``ValueError`` if an encoding is no byte-level BPE; ``done`` says what cannot be done.

    >>> from compat_bpe import get_encoding
    >>> check_byte_level(get_encoding("words"), "extended")
    Traceback (most recent call last):
    ValueError: 'words' is no byte-level BPE, so it cannot be extended
    """
    if not is_byte_level(encoding.core):
        raise ValueError(f"{encoding.name!r} is no byte-level BPE, so it cannot be {done}")


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
