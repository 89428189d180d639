"""The options of ``compat-bpe train`` that are settings of training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from functools import wraps
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from ...encodings.load import load
from ...train.bpe.byte_level import TrainingSettings
from ...train.bpe.characters import CharacterBpeSettings
from ...train.kinds import KINDS, AnyTrained, kind_of
from ...train.trainer import KindSettings, LikeError, Options
from ..input import INPUT_PATH
from ..output import CommandError, failure, plural
from .going_on import GOING_ON_OPTIONS, vocabulary_to_go_on_from
from .groups import declared
from .kinds import (
    MERGING_OPTIONS,
    SENTENCEPIECE_OPTIONS,
    STEP_OPTIONS,
    UNIGRAM_OPTIONS,
    role_options,
)
from .sizes import CONVERGENCE_OPTIONS, SIZE_OPTIONS, WHY_NO_CONVERGENCE, convergence
from .vocabulary import learning_options, why_stopped
from .weights import weight_option


class Training(NamedTuple):
    """A training that the options describe.

    Args:
        kind: the name of the kind.
        settings: its settings.
        roles: the special tokens that have a role, by role.
        like: the path of a tokenizer to be trained anew; None if there is none.
        start: the path of a vocabulary to go on from; None if there is none.
    """

    kind: str
    settings: KindSettings
    roles: Mapping[str, str]
    like: str | None
    start: str | None

    def note(self, trained: AnyTrained) -> str:
        """Return what the user should know of the result; "" if there is nothing."""
        notes = [self._why_not_as_large(trained)]
        if trained.skipped:
            longest = self.described()["max_sentence_length"]
            notes.append(
                f"{plural(trained.skipped, 'line')} of more than {longest:,} bytes left out; "
                "--max-sentence-length takes longer ones"
            )
        if self.settings.leaves_bytes_out:
            notes.append(
                "the 256 tokens of bytes of --like are left out, as in transformers, so some "
                "characters are unknown; --byte-fallback keeps them"
            )
        return "; ".join(filter(None, notes))

    def _why_not_as_large(self, trained: AnyTrained) -> str:
        """Return the reason why a vocabulary is not of the size asked for; "" if it is."""
        settings, size = self.settings, trained.encoding.n_vocab
        wanted = settings.vocab_size
        if trained.stopped == "convergence" and not settings.learns_merges:
            not_wanted = "" if wanted is None else f", not {wanted:,}"
            return f"{size:,} tokens{not_wanted}: {self._why_stopped(trained.stopped)}"
        if wanted is not None and size > wanted:
            return f"{size:,} tokens, not {wanted:,}: special tokens and characters are as many"
        if trained.stopped == "size" or size == wanted:
            return ""
        if not settings.learns_merges:
            return "" if wanted is None else f"{size:,} tokens, not {wanted:,}: there are no more"
        why = self._why_stopped(trained.stopped)
        if settings.steps == "tokens":
            return f"{size:,} tokens, not {wanted:,}: {why}"
        merges, most = plural(len(trained.merges), "merge"), settings.most_steps
        return f"{merges}: {why}" if most is None else f"{merges}, not {most:,}: {why}"

    def _why_stopped(self, stopped: str) -> str:
        settings, stop = self.settings, self.settings.stops_by
        if stopped == "score":
            return f"no pair has a score of {settings.min_score:g} or more"
        if stopped != "convergence" or stop is None:
            return why_stopped(settings.min_frequency)
        if settings.checks(self.kind) == "rounds":
            rounds = "the next round" if stop.patience == 1 else f"each of {stop.patience} rounds"
            cost = (
                f"cost {100 * stop.min_improvement:g}% or more" if stop.min_improvement else "cost"
            )
            return f"{rounds} of pruning {cost} of bytes per token"
        checks = plural(stop.patience or 0, "check")
        if not stop.min_improvement:
            return f"bytes per token did not improve in {checks}"
        return f"bytes per token improved by less than {100 * stop.min_improvement:g}% in {checks}"

    def described(self) -> dict[str, Any]:
        """Return the settings for the manifest; pattern and special tokens stand beside them."""
        paths = {"like": self.like, "start": self.start}
        described = self.settings.described()
        return {name: paths.get(name, value) for name, value in described.items()}


def training_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the parameter ``training``, a ``Training``.

    The tokens of roles are special tokens, after those named by ``--special``.
    """

    @wraps(function)
    def with_settings(model: str, like: str | None, roles: dict[str, str], **options: Any) -> Any:
        own = {name: options.pop(name) for name in _OPTION_OF}
        own["like"], start = _read(like), own["start"]
        is_given = _are_given([*own, "model"])
        own["start"] = vocabulary_to_go_on_from(start, own["pattern"], is_given["pattern"])
        own["convergence"] = convergence(is_given, own)
        name = _kind(model, own["like"], is_given["model"])
        kind = KINDS[name]
        taken = _taken(name)
        for option, is_one in is_given.items():
            if is_one and option not in taken | {"model"}:
                raise click.UsageError(_misfit(option, name))
        if kind.ends and all(own[end] is None for end in kind.ends):
            *first, last = (_END_OPTIONS.get(end, _OPTION_OF.get(end, end)) for end in kind.ends)
            raise click.UsageError(f"Give {', '.join(first)}{' or ' if first else ''}{last}.")
        fit = kind.option_names(name) - {"special_tokens"}
        values = {option: value for option, value in own.items() if option in fit}
        given = {option for option, is_one in is_given.items() if is_one and option in fit}
        try:
            settings = kind.from_options(
                name, Options(values, given - {"like"}, own["special_tokens"], roles)
            )
        except LikeError as error:
            raise CommandError(f"--like: {like} {error}") from None
        except ValueError as error:
            raise CommandError(str(error)) from None
        named = {**settings.kept_roles(roles), **settings.roles}
        return function(training=Training(name, settings, named, like, start), **options)

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
        return CharacterBpeSettings.kind if model == TrainingSettings.kind else model
    try:
        return kind_of(like)
    except ValueError as error:
        raise CommandError(f"--like: {error}") from None


