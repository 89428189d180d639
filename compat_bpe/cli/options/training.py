"""The options of ``compat-bpe train`` that are settings of training."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, fields
from functools import wraps
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from ...encodings.load import load
from ...encodings.sentencepiece import SentencePiece
from ...formats.manifest import AS_TOKENIZER_JSON
from ...train.bpe.characters import CharacterBpeSettings
from ...train.bpe.settings import MergeSettings
from ...train.kinds import KINDS, kind_of
from ...train.settings import TrainingSettings
from ...train.tokenizer_trainer import TokenizerSettings, TokenizerTrainer
from ...train.trainer import Trained, Trainer
from ...train.unigram.settings import UnigramSettings
from ...train.write import FORMATS
from ..input_path import INPUT_PATH
from ..output import CommandError, failure, plural
from .groups import declared
from .merging import MERGING_OPTIONS
from .role import role_options
from .sentencepiece import (
    SENTENCEPIECE_KINDS,
    SENTENCEPIECE_OPTIONS,
    kind_of_sentencepiece,
    sentencepiece_training,
)
from .sizes import CONVERGENCE_OPTIONS, SIZE_OPTIONS, WHY_NO_CONVERGENCE, convergence
from .steps import STEP_OPTIONS
from .unigram import UNIGRAM_OPTIONS
from .vocabulary import learning_options, why_stopped
from .weights import weight_option

#: The name of byte-level BPE.
BPE = "bpe"

#: The names of all kinds.
_MODELS = (BPE, *KINDS, *SENTENCEPIECE_KINDS)

#: The formats of kinds that only ``tokenizer.json`` can hold.
_JSON_FORMATS = ("tokenizer-json", "token-map")


class Training(NamedTuple):
    """A training that the options describe.

    Args:
        settings: the settings.
        roles: the special tokens that have a role, by role.
        like: the path of a tokenizer to be trained anew; None if there is none.
    """

    settings: TrainingSettings | TokenizerSettings
    roles: dict[str, str]
    like: str | None

    @property
    def needs_held_out(self) -> bool:
        """True if the trainer takes held-out text."""
        if isinstance(self.settings, TrainingSettings):
            return self.settings.convergence is not None
        return self.settings.stops_by is not None

    @property
    def pattern(self) -> str:
        """The pattern, for the manifest."""
        settings = self.settings
        return settings.pattern if isinstance(settings, TrainingSettings) else AS_TOKENIZER_JSON

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that are written unless others are named."""
        return tuple(FORMATS) if isinstance(self.settings, TrainingSettings) else _JSON_FORMATS

    @property
    def most_steps(self) -> int | None:
        """The number of steps, unless nothing is left to learn; None if unknown."""
        settings = self.settings
        if isinstance(settings, TrainingSettings):
            has_end = settings.vocab_size is not None or settings.num_merges is not None
            return settings.most_merges if has_end else None
        return settings.most_steps

    @property
    def steps(self) -> str:
        """The name of steps."""
        settings = self.settings
        if self.most_steps is None:
            return "steps"
        has_size = isinstance(settings, TokenizerSettings) and settings.vocab_size is not None
        return "tokens" if has_size else "merges"

    def note(self, trained: Trained) -> str:
        """Return what the user should know of the result; "" if there is nothing."""
        notes = [self._why_not_as_large(trained)]
        if isinstance(self.settings, CharacterBpeSettings) and self.settings.leaves_bytes_out:
            notes.append(
                "the 256 tokens of bytes of --like are left out, as in transformers, so some "
                "characters are unknown; --byte-fallback keeps them"
            )
        return "; ".join(filter(None, notes))

    def _why_not_as_large(self, trained: Trained) -> str:
        """Return the reason why a vocabulary is not of the size asked for; "" if it is."""
        settings, size = self.settings, trained.encoding.n_vocab
        wanted = settings.vocab_size
        if wanted is not None and size > wanted:
            return f"{size:,} tokens, not {wanted:,}: special tokens and characters are as many"
        if trained.stopped == "size":
            return ""
        if not isinstance(settings, (TrainingSettings, MergeSettings)):
            return "" if wanted is None else f"{size:,} tokens, not {wanted:,}: there are no more"
        merges, why = plural(len(trained.merges), "merge"), why_stopped(settings.min_frequency)
        stop = settings.convergence
        if trained.stopped == "convergence" and stop is not None:
            checks = plural(stop.patience or 0, "check")
            least = f"{100 * stop.min_improvement:g}%"
            why = f"bytes per token improved by less than {least} in {checks}"
            if not stop.min_improvement:
                why = f"bytes per token did not improve in {checks}"
        elif trained.stopped == "score" and isinstance(settings, MergeSettings):
            why = f"no pair has a score of {settings.min_score:g} or more"
        if isinstance(settings, MergeSettings) and wanted is not None:
            return f"{size:,} tokens, not {wanted:,}: {why}"
        most = self.most_steps
        return f"{merges}: {why}" if most is None else f"{merges}, not {most:,}: {why}"

    def trainer(self, workers: int | None, name: str) -> Trainer | TokenizerTrainer:
        """Return the trainer.

        Raises:
            ValueError: a part or the pattern is wrong.
        """
        settings = self.settings
        if isinstance(settings, TrainingSettings):
            return Trainer(settings, workers=workers, name=name)
        return TokenizerTrainer(settings, workers=workers, name=name)

    def described(self) -> dict[str, Any]:
        """Return the settings for the manifest; pattern and special tokens stand beside them."""
        if isinstance(self.settings, TrainingSettings):
            found = asdict(self.settings)
            del found["pattern"], found["special_tokens"]
            return found
        return {**self.settings.described(), "like": self.like}


