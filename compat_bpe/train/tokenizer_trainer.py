"""Training of a tokenizer of any kind: counting of words, learning of a model, and the whole.

A kind is a ``TokenizerSettings``, which says how its model is learned from counted words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Callable, ClassVar, NamedTuple

from ..corpus.counted import Counted
from ..encodings.tokenizer import Tokenizer
from ..formats.tokenizer_json import TokenizerDefinition
from ..parallel.lazy import cached_property
from ..pipeline.added.added_tokens import AddedToken
from ..unicode.surrogates import repair
from .convergence import Convergence, HeldOut, Point
from .counted_chunks import feed_all
from .settings import check_least, check_special_names, check_weights
from .tokenizer_parts import GivenPart, Surroundings, renumbered, surroundings
from .trainer import LearnedMerge, Trained
from .words import CountedWords, WordCounter

if TYPE_CHECKING:
    from ..formats.models.base import ModelPart

#: Called with 1 for each step of learning.
Advance = Callable[[int], None]


class Learned(NamedTuple):
    """A model that was learned.

    Args:
        model: the model.
        merges: the merges, in the order in which they were learned; none if its kind has none.
        stopped: as in ``Trained``.
        tokens: the number of tokens of the words that it was learned from.
        curve: as in ``Trained``.
    """

    model: ModelPart
    merges: list[LearnedMerge]
    stopped: str
    tokens: float
    curve: Sequence[Point] = ()


@dataclass(frozen=True)
class TokenizerSettings:
    """The settings that all kinds have.

    Args:
        vocab_size: the number of tokens, special tokens included.
        special_tokens: the names of special tokens, which have the lowest ids.  Those of ``like``
            come before them.
        unknown: the token for what has no other; it is made a special token.  Unless given, that of
            ``like`` or the usual one of the kind.
        min_frequency: the lowest frequency of what is learned.
        weights: as in ``train_bpe``.
        normalizer, pre_tokenizer, decoder, post_processor: each a name of ``tokenizer_parts`` or a
            part as in a ``tokenizer.json``; unless given, that of ``like`` or the usual one.
        like: a tokenizer that is to be trained anew.

    Raises:
        ValueError: a setting is impossible.  The message names it.
        TypeError: ``special_tokens`` is a single str.
    """

    vocab_size: int | None = None
    special_tokens: Iterable[str] = ()
    unknown: str | None = None
    min_frequency: int = 0
    weights: Mapping[str, float] | None = None
    normalizer: GivenPart = None
    pre_tokenizer: GivenPart = None
    decoder: GivenPart = None
    post_processor: GivenPart = None
    like: Tokenizer | None = None

    #: The name of the kind.
    kind: ClassVar[str] = ""
    #: The types of its models.
    model_types: ClassVar[tuple[type, ...]] = ()
    #: The parts of the kind, unless others are given.
    defaults: ClassVar[Mapping[str, GivenPart]] = {}

    def __post_init__(self) -> None:
        if isinstance(self.special_tokens, str):
            raise TypeError(
                f"special_tokens is the str {self.special_tokens!r}; pass a list of names"
            )
        if self.like is not None:
            check_like(self.like)
        object.__setattr__(self, "special_tokens", tuple(self.special_tokens))
        if self.weights is not None:
            object.__setattr__(self, "weights", dict(self.weights))
            check_weights(self.weights)
        check_special_names(self.all_special_tokens)
        check_least("vocab_size", self.vocab_size, 1)
        check_least("min_frequency", self.min_frequency, 0)

    @property
    def most_steps(self) -> int | None:
        """The number of steps of learning, unless nothing is left to learn; None if unknown."""
        return self.vocab_size

    @property
    def stops_by(self) -> Convergence | None:
        """The settings of stopping by convergence, of kinds that can."""
        return None

    @cached_property
    def surroundings(self) -> Surroundings:
        """The steps around the model, with the special tokens."""
        definition = None if self.like is None else self.like.definition
        given = {name: getattr(self, name) for name in _PARTS}
        found = surroundings(given, self.defaults, definition)
        if self.decoder is None and not self._is_like:
            found = found._replace(parts={**found.parts, "decoder": self.own_decoder(found.parts)})
        found = found._replace(special=tuple(self.kept_tokens))
        return found.with_special(self.all_special_tokens)

    @property
    def kept_tokens(self) -> list[AddedToken]:
        """The special tokens of ``like``, in the order of their ids."""
        tokens = [] if self.like is None else self.like.added_tokens
        return sorted((one for one in tokens if one.special), key=lambda one: one.id)

    @property
    def all_special_tokens(self) -> list[str]:
        """The names of all special tokens, in the order of their ids."""
        names = [token.content for token in self.kept_tokens]
        names += [name for name in self.special_tokens if name not in names or self.like is None]
        unknown = self.unknown_token
        return names if unknown is None or unknown in names else [unknown, *names]

    @property
    def unknown_token(self) -> str | None:
        """The token for what has no other; None if there is none."""
        raise NotImplementedError

    @property
    def _is_like(self) -> bool:
        """True if the model is to be of the same kind as that of ``like``."""
        return self.like_model is not None

    @property
    def like_model(self) -> Any:
        """The model of ``like`` if it is of the same kind; else None."""
        model = None if self.like is None else self.like.definition.model
        return model if isinstance(model, self.model_types) else None

    def own_decoder(self, parts: Mapping[str, Any]) -> Any:
        """Return the decoder that fits the model and the other parts, as in a file."""
        raise NotImplementedError

    def learn(self, words: CountedWords, advance: Advance) -> Learned:
        """Learn a model from words.

        Args:
            words: the words.
            advance: called with 1 for each step.

        Raises:
            ValueError: nothing can be learned from them with these settings.
        """
        raise NotImplementedError

    def described(self) -> dict[str, Any]:
        """Return the settings for a manifest, all of which are JSON."""
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        found["like"] = None if self.like is None else self.like.name
        del found["special_tokens"]
        return {"model": self.kind, **found, **self.surroundings.parts}


def check_like(tokenizer: object) -> None:
    """Raise ``ValueError`` if there is no ``tokenizer.json`` that describes an encoding's steps."""
    definition = tokenizer.definition if isinstance(tokenizer, Tokenizer) else None
    if not isinstance(definition, TokenizerDefinition):
        raise ValueError(f"{tokenizer!r} has no steps that a tokenizer.json describes")