def _taken(kind: str) -> Set[str]:
    """Return the options that a kind has."""
    names = KINDS[kind].option_names(kind)
    checks = KINDS[kind].checks(kind)
    if "convergence" not in names or checks == "never":
        return names
    return names | (_CONVERGENCE - {"check_every"} if checks == "rounds" else _CONVERGENCE)


def _misfit(option: str, kind: str) -> str:
    """Return the message for an option that a kind does not have."""
    fit = [other for other in KINDS if option in _taken(other)]
    why = ""
    if option in _CONVERGENCE:
        why = f" {WHY_NO_CONVERGENCE[KINDS[kind].checks(kind)]}"
    written = _OPTION_OF.get(option, f"--{option}")
    return f"{written} is not for --model {kind}, only for {', '.join(fit)}.{why}"


#: The options of all kinds but for ``--model``, ``--like`` and those of roles.
_FIELDS: tuple[Callable[[Any], Any], ...] = (
    *SIZE_OPTIONS,
    *CONVERGENCE_OPTIONS,
    learning_options(min_frequency=1),
    *MERGING_OPTIONS,
    *GOING_ON_OPTIONS,
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

#: The options that are the setting ``convergence``, as a message names them.
_END_OPTIONS = {"convergence": "--patience"}

#: The names of those that are the field ``convergence`` together.
_CONVERGENCE = {str(option.name) for option in declared(CONVERGENCE_OPTIONS)}

_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--model",
        type=click.Choice(list(KINDS)),
        metavar="MODEL",
        default=TrainingSettings.kind,
        show_default=True,
        help=f"Kind of model: {', '.join(KINDS)}.",
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
