"""Kinds of vocabularies that a ``tokenizer.json`` describes, and the steps around their models.

A step is given by its name, as a part of a file, or by the tokenizer of ``like``. A post-processor
has ids of a vocabulary, so it is renumbered for a new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Union

from ..caches import cached_property
from ..encodings.encoding import Encoding
from ..encodings.tokenizer import Tokenizer
from ..formats.settings_beside import AS_TOKENIZER_JSON
from ..formats.tokenizer_json import PARTS, TokenizerDefinition
from ..formats.tokenizer_writing import (
    BERT_PRE_TOKENIZER,
    bert_normalizer_part,
    byte_level_part,
    sentence_part,
    template_part,
    text_item,
    token_item,
)
from ..pipeline.added_tokens import AddedToken
from .convergence import CONVERGENCE, Convergence
from .kind import GivenOptions, Kind, Settings
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
    setting,
)
from .words import WordCounter, word_splitter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..formats.tokenizer_models import ModelPart

#: A part: its name, or the part as in a ``tokenizer.json``; None for the usual one.
GivenPart = Union[str, Mapping[str, Any], None]

_METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}


def _frame(first: str, last: str) -> dict[str, Any]:
    one = [token_item(first), text_item("A"), token_item(last)]
    two = [*one, text_item("B", 1), token_item(last, 1)]
    return template_part(one, two, {first: 0, last: 0})


#: The named parts of each kind.
NAMED: dict[str, dict[str, dict[str, Any] | None]] = {
    "normalizer": {
        "none": None,
        "bert": bert_normalizer_part(lowercase=True),
        "bert-cased": bert_normalizer_part(lowercase=False),
        "lowercase": {"type": "Lowercase"},
        **{form.lower(): {"type": form} for form in ("NFC", "NFD", "NFKC", "NFKD")},
    },
    "pre_tokenizer": {
        "none": None,
        "bert": BERT_PRE_TOKENIZER,
        "whitespace": {"type": "Whitespace"},
        "whitespace-split": {"type": "WhitespaceSplit"},
        "byte-level": byte_level_part(),
        "metaspace": _METASPACE,
    },
    "post_processor": {
        "none": None,
        "bert": _frame("[CLS]", "[SEP]"),
        "roberta": sentence_part(
            "RobertaProcessing",
            "<s>",
            "</s>",
            {"<s>": 0, "</s>": 0},
            trim_offsets=True,
            add_prefix_space=False,
        ),
    },
    "decoder": {
        "none": None,
        "wordpiece": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "bpe": {"type": "BPEDecoder", "suffix": "</w>"},
        "byte-level": byte_level_part(),
        "metaspace": _METASPACE,
        "fuse": {"type": "Fuse"},
    },
}


def part_named(kind: str, given: GivenPart) -> Any:
    """Return a part as in a file.

    Args:
        kind: ``"normalizer"``, ``"pre_tokenizer"``, ``"post_processor"`` or ``"decoder"``.
        given: the part, or its name.

    Raises:
        ValueError: there is no part of that name.

    >>> part_named("pre_tokenizer", "whitespace"), part_named("normalizer", "none")
    ({'type': 'Whitespace'}, None)
    """
    if not isinstance(given, str):
        return given
    known = NAMED[kind]
    if given not in known:
        title = kind.replace("_", "-")
        raise ValueError(f"there is no {title} {given!r}; the names are {', '.join(known)}")
    return known[given]


def parts_around(
    given: Mapping[str, GivenPart], defaults: Mapping[str, GivenPart]
) -> dict[str, Any]:
    """Return the parts around a model, as in a file.

    Args:
        given: parts by kind; None for that of ``defaults``.
        defaults: the parts of the kind, or of the tokenizer of ``like``.

    Raises:
        ValueError: there is no part of a name.
    """
    return {
        kind: part_named(kind, given[kind] if given.get(kind) is not None else defaults.get(kind))
        for kind in PARTS
    }


def renumbered(post_processor: Any, ids: Mapping[str, int]) -> Any:
    """Return a post-processor, as in a file, with the ids of a vocabulary.

    Raises:
        ValueError: a token is not in the vocabulary.

    >>> renumbered({"type": "BertProcessing", "sep": ["S", 8], "cls": ["C", 9]}, {"C": 0, "S": 1})
    {'type': 'BertProcessing', 'sep': ['S', 1], 'cls': ['C', 0]}
    """
    if not isinstance(post_processor, Mapping):
        return post_processor

    def number(token: str) -> int:
        if token not in ids:
            raise ValueError(f"the post-processor needs {token!r}: name it as a special token")
        return ids[token]

    part = dict(post_processor)
    if "processors" in part:
        part["processors"] = [renumbered(one, ids) for one in part["processors"]]
    for role in ("sep", "cls"):
        if role in part:
            token, _ = part[role]
            part[role] = [token, number(token)]
    if "special_tokens" in part:
        part["special_tokens"] = {
            name: {**one, "ids": [number(token) for token in one["tokens"]]}
            for name, one in part["special_tokens"].items()
        }
    return part


def _part(kind: str) -> Option:
    """Return the option of the setting of a part."""
    title, names = kind.replace("_", "-"), tuple(NAMED[kind])
    text = f"The {title}: {', '.join(names)}. Default: that of --like, or the model's usual one."
    return Option(text, STEPS, metavar="NAME", choices=names)


@dataclass(frozen=True)
class TokenizerSettings(Settings[Tokenizer]):
    """The settings that all kinds of a ``tokenizer.json`` have.

    Args:
        vocab_size: the number of tokens, special tokens included.
        special_tokens: the names of special tokens, which have the lowest ids. Those of ``like``
            come before them.
        unknown: the token for unknown text; it is made a special token. Unless given, that of
            ``like`` or the usual one of the kind.
        min_frequency: the lowest frequency of a word or pair that is learned.
        weights: the weights of some groups, as in ``TrainingSettings``.
        normalizer, pre_tokenizer, decoder, post_processor: each a name of ``NAMED`` or a
            part as in a ``tokenizer.json``; unless given, that of ``like`` or the usual one.
        like: a tokenizer that is to be trained anew.
        convergence: when to stop because more tokens hardly improve held-out text.

    Raises:
        ValueError: a setting is impossible. The message names it.
        TypeError: ``special_tokens`` is a single str.
    """

    special_tokens: Iterable[str] = setting((), SPECIAL_TOKENS)
    unknown: str | None = None
    min_frequency: int = setting(0, MIN_FREQUENCY)
    weights: Mapping[str, float] | None = setting(None, WEIGHTS)
    normalizer: GivenPart = setting(None, _part("normalizer"))
    pre_tokenizer: GivenPart = setting(None, _part("pre_tokenizer"))
    post_processor: GivenPart = setting(None, _part("post_processor"))
    decoder: GivenPart = setting(None, _part("decoder"))
    like: Tokenizer | None = setting(None, LIKE)
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
    def roles(self) -> Mapping[str, str]:
        unknown = self.unknown_token
        return {} if unknown is None else {"unk": unknown}

    @cached_property
    def parts(self) -> dict[str, Any]:
        """The parts around the model, as in a file; the ids in the post-processor are not used."""
        like = self.settings.like
        given = {name: getattr(self.settings, name) for name in NAMED}
        parts = parts_around(given, self.defaults if like is None else like.definition.parts)
        if self.settings.decoder is None and self.like_model is None:
            parts["decoder"] = self.own_decoder(parts)
        return parts

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
        """The token for unknown text; None if there is none."""
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
        del described["special_tokens"]  # a manifest has them beside the settings
        return {"model": self.name, **described, **self.parts}

    def splitter(self) -> Tokenizer:
        return word_splitter(self.parts)

    def word_counter(self, workers: int | None, *, is_held_out: bool = False) -> WordCounter:
        parts = self.parts
        # A fault of the post-processor is raised before the corpus is read.
        renumbered(parts["post_processor"], dict.fromkeys(self.all_special_tokens, 0))
        weights = None if is_held_out else self.weights
        return WordCounter.of_parts(parts, weights=weights, workers=workers)

    def encoding(self, model: ModelPart, name: str) -> Tokenizer:
        ids = model.vocabulary
        kept = {token.content: token for token in self.kept_tokens}
        special = [
            kept.get(token, AddedToken(token, 0, special=True))._replace(id=ids[token])
            for token in self.all_special_tokens
        ]
        parts = {**self.parts, "post_processor": renumbered(self.parts["post_processor"], ids)}
        definition = TokenizerDefinition(model, tuple(special), parts, name)
        like = self.settings.like
        if like is not None:
            padding = like.definition.padding
            if padding is not None:
                padding = padding._replace(pad_id=ids.get(padding.pad_token, 0))
            truncation = like.definition.truncation
            definition = definition._replace(truncation=truncation, padding=padding)
        return Tokenizer(name, definition)

    @classmethod
    def from_options(cls, options: GivenOptions) -> Settings[Encoding]:
        unknown = options.roles.get("unk")
        special = options.special_with_roles(unknown)
        return cls.makes(**options.values, special_tokens=special, unknown=unknown)


def check_like(encoding: object) -> TokenizerDefinition:
    """Return the definition of an encoding that a ``tokenizer.json`` describes.

    Raises:
        ValueError: there is no ``tokenizer.json`` that describes them.
    """
    definition = encoding.definition if isinstance(encoding, Tokenizer) else None
    if not isinstance(definition, TokenizerDefinition):
        raise ValueError(f"a tokenizer.json cannot describe {encoding!r}")
    return definition


def given_or(given: Any, model: Any, name: str, usual: Any) -> Any:
    """Return the setting that is given; else that of the model of ``like``; else the usual one."""
    if given is not None:
        return given
    return usual if model is None else getattr(model, name)
