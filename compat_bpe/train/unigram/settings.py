"""Tokenizers with a Unigram model: the pieces and scores of tokenizers' ``UnigramTrainer``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ...formats.checked_json import is_unicode
from ...formats.tokenizer_models import UnigramPart
from ...pipeline.added_tokens import AddedToken
from ..bpe.learner import MOST_TOKENS
from ..convergence import Point, ShrinkingCurve
from ..estimate import Costs, distinct_bytes
from ..kind import Advance, Learned
from ..options import (
    INITIAL_ALPHABET,
    MAX_PIECE_LENGTH,
    SEED_SIZE,
    SHRINKING_FACTOR,
    SUB_ITERATIONS,
)
from ..tokenizer_kind import TokenizerKind, TokenizerSettings
from ..tokenizer_parts import GivenPart
from ..words import CountedWords
from .learner import Iteration, UnigramOptions, learn_unigram


@dataclass(frozen=True)
class UnigramSettings(TokenizerSettings):
    """The settings of training a Unigram vocabulary.

    The pieces are those of ``UnigramTrainer`` of Hugging Face tokenizers 0.23.3, and the scores
    differ by rounding. They do not depend on the order of the texts or on the number of workers.
    The ids are those of the special tokens, then of the pieces by score.

    Args:
        vocab_size: the number of pieces, special tokens included. There are fewer if too few
            substrings recur, and more if the characters alone take as many as this.
        unknown: the token of characters that are no pieces, ``<unk>`` unless given; a special
            token.
        initial_alphabet: characters that are pieces even if they do not occur.
        shrinking_factor: the share of the pieces that a round of pruning leaves.
        n_sub_iterations: the number of steps of EM in a round.
        max_piece_length: the length in characters of the longest piece.
        seed_size: the number of pieces to begin with.
        min_frequency: words that occur less often are not learned from.
        convergence: when to stop pruning, with more pieces than ``vocab_size``, because fewer would
            cost too much on held-out text.
        special_tokens, weights, like: as in ``WordPieceSettings``.
        normalizer, pre_tokenizer, decoder, post_processor: as there. Unless given, the
            pre-tokenizer is ``metaspace``, and there is no normalizer.

    Raises:
        ValueError: a setting is impossible. The message names it.
        TypeError: ``special_tokens`` is a single str.

    >>> from compat_bpe.train import train
    >>> enc = train(["hug " * 10 + "pug " * 5 + "pun " * 12], UnigramSettings(14))
    >>> [enc.id_to_token(token) for token in enc.encode("hug pun")]
    ['▁', 'h', 'u', 'g', '▁pu', 'n']
    """

    initial_alphabet: Iterable[str] = field(default="", metadata=INITIAL_ALPHABET.as_metadata)
    shrinking_factor: float = field(default=0.75, metadata=SHRINKING_FACTOR.as_metadata)
    n_sub_iterations: int = field(default=2, metadata=SUB_ITERATIONS.as_metadata)
    max_piece_length: int = field(
        default=16, metadata=MAX_PIECE_LENGTH._replace(most=1024).as_metadata
    )
    seed_size: int = field(default=1_000_000, metadata=SEED_SIZE.as_metadata)

    def __post_init__(self) -> None:
        object.__setattr__(self, "initial_alphabet", "".join(self.initial_alphabet))
        super().__post_init__()

    @property
    def kind(self) -> Unigram:
        """The kind of vocabulary, with these settings."""
        return Unigram(self)


class Unigram(TokenizerKind):
    """Unigram."""

    settings: UnigramSettings

    name: ClassVar[str] = "unigram"
    makes = UnigramSettings
    ends: ClassVar[tuple[str, ...]] = ("vocab_size",)
    checks: ClassVar[str] = "rounds"
    model_types: ClassVar[tuple[type, ...]] = (UnigramPart,)
    defaults: ClassVar[Mapping[str, GivenPart]] = {"pre_tokenizer": "metaspace"}

    def check(self) -> None:
        super().check()
        size, names = self.options.vocab_size, self.options.first_pieces
        if size > MOST_TOKENS:
            raise ValueError(f"a vocabulary of {size} is too large: {MOST_TOKENS} at most")
        if not is_unicode("".join(self.settings.initial_alphabet)):
            raise ValueError("initial_alphabet has a lone surrogate")
        if len(names) > size:
            raise ValueError(f"a vocabulary of {size} is too small for {len(names)} special tokens")

    @property
    def costs(self) -> Costs:
        return Costs(distinct_bytes(self.splitter()), 0.1, 0.0, 12.0, 1.3, 80.0)

    @property
    def most_steps(self) -> int | None:
        return None

    @property
    def unknown_token(self) -> str:
        if self.settings.unknown is not None:
            return self.settings.unknown
        model = self.like_model
        if model is None or model.unknown is None:
            return "<unk>"
        token: str = model.pieces[model.unknown]
        return token

    @property
    def kept_tokens(self) -> list[AddedToken]:
        """All added tokens of ``like``, made special, as transformers does for Unigram."""
        if self.settings.like is None or self.like_model is None:
            return super().kept_tokens
        tokens = sorted(self.settings.like.added_tokens, key=lambda one: one.id)
        return [one._replace(special=True) for one in tokens]

    @property
    def options(self) -> UnigramOptions:
        """The options of learning."""
        if self.settings.vocab_size is None:
            raise ValueError("give vocab_size")
        return UnigramOptions(
            self.settings.vocab_size,
            unk_token=self.unknown_token,
            special_tokens=self.all_special_tokens,
            initial_alphabet=[*self.settings.initial_alphabet],
            shrinking_factor=self.settings.shrinking_factor,
            n_sub_iterations=self.settings.n_sub_iterations,
            max_piece_length=self.settings.max_piece_length,
            seed_size=self.settings.seed_size,
        )

    def own_decoder(self, parts: Mapping[str, Any]) -> Any:
        pre_tokenizer = parts["pre_tokenizer"]
        is_same = isinstance(pre_tokenizer, Mapping) and pre_tokenizer["type"] in _DECODERS
        return dict(pre_tokenizer) if is_same else {"type": "Fuse"}

    def learn(self, words: CountedWords, advance: Advance) -> Learned:
        unit, least = words.unit, self.settings.min_frequency * words.unit
        counts = {word: n / unit for word, n in words.counts.items() if n >= least}

        def step(iteration: Iteration) -> None:
            advance(1)

        curve: ShrinkingCurve[UnigramPart] | None = None
        if self.settings.convergence is None:
            part = learn_unigram(counts, self.options, step)
        else:
            held_out, held_out_bytes = words.held_out if words.held_out is not None else ({}, 0)
            curve = ShrinkingCurve(self.settings.convergence, held_out_bytes)

            def has_converged(part: UnigramPart) -> bool:
                return curve.add(len(part.pieces), _size(part, held_out), part)

            learn_unigram(counts, self.options, step, has_converged)
            assert curve.model is not None  # There is a check at the end.
            part = curve.model
        size = _size(part, words.counts)
        stopped = "size" if len(part.pieces) >= self.options.vocab_size else "nothing left"
        points: list[Point] = []
        if curve is not None:
            points = curve.points
            stopped = stopped if points[-1].tokens == len(part.pieces) else "convergence"
        return Learned(part, [], stopped, size / unit if unit > 1 else size, points)


def _size(part: UnigramPart, words: Mapping[str, int]) -> int:
    """Return the number of tokens that words are with a model."""
    model = part.define((), "the trained model").model
    return sum(len(model.encode(word)) * count for word, count in words.items())


#: Pre-tokenizers that are decoders, too.
_DECODERS = ("Metaspace", "ByteLevel")
