"""Byte-level BPE: settings, limits on superwords, learning, and the encoding made of it.

Superwords are tokens of several words. SuperBPE (Liu et al., 2025) learns in two stages. The first
one is BPE as usual: a pattern keeps tokens within words. The second one goes on from these merges
with another pattern, which leaves words together, and learns tokens such as ``" by the way"``. Its
limits are those of the trainer in alisawuffles/tokenizers-superbpe, commit 757f2a5: a pair is
passed over if its token would have more than four words, or a colon before a space.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Callable, ClassVar

from ...caches import cached_property
from ...encodings.encoding import Encoding
from ...formats.settings_beside import FORMATS
from ..convergence import CONVERGENCE, Convergence, check_has_end, learn_by_steps
from ..kind import Advance, GivenOptions, Kind, Learned, Settings
from ..options import (
    BYTE_LEVEL,
    COUNT,
    MAX_TOKEN_LENGTH,
    MIN_FREQUENCY,
    NUM_MERGES,
    PATTERN,
    SPECIAL_TOKENS,
    WEIGHTS,
    check_least,
    check_special_names,
    check_weights,
    listed,
    setting,
)
from ..words import CountedWords, WordCounter, whole_chunk_check
from .growing import (
    BYTES,
    TO_IDS,
    GrowingVocabulary,
    Merging,
    Spelling,
    check_byte_level,
    make_encoding,
    pattern_name_of,
    spellings,
    split_by,
    with_special_tokens,
)
from .learner import MOST_TOKENS


def limits_of(
    max_words: int | None = None, not_joined: Iterable[str] = ()
) -> Callable[[bytes], bool] | None:
    """Return the function that says whether a token may be learned; None if all may.

    Args:
        max_words: the most words of a token; None for any number. Words are what lies between
            spaces.
        not_joined: texts that no token contains.

    Raises:
        ValueError: a limit is impossible.

    >>> allow = limits_of(2, [": "])
    >>> [allow(token) for token in (b" by the", b" by the way", b"by the ", b"by: the")]
    [True, False, True, False]
    """
    check_least("max_words", max_words, 1)
    try:
        texts = [text.encode() for text in not_joined]
    except UnicodeEncodeError:
        raise ValueError("a text of not_joined has a lone surrogate") from None
    if b"" in texts:
        raise ValueError("a text of not_joined is empty: every token contains that")

    def allow(token: bytes) -> bool:
        if max_words is not None and len([*filter(None, token.split(b" "))]) > max_words:
            return False
        return not any(text in token for text in texts)

    return allow if texts or max_words is not None else None


@dataclass(frozen=True)
class TrainingSettings(Settings[Encoding]):
    """The settings of training a byte-level BPE vocabulary.

    Args:
        vocab_size: the number of tokens, single bytes and special tokens included. There are fewer
            if nothing is left to merge.
        num_merges: the most merges to learn. Give this, ``vocab_size`` or ``convergence``, or
            several of them.
        pattern: the pattern that splits text into chunks, across which nothing is merged; or its
            name: that of an encoding of OpenAI's, ``"llama3"``, ``"superbpe"``, or ``"deepseek"``
            for the steps of DeepSeek V3. ``"gpt2"`` unless given, or that of ``start``.
        special_tokens: the names of special tokens. In the texts they are plain text.
        min_frequency: the lowest frequency of a pair that is merged.
        max_token_length: the length in bytes of the longest token. (The option of this name in
            tokenizers must be one more: tokens there are shorter than it.)
        weights: the weights of some groups; the others have 1. Each group is multiplied so that
            group sizes in bytes are in these proportions, and none is made smaller.
            ``min_frequency`` is compared with the multiplied frequencies.
        convergence: when to stop because more merges hardly improve held-out text.
        start: a byte-level BPE to go on from, as if its training had not stopped: its tokens keep
            their ids, new ones follow the highest, and ``vocab_size`` counts all ids. Its merges
            are carried out in the texts as ``pattern`` splits them.
        max_words: the most words of a learned token, separated by spaces.
        not_joined: texts that no learned token contains.

    Raises:
        ValueError: a setting is impossible. The message names it. ``Trainer`` checks the pattern.
        TypeError: ``special_tokens`` is a single str.

    >>> TrainingSettings(300, special_tokens=["<|end|>"]).kind.most_merges
    43
    >>> TrainingSettings(200)
    Traceback (most recent call last):
    ValueError: a vocabulary of 200 is too small: with all single bytes and special tokens it has \
