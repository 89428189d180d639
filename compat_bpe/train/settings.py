"""The settings of kinds of tokenizers that a ``tokenizer.json`` describes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from ..corpus.chunk_counts import Counted
from ..encodings.tokenizer import Tokenizer
from ..formats.settings_beside import AS_TOKENIZER_JSON
from ..formats.tokenizer_json import TokenizerDefinition
from ..parallel.lazy import cached_property
from ..pipeline.added_tokens import AddedToken
from .checks import check_least, check_special_names, check_weights
from .run.convergence import Convergence
from .tokenizer_parts import GivenPart, Surroundings, renumbered, surroundings
from .trainer import KindSettings, Options, train_encoding
from .words import WordCounter, word_splitter

if TYPE_CHECKING:
    from ..formats.models.base import ModelPart


@dataclass(frozen=True)
class TokenizerSettings(KindSettings):
    """The settings that all kinds of a ``tokenizer.json`` have.

    Args:
        vocab_size: the number of tokens, special tokens included.
        special_tokens: the names of special tokens, which have the lowest ids. Those of ``like``
            come before them.
        unknown: the token for what has no other; it is made a special token. Unless given, that of
            ``like`` or the usual one of the kind.
        min_frequency: the lowest frequency of what is learned.
        weights: as in ``train_bpe``.
        normalizer, pre_tokenizer, decoder, post_processor: each a name of ``tokenizer_parts`` or a
            part as in a ``tokenizer.json``; unless given, that of ``like`` or the usual one.
        like: a tokenizer that is to be trained anew.

    Raises:
        ValueError: a setting is impossible. The message names it.
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

    formats: ClassVar[tuple[str, ...]] = ("tokenizer-json", "token-map")
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
        """The most steps of learning, fewer if nothing is left to learn; None if unknown."""
        return self.vocab_size

    @property
    def steps(self) -> str:
        if self.most_steps is None:
            return "steps"
        return "merges" if self.vocab_size is None else "tokens"

    @property
    def pattern_name(self) -> str:
        return AS_TOKENIZER_JSON

    @property
    def roles(self) -> Mapping[str, str]:
        unknown = self.unknown_token
        return {} if unknown is None else {"unk": unknown}

    @cached_property
    def surroundings(self) -> Surroundings:
        """The steps around the model, with the special tokens."""
        definition = None if self.like is None else self.like.definition
        given = {name: getattr(self, name) for name in _PARTS}
        made = surroundings(given, self.defaults, definition)
        if self.decoder is None and not self._is_like:
            made = made._replace(parts={**made.parts, "decoder": self.own_decoder(made.parts)})
        made = made._replace(special=tuple(self.kept_tokens))
        return made.with_special(self.all_special_tokens)

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

    @property
    def stops_by(self) -> Convergence | None:
        own: Convergence | None = getattr(self, "convergence", None)
        return own

    def described(self) -> dict[str, Any]:
        described = {field.name: getattr(self, field.name) for field in fields(self)}
        described["like"] = None if self.like is None else self.like.name
        if self.stops_by is not None:
            described["convergence"] = asdict(self.stops_by)
        del described["special_tokens"]
        return {"model": self.kind, **described, **self.surroundings.parts}

    def splitter(self) -> Tokenizer:
        return word_splitter(self.surroundings.parts)

    def word_counter(self, workers: int | None, *, is_held_out: bool = False) -> WordCounter:
        parts = self.surroundings.parts
        # A fault of the post-processor is raised before the corpus is read.
        renumbered(parts["post_processor"], dict.fromkeys(self.all_special_tokens, 0))
        weights = None if is_held_out else self.weights
        return WordCounter.of_parts(parts, weights=weights, workers=workers)

    def encoding(self, model: ModelPart, name: str) -> Tokenizer:
        return Tokenizer(name, self.surroundings.around(model, name))

    @classmethod
    def from_options(cls, kind: str, options: Options) -> TokenizerSettings:
        unknown = options.roles.get("unk")
        special = options.special_with_roles(unknown)
        return cls(**options.values, special_tokens=special, unknown=unknown)


def check_like(encoding: object) -> TokenizerDefinition:
    """Return what a ``tokenizer.json`` says of an encoding's steps.

    Raises:
        ValueError: there is no ``tokenizer.json`` that describes them.
    """
    definition = encoding.definition if isinstance(encoding, Tokenizer) else None
    if not isinstance(definition, TokenizerDefinition):
        raise ValueError(f"{encoding!r} has no steps that a tokenizer.json describes")
    return definition


_PARTS = ("normalizer", "pre_tokenizer", "decoder", "post_processor")


def train_tokenizer(
    texts: Iterable[str] | Mapping[str, Iterable[str]],
    settings: TokenizerSettings,
    *,
    counts: Counted | Mapping[str, Counted] = (),
    validation: Iterable[str] = (),
    workers: int | None = None,
    name: str = "trained",
) -> Tokenizer:
    """Train a tokenizer on texts. It does not depend on their order or the number of workers.

    Args:
        texts: the corpus, read once; or the texts of each group.
        settings: the settings of one of the kinds.
        validation: held-out texts for ``convergence``, from which nothing is learned.
        counts: words with their counts, as the model gets them: normalized, and split off by the
            pre-tokenizer. Otherwise as in ``train_bpe``.
        workers: the most processes that split a large corpus; by default one for each processor.
        name: the name of the tokenizer.

    Raises:
        ValueError: there is no text; a setting is impossible; a group with a weight has no text; a
            part is wrong or needs a token that is not there; nothing can be learned.
        TypeError: a text is not a str, or ``texts`` is a single str.
        OSError: a worker process has been killed.
    """
    trained = train_encoding(settings, texts, counts, validation, workers=workers, name=name)
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