_PARTS = ("normalizer", "pre_tokenizer", "decoder", "post_processor")


class TokenizerTrainer:
    """Training of a tokenizer step by step, for texts in pieces, and with figures on the result.

    Args:
        settings: the settings of one of the kinds.
        counts: words with their counts, as the model gets them: normalized, and split off by the
            pre-tokenizer.  Otherwise as in ``train_bpe``.
        workers: the most processes that split a large corpus; by default one for each processor.
        name: the name of the tokenizer.

    Raises:
        ValueError: a part is wrong, or ``workers`` is not positive.

    >>> from compat_bpe.train.wordpiece import WordPieceSettings
    >>> with TokenizerTrainer(WordPieceSettings(9)) as trainer:
    ...     trainer.feed("hug pug", is_last=False)
    ...     trainer.feed(" hug")
    ...     trained = trainer.train()
    >>> trained.merges
    [LearnedMerge(left=b'##u', right=b'##g', id=7, frequency=3), \
LearnedMerge(left=b'h', right=b'##ug', id=8, frequency=2)]
    """

    def __init__(
        self, settings: TokenizerSettings, *, workers: int | None = None, name: str = "trained"
    ) -> None:
        self.settings = settings
        self._name = name
        parts = settings.surroundings.parts
        # Anything wrong with it is an error before the corpus is read.
        renumbered(parts["post_processor"], dict.fromkeys(settings.all_special_tokens, 0))
        self._words = WordCounter(parts, weights=settings.weights, workers=workers)
        self._held_out = WordCounter(parts, workers=workers)
        self._held_out_bytes = 0

    def __enter__(self) -> TokenizerTrainer:
        return self

    def __exit__(self, *exception: object) -> None:
        self._held_out.__exit__(*exception)
        self._words.__exit__(*exception)

    def feed(self, text: str, group: str = "", *, is_last: bool = True) -> None:
        """Take a text, or a piece of one; see ``Trainer.feed``."""
        self._words.feed(text, group, is_last=is_last)

    def feed_counts(self, counts: Counted, group: str = "") -> None:
        """Take words with their counts; see ``WordCounter.feed_counts``."""
        self._words.feed_counts(counts, group)

    def hold_out(self, text: str) -> None:
        """Take a text by which learning may stop; see ``Trainer.hold_out``."""
        if self.settings.stops_by is None:
            raise ValueError("held-out text is of no use: the settings have no convergence")
        self._held_out.feed(text)
        self._held_out_bytes += len(repair(text).encode())

    def train(self, advance: Advance = lambda steps: None) -> Trained:
        """Learn from all texts.

        Args:
            advance: called with 1 for each step.

        Raises:
            ValueError: there was no text; a group with a weight had none; a part is wrong or needs
                a token that is not there; nothing can be learned; there was no held-out text, but
                ``convergence``.
            OSError: a worker process has been killed.
        """
        words = self._words.finish()
        if self._held_out_bytes:
            counts = self._held_out.finish().counts
            words = words._replace(held_out=HeldOut(counts, self._held_out_bytes))
        learned = self.settings.learn(words, advance)
        definition = self.settings.surroundings.around(learned.model, self._name)
        return Trained(
            Tokenizer(self._name, definition),
            learned.merges,
            learned.stopped,
            words.bytes,
            words.words,
            len(words.counts),
            learned.tokens,
            dict(words.factors),
            learned.curve,
        )