256 tokens or more
    """

    num_merges: int | None = setting(None, NUM_MERGES)
    pattern: str | None = setting(None, PATTERN)
    special_tokens: Iterable[str] = setting((), SPECIAL_TOKENS)
    min_frequency: int = setting(1, MIN_FREQUENCY)
    max_token_length: int | None = setting(None, MAX_TOKEN_LENGTH)
    weights: Mapping[str, float] | None = setting(None, WEIGHTS)
    convergence: Convergence | None = field(default=None, metadata=CONVERGENCE)
    start: Encoding | None = setting(
        None,
        "Continue the training of this vocabulary: its tokens keep their ids, and -n counts all "
        "ids. Its pattern is the default of --pattern.",
        BYTE_LEVEL,
        flags=("--from",),
        metavar="NAME|PATH",
        type=open,
    )
    max_words: int | None = setting(
        None, "Learn no token of more than N words, separated by spaces.", BYTE_LEVEL, **COUNT
    )
    not_joined: Iterable[str] = setting(
        (),
        "Learn no token that contains TEXT, such as ': '. May be repeated.",
        BYTE_LEVEL,
        metavar="TEXT",
        is_many=True,
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "special_tokens", listed("special_tokens", self.special_tokens))
        object.__setattr__(self, "not_joined", listed("not_joined", self.not_joined, "texts"))
        if self.weights is not None:
            object.__setattr__(self, "weights", dict(self.weights))
        if self.start is not None:
            check_byte_level(self.start, "continued")
        elif self.pattern is None:
            object.__setattr__(self, "pattern", ByteLevelBpe.usual_pattern)
        limits_of(self.max_words, self.not_joined)
        check_special_names(self.special_tokens)
        check_has_end(self.vocab_size, self.num_merges, self.convergence)
        super().__post_init__()
        check_weights(self.weights or {})
        self.kind.check()

    @property
    def kind(self) -> ByteLevelBpe:
        """The kind of vocabulary, with these settings."""
        return ByteLevelBpe(self)


class ByteLevelBpe(Kind):
    """Byte-level BPE.

    The merges are those of Hugging Face tokenizers 0.23.3: of its ``BpeTrainer`` with the
    byte-level alphabet, after a pre-tokenizer that splits by the same pattern.

    The ids of the 256 bytes come first, in GPT-2's order, then those of the merges, then those of
    the special tokens.
    """

    settings: TrainingSettings

    name: ClassVar[str] = "bpe"
    makes = TrainingSettings
    formats: ClassVar[tuple[str, ...]] = tuple(FORMATS)
    ends: ClassVar[tuple[str, ...]] = ("vocab_size", "num_merges", "convergence")
    learns_merges: ClassVar[bool] = True
    usual_pattern: ClassVar[str | None] = "gpt2"
    rates = (0.065, 0.0, 2.8, 1.0, 16.0)

    def check(self) -> None:
        """Raise ``ValueError`` if settings do not fit each other."""
        self._check_special_tokens()
        self._check_size()

    @property
    def least_tokens(self) -> int:
        """The number of tokens without a new merge: those that are there, and special tokens."""
        return self._first_tokens + len(self._new_special)

    @property
    def _first_tokens(self) -> int:
        return len(BYTES) if self.settings.start is None else self.settings.start.n_vocab

    @property
    def most_merges(self) -> int:
        """The number of merges that are learned unless nothing is left to merge."""
        most = MOST_TOKENS - self._first_tokens
        if self.settings.num_merges is not None:
            most = min(most, self.settings.num_merges)
        if self.settings.vocab_size is not None:
            most = min(most, self.settings.vocab_size - self.least_tokens)
        return most

    @property
    def pattern_name(self) -> str:
        if self.settings.start is not None:
            return pattern_name_of(self.beginning)
        assert self.settings.pattern is not None
        return self.settings.pattern

    @property
    def most_steps(self) -> int | None:
        has_end = self.settings.vocab_size is not None or self.settings.num_merges is not None
        return self.most_merges if has_end else None

    @property
    def steps(self) -> str:
        return "steps" if self.most_steps is None else "merges"

    def described(self) -> dict[str, Any]:
        described = super().described()
        # A manifest has these two beside the settings.
        del described["pattern"], described["special_tokens"]
        return described

    @classmethod
    def from_options(cls, options: GivenOptions) -> TrainingSettings:
        return TrainingSettings(**options.values, special_tokens=options.special_with_roles())

    @cached_property
    def beginning(self) -> Encoding:
        """The encoding with the tokens that learning begins with; it splits text by the pattern.

        Raises:
            ValueError: the pattern is not valid, or ``start`` keeps its own.
        """
        if self.settings.start is not None:
            return split_by(self.settings.start, self.settings.pattern)
        return make_encoding("bytes", self.pattern_name)

    def splitter(self) -> Encoding:
        return self.beginning

    def word_counter(self, workers: int | None, *, is_held_out: bool = False) -> WordCounter:
        core = self.beginning.core
        if self.settings.start is None:

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
        settings = self.settings
        grown, log = GrowingVocabulary(self.beginning), words.log
        spelling = Spelling(grown)
        for left, right, frequency in log.merges if log is not None else ():
            if not {left, right} <= grown.data_of.keys():
                raise ValueError(f"the kept merges are damaged: no tokens {left}, {right}")
            grown.add(left, right, frequency)
            advance(1)
        merging = Merging(
            grown,
            words.counts,
            words.held_out.counts,
            words.unit,
            spelling,
            min_frequency=settings.min_frequency * words.unit,
            max_token_length=settings.max_token_length,
            allow=limits_of(settings.max_words, settings.not_joined),
        )
        merges, least, most = grown.merges, self.least_tokens, self.most_merges
        taken = {token: name for name in self._new_special for token in spellings(name)}
        sizes = [] if log is None else [*log.sizes]

        def measure(_: object) -> tuple[int, int, int]:
            sizes.append(merging.held_out_size)
            return least + len(merges), len(merges), sizes[-1]

        def step() -> str:
            if len(merges) == most:
                return "size"
            merge = merging.step()
            if merge is None:
                return "nothing left"
            if merge.left + merge.right in taken:
                raise ValueError(
                    f"the special token {taken[merge.left + merge.right]!r} is also the result of "
                    f"merge {len(merges)}: choose a name that the pattern splits, such as <|name|>"
                )
            if log is not None:
                log.keep_merge(*grown.parts_of(merge), merge.frequency, sizes)
            advance(1)
            return ""

        watch = self.watch(words, measure)
        if watch is not None:
            for size, at in zip(sizes, filter(watch.is_due, count())):
                watch.add(least + at, at, size)
        stopped = learn_by_steps(step, watch, taken=len(merges))
        points = watch.points if watch is not None else ()
        return Learned(grown, merges, stopped, merging.size, points)

    def encoding(self, model: GrowingVocabulary, name: str) -> Encoding:
        return with_special_tokens(model.encoding(name), self.settings.special_tokens)

    @property
    def _new_special(self) -> list[str]:
        """The names of special tokens that ``start`` does not have."""
        known = self.settings.start.core.special if self.settings.start is not None else ()
        return [name for name in self.settings.special_tokens if name not in known]

    def _check_special_tokens(self) -> None:
        start = self.settings.start
        tokens = {*BYTES} if start is None else start.core.encoder.keys()
        for name in self._new_special:
            if not tokens.isdisjoint(spellings(name)):
                which = "a single byte's token" if start is None else f"a token of {start.name!r}"
                raise ValueError(f"the special token {name!r} is written like {which}")

    def _check_size(self) -> None:
        size, least, start = self.settings.vocab_size, self.least_tokens, self.settings.start
        if size is None:
            return
        if size < least:
            why = f"with all single bytes and special tokens it has {least} tokens or more"
            if start is not None:
                why = f"{start.name!r} has {start.n_vocab} tokens, and the size includes them"
            raise ValueError(f"a vocabulary of {size} is too small: {why}")
        if size > MOST_TOKENS:
            raise ValueError(f"a vocabulary of {size} is too large: {MOST_TOKENS} at most")
