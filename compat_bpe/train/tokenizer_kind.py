"""The common part of all kinds of vocabularies that a ``tokenizer.json`` describes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from ..caches import cached_property
from ..encodings.encoding import Encoding
from ..encodings.tokenizer import Tokenizer
from ..formats.settings_beside import AS_TOKENIZER_JSON
from ..formats.tokenizer_json import TokenizerDefinition
from ..pipeline.added_tokens import AddedToken
from .convergence import CONVERGENCE, Convergence
from .kind import Given, Kind, Settings
from .options import (
    LIKE,
    MIN_FREQUENCY,
    SPECIAL_TOKENS,
    STEPS,
    WEIGHTS,
    Option,
    check_special_names,
    check_weights,
    listed,
)
from .tokenizer_parts import NAMED, GivenPart, Surroundings, renumbered, surroundings
from .words import WordCounter, word_splitter

if TYPE_CHECKING:
    from ..formats.tokenizer_models import ModelPart


def _part(kind: str) -> dict[str, Any]:
    """Return the metadata of the setting of a part."""
    title, names = kind.replace("_", "-"), tuple(NAMED[kind])
    return Option(
        f"The {title}: {', '.join(names)}. Default: that of --like, or the model's usual one.",
        STEPS,
        metavar="NAME",
        choices=names,
    ).as_metadata


@dataclass(frozen=True)
class TokenizerSettings(Settings[Tokenizer]):
    """The settings that all kinds of a ``tokenizer.json`` have.

    Args:
        vocab_size: the number of tokens, special tokens included.
        special_tokens: the names of special tokens, which have the lowest ids. Those of ``like``
            come before them.
        unknown: the token for what has no other; it is made a special token. Unless given, that of
            ``like`` or the usual one of the kind.
        min_frequency: the lowest frequency of what is learned.
        weights: the weights of some groups, as in ``TrainingSettings``.
        normalizer, pre_tokenizer, decoder, post_processor: each a name of ``tokenizer_parts`` or a
            part as in a ``tokenizer.json``; unless given, that of ``like`` or the usual one.
        like: a tokenizer that is to be trained anew.
        convergence: when to stop because more is of little use for held-out text.

    Raises:
        ValueError: a setting is impossible. The message names it.
        TypeError: ``special_tokens`` is a single str.
    """

    special_tokens: Iterable[str] = field(default=(), metadata=SPECIAL_TOKENS.as_metadata)
    unknown: str | None = None
    min_frequency: int = field(default=0, metadata=MIN_FREQUENCY.as_metadata)
    weights: Mapping[str, float] | None = field(default=None, metadata=WEIGHTS.as_metadata)
    normalizer: GivenPart = field(default=None, metadata=_part("normalizer"))
    pre_tokenizer: GivenPart = field(default=None, metadata=_part("pre_tokenizer"))
    post_processor: GivenPart = field(default=None, metadata=_part("post_processor"))
    decoder: GivenPart = field(default=None, metadata=_part("decoder"))
    like: Tokenizer | None = field(default=None, metadata=LIKE.as_metadata)
    convergence: Convergence | None = field(default=None, metadata=CONVERGENCE)

    def __post_init__(self) -> None:
        object.__setattr__(self, "special_tokens", listed("special_tokens", self.special_tokens))
        if self.weights is not None:
            object.__setattr__(self, "weights", dict(self.weights))
            check_weights(self.weights)
        super().__post_init__()
        if self.like is not None:
            check_like(self.like)
        self.kind.check()

    @property
    def kind(self) -> TokenizerKind:
        """The kind of vocabulary, with these settings."""
        raise NotImplementedError


class TokenizerKind(Kind):
    """A kind of vocabulary that a ``tokenizer.json`` describes.

    Attributes:
        model_types: the types of its models.
        defaults: the parts of the kind, unless others are given.
    """

    settings: TokenizerSettings

    makes: ClassVar[type[TokenizerSettings]]
    formats: ClassVar[tuple[str, ...]] = ("tokenizer-json", "token-map")
    model_types: ClassVar[tuple[type, ...]] = ()
    defaults: ClassVar[Mapping[str, GivenPart]] = {}

    def check(self) -> None:
        """Raise ``ValueError`` if settings do not fit each other."""
        check_special_names(self.all_special_tokens)

    @property
    def most_steps(self) -> int | None:
        return self.settings.vocab_size

    @property
    def steps(self) -> str:
        if self.most_steps is None:
            return "steps"
        return "merges" if self.settings.vocab_size is None else "tokens"

    @property
    def pattern_name(self) -> str:
        return AS_TOKENIZER_JSON

    @property
    def weights(self) -> Mapping[str, float] | None:
        return self.settings.weights

    @property
    def roles(self) -> Mapping[str, str]:
        unknown = self.unknown_token
        return {} if unknown is None else {"unk": unknown}

    @cached_property
    def surroundings(self) -> Surroundings:
        """The steps around the model, with the special tokens."""
        like = self.settings.like
        definition = None if like is None else like.definition
        parts = {name: getattr(self.settings, name) for name in NAMED}
        made = surroundings(parts, self.defaults, definition)
        if self.settings.decoder is None and self.like_model is None:
            made = made._replace(parts={**made.parts, "decoder": self.own_decoder(made.parts)})
        made = made._replace(special=tuple(self.kept_tokens))
        return made.with_special(self.all_special_tokens)

    @property
    def kept_tokens(self) -> list[AddedToken]:
        """The special tokens of ``like``, in the order of their ids."""
        like = self.settings.like
        tokens = [] if like is None else like.added_tokens
        return sorted((one for one in tokens if one.special), key=lambda one: one.id)

    @property
    def all_special_tokens(self) -> list[str]:
        """The names of all special tokens, in the order of their ids."""
        settings = self.settings
        names = [token.content for token in self.kept_tokens]
        names += [
            name for name in settings.special_tokens if name not in names or settings.like is None
        ]
        unknown = self.unknown_token
        return names if unknown is None or unknown in names else [unknown, *names]

    @property
    def unknown_token(self) -> str | None:
        """The token for what has no other; None if there is none."""
        raise NotImplementedError

    @property
    def like_model(self) -> Any:
        """The model of ``like`` if it is of the same kind; else None."""
        like = self.settings.like
        model = None if like is None else like.definition.model
        return model if isinstance(model, self.model_types) else None

    def own_decoder(self, parts: Mapping[str, Any]) -> Any:
        """Return the decoder that fits the model and the other parts, as in a file."""
        raise NotImplementedError

    def described(self) -> dict[str, Any]:
        described = super().described()
        del described["special_tokens"]  # they stand beside the settings in a manifest
        return {"model": self.name, **described, **self.surroundings.parts}

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
    def from_options(cls, given: Given) -> Settings[Encoding]:
        unknown = given.roles.get("unk")
        special = given.special_with_roles(unknown)
        return cls.makes(**given.values, special_tokens=special, unknown=unknown)


def check_like(encoding: object) -> TokenizerDefinition:
    """Return what a ``tokenizer.json`` says of an encoding's steps.

    Raises:
        ValueError: there is no ``tokenizer.json`` that describes them.
    """
    definition = encoding.definition if isinstance(encoding, Tokenizer) else None
    if not isinstance(definition, TokenizerDefinition):
        raise ValueError(f"{encoding!r} has no steps that a tokenizer.json describes")
    return definition


def given_or(given: Any, model: Any, name: str, usual: Any) -> Any:
    """Return the setting that is given; else that of the model of ``like``; else the usual one."""
    if given is not None:
        return given
    return usual if model is None else getattr(model, name)