def train_tokenizer(
    texts: Iterable[str] | Mapping[str, Iterable[str]],
    settings: TokenizerSettings,
    *,
    counts: Counted | Mapping[str, Counted] = (),
    validation: Iterable[str] = (),
    workers: int | None = None,
    name: str = "trained",
) -> Tokenizer:
    """Train a tokenizer on texts.  It does not depend on their order or the number of workers.

    Args:
        texts: the corpus, read once; or the texts of each group.
        settings: the settings of one of the kinds.
        validation: held-out texts for ``convergence``, from which nothing is learned.
        counts: words with their counts, as the model gets them: normalized, and split off by the
            pre-tokenizer.  Otherwise as in ``train_bpe``.
        workers: the most processes that split a large corpus; by default one for each processor.
        name: the name of the tokenizer.

    Raises:
        ValueError: there is no text; a setting is impossible; a group with a weight has no text; a
            part is wrong or needs a token that is not there; nothing can be learned.
        TypeError: a text is not a str, or ``texts`` is a single str.
        OSError: a worker process has been killed.
    """
    with TokenizerTrainer(settings, workers=workers, name=name) as trainer:
        feed_all(trainer, texts, counts, validation)
        trained = trainer.train().encoding
        assert isinstance(trained, Tokenizer)
        return trained


_ABOUT_TEXTS = ("counts", "validation", "workers", "name")


def train_with(make: type[TokenizerSettings], arguments: Mapping[str, Any]) -> Tokenizer:
    """Train a tokenizer with the arguments of a function for one kind, whose names are the fields.

    Args:
        make: the settings of the kind.
        arguments: the arguments, those of ``train_tokenizer`` included.
    """
    own = dict(arguments)
    others = {name: own.pop(name) for name in _ABOUT_TEXTS if name in own}
    texts = own.pop("texts")
    return train_tokenizer(texts, make(**own), **others)