def training_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the parameter ``training``, a ``Training`` or ``SentencePieceTraining``.

    The tokens of roles are special tokens, after those named by ``--special``.
    """

    @wraps(function)
    def with_settings(model: str, like: str | None, roles: dict[str, str], **options: Any) -> Any:
        own = {name: options.pop(name) for name in _OPTION_OF}
        own["like"] = _read(like)
        is_given = _are_given([*own, "model"])
        own["convergence"] = convergence(is_given, own)
        kind = _kind(model, own["like"], is_given["model"])
        taken = _taken(kind)
        for name, is_one in is_given.items():
            if is_one and name not in taken | {"model"}:
                raise click.UsageError(_misfit(name, kind))
        if kind in SENTENCEPIECE_KINDS:
            if own["vocab_size"] is None:
                raise click.UsageError("Give --vocab-size.")
            given = {name: own[name] for name in own if is_given.get(name) and name != "like"}
            made = sentencepiece_training(kind, given, roles, own["like"], like)
            return function(training=made, **options)
        make: Any = TrainingSettings if kind == BPE else KINDS[kind]
        has_merges = kind == BPE or issubclass(make, MergeSettings)
        sizes = (own["vocab_size"], own["num_merges"], own["patience"])
        if has_merges and sizes == (None, None, None):
            raise click.UsageError("Give --vocab-size, --merges or --patience.")
        if kind == UnigramSettings.kind and own["vocab_size"] is None:
            raise click.UsageError("Give --vocab-size.")
        if kind != BPE:
            own["unknown"] = roles.get("unk")
        named = own["special_tokens"]
        others = [token for token in dict.fromkeys(roles.values()) if token not in named]
        if kind != BPE and own["unknown"] in others:
            others.remove(own["unknown"])
        own["special_tokens"] = [*named, *others]
        fit = taken - _CONVERGENCE
        try:
            settings = make(**{name: value for name, value in own.items() if name in fit})
            if kind != BPE and settings.unknown_token is not None:
                roles = {**roles, "unk": settings.unknown_token}
        except ValueError as error:
            raise CommandError(str(error)) from None
        return function(training=Training(settings, roles, like), **options)

    command = role_options(with_settings)
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def _read(path: str | None) -> Any:
    """Return the tokenizer of a path."""
    if path is None:
        return None
    try:
        return load(path)
    except (OSError, ValueError) as error:
        raise failure(error, path) from None


def _are_given(names: list[str]) -> dict[str, bool]:
    """Return for each parameter whether the user gave it a value."""
    context = click.get_current_context()
    default = (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP, None)
    return {name: context.get_parameter_source(name) not in default for name in names}


def _kind(model: str, like: Any, is_named: bool) -> str:
    """Return the kind to be trained: the named one, else that of the tokenizer to be like."""
    if like is None:
        return model
    if is_named:
        # Byte-level BPE in steps of its own is BPE over the characters that stand for bytes.
        return "character-bpe" if model == BPE else model
    try:
        return kind_of_sentencepiece(like) if isinstance(like, SentencePiece) else kind_of(like)
    except ValueError as error:
        raise CommandError(f"--like: {error}") from None


def _taken(kind: str) -> set[str]:
    """Return the fields that a kind has."""
    if kind in SENTENCEPIECE_KINDS:
        return {*SENTENCEPIECE_KINDS[kind][1], "like"}
    make: Any = TrainingSettings if kind == BPE else KINDS[kind]
    found = {field.name for field in fields(make)}
    return found | _CONVERGENCE if "convergence" in found else found


def _misfit(name: str, kind: str) -> str:
    """Return the message for an option that a kind does not have."""
    option = _OPTION_OF.get(name, f"--{name}")
    fit = [other for other in _MODELS if name in _taken(other)]
    why = f" {WHY_NO_CONVERGENCE[kind]}" if name in _CONVERGENCE else ""
    return f"{option} is not for --model {kind}, only for {', '.join(fit)}.{why}"


#: The options of all kinds but for ``--model``, ``--like`` and those of roles.
_FIELDS: tuple[Callable[[Any], Any], ...] = (
    *SIZE_OPTIONS,
    *CONVERGENCE_OPTIONS,
    learning_options(min_frequency=1),
    *MERGING_OPTIONS,
    *UNIGRAM_OPTIONS,
    *SENTENCEPIECE_OPTIONS,
    *STEP_OPTIONS,
    click.option(
        "--special",
        "special_tokens",
        metavar="NAME",
        multiple=True,
        help="Special token. May be repeated.",
    ),
    weight_option,
)

#: Their names on the command line, by the field that each gives.
_OPTION_OF = {option.name: option.opts[-1] for option in declared(_FIELDS)}

#: The names of those that are the field ``convergence`` together.
_CONVERGENCE = {str(option.name) for option in declared(CONVERGENCE_OPTIONS)}

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--model",
        type=click.Choice(_MODELS),
        metavar="MODEL",
        default=BPE,
        show_default=True,
        help=f"Kind of model: {', '.join(_MODELS)}.",
    ),
    click.option(
        "--like",
        metavar="PATH",
        type=INPUT_PATH,
        help="Train this tokenizer anew: the same model, steps and special tokens, other tokens, "
        "as train_new_from_iterator of transformers.",
    ),
    *_FIELDS,
)
