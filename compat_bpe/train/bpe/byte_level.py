"""Byte-level BPE: settings, learning, and the encoding that is made of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import count
from typing import Any, ClassVar

from ...corpus.chunk_counts import Counted
from ...encodings.encoding import Encoding
from ...formats.settings_beside import FORMATS
from ...parallel.lazy import cached_property
from ..checks import check_integer, check_least, check_special_names, check_weights
from ..counted_chunks import whole_chunk_check
from ..run.convergence import Convergence, Curve, check_has_end
from ..run.costs import Costs, distinct_bytes
from ..run.results import Learned
from ..trainer import Advance, KindSettings, Options, train_encoding
from ..words import CountedWords, WordCounter
from .beginning import pattern_name_of, split_by, with_special_tokens
from .byte_tokens import BYTES, TO_IDS, check_byte_level, make_encoding, spellings
from .growing import GrowingVocabulary
from .learner import MOST_TOKENS
from .merging import Merging, Spelling
from .superwords import Limits


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
    pattern: str | None = None
    special_tokens: Iterable[str] = ()
    min_frequency: int = 1
    max_token_length: int | None = None
    weights: Mapping[str, float] | None = None
    convergence: Convergence | None = None
    start: Encoding | None = None
    max_words: int | None = None
    not_joined: Iterable[str] = ()

    def __post_init__(self) -> None:
        if isinstance(self.special_tokens, str):
            raise TypeError(
                f"special_tokens is the str {self.special_tokens!r}; pass a list of names"
            )
        if isinstance(self.not_joined, str):
            raise TypeError(f"not_joined is the str {self.not_joined!r}; pass a list of texts")
        # Copies: an iterator ends, and what the caller changes later was not checked.
        object.__setattr__(self, "special_tokens", tuple(self.special_tokens))
        object.__setattr__(self, "not_joined", tuple(self.not_joined))
        if self.weights is not None:
            object.__setattr__(self, "weights", dict(self.weights))
        if self.start is not None:
            check_byte_level(self.start, "gone on from")
        elif self.pattern is None:
            object.__setattr__(self, "pattern", self.usual_pattern)
        Limits(self.max_words, self.not_joined)
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
        """The number of tokens without a new merge: those that are there, and special tokens."""
        first = len(BYTES) if self.start is None else self.start.n_vocab
        return first + len(self._new_special)

    @property
    def most_merges(self) -> int:
        """The number of merges that are learned unless nothing is left to merge."""
        most = MOST_TOKENS - (len(BYTES) if self.start is None else self.start.n_vocab)
        if self.num_merges is not None:
            most = min(most, self.num_merges)
        if self.vocab_size is not None:
            most = min(most, self.vocab_size - self.least_tokens)
        return most

    @property
    def pattern_name(self) -> str:
        if self.start is not None:
            return pattern_name_of(self.beginning)
        assert self.pattern is not None
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
        described = {field.name: getattr(self, field.name) for field in fields(self)}
        # These two stand beside the settings in a manifest.
        del described["pattern"], described["special_tokens"]
        stop = self.convergence
        described["convergence"] = None if stop is None else asdict(stop)
        described["start"] = None if self.start is None else self.start.name
        described["not_joined"] = [*self.not_joined]
        return described

    @classmethod
    def from_options(cls, kind: str, options: Options) -> TrainingSettings:
        values = {**options.values}
        if "pattern" not in options.given:
            values["pattern"] = None
        return cls(**values, special_tokens=options.special_with_roles())

    @cached_property
    def beginning(self) -> Encoding:
        """The encoding with the tokens that learning begins with; it splits text by the pattern.

        Raises:
            ValueError: the pattern is not valid, or ``start`` keeps its own.
        """
        if self.start is not None:
            return split_by(self.start, self.pattern)
        return make_encoding("bytes", self.pattern_name, BYTES, [])

    def splitter(self) -> Encoding:
        return self.beginning

    def word_counter(self, workers: int | None, *, is_held_out: bool = False) -> WordCounter:
        core = self.beginning.core
        if self.start is None:

            def spelled(chunk: str) -> str:
                return core.model.to_bytes(chunk).translate(TO_IDS).decode("latin-1")
        else:
            spell = Spelling(GrowingVocabulary(self.beginning)).spell

            def spelled(chunk: str) -> str:
                return spell(core.model.to_bytes(chunk))

        return WordCounter(
            self.beginning,
            lambda: whole_chunk_check(self.beginning, self.pattern_name),
            lambda chunk: len(core.model.to_bytes(chunk)),
            spelled,
            weights=None if is_held_out else self.weights,
            workers=workers,
        )

    def learn(self, words: CountedWords, advance: Advance) -> Learned:
        grown, log = GrowingVocabulary(self.beginning), words.log
        spelling = Spelling(grown)
        for left, right, frequency in log.merges if log is not None else ():
            if not {left, right} <= grown.data_of.keys():
                raise ValueError(
                    f"the merges that were kept are damaged: no tokens {left}, {right}"
                )
            grown.add(left, right, frequency)
            advance(1)
        limits = Limits(self.max_words, self.not_joined)
        counts, size = words.held_out if words.held_out is not None else ({}, 0)
        merging = Merging(
            grown,
            words.counts,
            counts,
            words.unit,
            spelling,
            min_frequency=self.min_frequency * words.unit,
            max_token_length=self.max_token_length,
            allow=limits.allow if limits else None,
        )
        curve = None if self.convergence is None else Curve(self.convergence, size)
        sizes = [] if log is None else [*log.sizes]
        if curve is not None:
            for size, at in zip(sizes, filter(curve.is_due, count())):
                curve.add(self.least_tokens + at, at, size)
        merges = grown.merges
        taken = {token: name for name in self._new_special for token in spellings(name)}
        stopped = "size"
        while True:
            if curve is not None and curve.is_due(len(merges)):
                sizes.append(merging.held_out_size)
                if curve.add(self.least_tokens + len(merges), len(merges), sizes[-1]):
                    stopped = "convergence"
                    break
            if len(merges) == self.most_merges:
                break
            merge = merging.step()
            if merge is None:
                stopped = "nothing left"
                break
            if merge.left + merge.right in taken:
                raise ValueError(
                    f"the special token {taken[merge.left + merge.right]!r} is also the result of "
                    f"merge {len(merges)}: choose a name that the pattern splits, such as <|name|>"
                )
            if log is not None:
                log.keep_merge(*grown.parts_of(merge), merge.frequency, sizes)
            advance(1)
        if curve is not None and not curve.is_due(len(merges)):
            curve.add(self.least_tokens + len(merges), len(merges), merging.held_out_size)
        points = curve.points if curve is not None else ()
        return Learned(grown, merges, stopped, merging.size, points)

    def encoding(self, model: GrowingVocabulary, name: str) -> Encoding:
        return with_special_tokens(model.encoding(name), self.special_tokens)

    @property
    def _new_special(self) -> list[str]:
        """The names of special tokens that ``start`` does not have."""
        known = self.start.core.special if self.start is not None else ()
        return [name for name in self.special_tokens if name not in known]

    def _check_special_tokens(self) -> None:
        check_special_names(self.special_tokens)
        tokens = {*BYTES} if self.start is None else self.start.core.encoder.keys()
        for name in self._new_special:
            if not tokens.isdisjoint(spellings(name)):
                if self.start is not None:
                    raise ValueError(
                        f"the special token {name!r} is written like a token of {self.start.name!r}"
                    )
                raise ValueError(
                    f"the special token {name!r} is written like a single byte's token"
                )

    def _check_size(self) -> None:
        size, least = self.vocab_size, self.least_tokens
        check_has_end(size, self.num_merges, self.convergence)
        check_least("num_merges", self.num_merges, 0)
        check_integer("vocab_size", size)
        if size is not None and size < least and self.start is not None:
            raise ValueError(
                f"a vocabulary of {size} is too small: {self.start.name!r} has "
                f"{self.start.n_vocab} tokens, and the size counts in all"
            )
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
    pattern: str | None = None,
    special_tokens: Iterable[str] = (),
    min_frequency: int = 1,
    max_token_length: int | None = None,
    weights: Mapping[str, float] | None = None,
    convergence: Convergence | None = None,
    start: Encoding | None = None,
    max_words: int | None = None,
    not_joined: Iterable[str] = (),
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
            name: that of an encoding of OpenAI's, ``"llama3"``, ``"superbpe"``, or ``"deepseek"``
            for the steps of DeepSeek V3. ``"gpt2"`` unless given, or that of ``start``.
        special_tokens: the names of special tokens. In the texts they are plain text.
        min_frequency: the lowest frequency of a pair that is merged.
        max_token_length: the length in bytes of the longest token. (In tokenizers, the option of
            this name is one more: tokens there are shorter than it.)
        weights: the weights of some groups; the others have 1. Each group is multiplied so that
            group sizes in bytes are in these proportions, and none is made smaller.
            ``min_frequency`` is compared with the multiplied frequencies.
        convergence: when to stop because more merges are of little use for ``validation``.
        start: a byte-level BPE to go on from, as if its training had not stopped: its tokens keep
            their ids, new ones follow the highest, and ``vocab_size`` counts all ids. Its merges
            are carried out in the texts as ``pattern`` splits them.
        max_words: the most words of a token that is learned, which spaces separate.
        not_joined: texts that no token that is learned contains.
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
        start=start,
        max_words=max_words,
        not_joined=not_joined,
    )
    return train_encoding(settings, texts, counts, validation, workers=workers, name=name)
