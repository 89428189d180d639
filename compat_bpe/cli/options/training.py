"""The options of commands that make a vocabulary: settings of training, and where it is written.

The options of settings are made from the metadata of their fields: see ``train.options``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Callable, NamedTuple

import click
from click.core import ParameterSource

from ...encodings.encoding import Encoding
from ...encodings.load import load
from ...train.bpe.byte_level import ByteLevelBpe
from ...train.kind import Kind, LikeError
from ...train.kinds import KINDS, PARAMETERS, OptionError, settings_of
from ...train.options import Parameter, weights_of
from ...train.trainer import AnyTrained
from ...train.write import FORMATS, ROLES, check_folder, check_name, touched_files
from ..app import JOBS, gathered, option, together
from ..input import INPUT_PATH
from ..output import CommandError, check_outputs, command_errors, plural, write_message
from .corpus import Corpus
from .encoding import TokenNumber, chosen_encoding


class Training(NamedTuple):
    """A training that the options describe.

    Args:
        kind: the kind, with its settings.
        roles: the special tokens that have a role, by role.
        like: the path of a tokenizer to be trained anew; None if there is none.
        start: the path of a vocabulary to go on from; None if there is none.
    """

    kind: Kind
    roles: Mapping[str, str]
    like: str | None
    start: str | None

    def note(self, trained: AnyTrained) -> str:
        """Return notes for the user about the result; "" if there are none."""
        notes = [self._why_not_as_large(trained)]
        if trained.skipped:
            longest = self.described()["max_sentence_length"]
            notes.append(
                f"{plural(trained.skipped, 'line')} of more than {longest:,} bytes left out; "
                "--max-sentence-length keeps longer ones"
            )
        if self.kind.leaves_bytes_out:
            notes.append(
                "the 256 byte tokens of --like are left out, as in transformers, and some "
                "characters are unknown; --byte-fallback keeps these tokens"
            )
        return "; ".join(filter(None, notes))

    def _why_not_as_large(self, trained: AnyTrained) -> str:
        """Return the reason why a vocabulary is not of the size asked for; "" if it is."""
        kind, size = self.kind, trained.encoding.n_vocab
        wanted = kind.settings.vocab_size
        if trained.stopped == "convergence" and not kind.learns_merges:
            not_wanted = "" if wanted is None else f", not {wanted:,}"
            return f"{size:,} tokens{not_wanted}: {self._why_stopped(trained.stopped)}"
        if wanted is not None and size > wanted:
            alone = "the special tokens and characters alone are that many"
            return f"{size:,} tokens, not {wanted:,}: {alone}"
        if trained.stopped == "size" or size == wanted:
            return ""
        if not kind.learns_merges:
            return "" if wanted is None else f"{size:,} tokens, not {wanted:,}: there are no more"
        why = self._why_stopped(trained.stopped)
        if kind.steps == "tokens":
            return f"{size:,} tokens, not {wanted:,}: {why}"
        merges, most = plural(len(trained.merges), "merge"), kind.most_steps
        return f"{merges}: {why}" if most is None else f"{merges}, not {most:,}: {why}"

    def _why_stopped(self, stopped: str) -> str:
        stop = self.kind.convergence
        if stopped == "score":
            return f"no pair has a score of {self.described()['min_score']:g} or more"
        if stopped != "convergence" or stop is None:
            return why_stopped(self.described()["min_frequency"])
        if self.kind.checks == "rounds":
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
        """Return the settings for the manifest, which has pattern and special tokens elsewhere."""
        paths = {"like": self.like, "start": self.start}
        return {name: paths.get(name, value) for name, value in self.kind.described().items()}


def setting_option(name: str, **others: Any) -> Callable[[Any], Any]:
    """Return click's option of a setting.

    Args:
        name: its name in ``PARAMETERS``.
        others: arguments for click that take the place of those made from the setting's field.
    """
    parameter = PARAMETERS[name]
    option = parameter.option
    own: dict[str, Any] = {
        "help": option.help,
        "metavar": option.metavar or None,
        "default": None if option.is_many else parameter.default,
        "multiple": option.is_many,
        "show_default": bool(parameter.default) and not option.is_many,
    }
    if option.type is bool:
        own["is_flag"] = True
    elif option.type is dict:
        own["callback"] = _weights
    elif option.type is open:
        own["type"] = INPUT_PATH
    elif option.choices:
        own["type"] = click.Choice(list(option.choices))
    elif option.type is not str:
        own["type"] = _range(parameter)
    return click.option(*parameter.flags, name, **{**own, **others})


def flags_of(group: str) -> list[str]:
    """Return the options of settings in a group, for the sections of a command's help."""
    return [one.flag for one in PARAMETERS.values() if one.option.group == group]


def _range(parameter: Parameter) -> click.IntRange | click.FloatRange:
    option = parameter.option
    if option.type is int:
        least, most = (None if one is None else int(one) for one in (option.least, option.most))
        # The size of a vocabulary is a number of tokens: 32k.
        of_tokens = "-n" in option.flags
        return TokenNumber(least, most) if of_tokens else click.IntRange(least, most)
    return click.FloatRange(option.least, option.most, max_open=option.is_below)


def _weights(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, float]:
    try:
        return weights_of(values)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _read(path: str | None) -> Any:
    """Return the tokenizer of a path."""
    if path is None:
        return None
    with command_errors(path):
        return load(path)


def _vocabulary_to_go_on_from(named: str | None, pattern: str | None) -> Encoding | None:
    """Return the vocabulary of ``--from``; None if there is none.

    Args:
        named: its name or path.
        pattern: the pattern that the user gave, if any. A rank file has no pattern of its own.

    Raises:
        CommandError: it cannot be read.
    """
    if named is None:
        return None
    try:
        return chosen_encoding(None, named, None)
    except CommandError:
        if pattern is None:
            raise
        return chosen_encoding(None, named, pattern)


def _named(names: Iterable[str]) -> set[str]:
    """Return the parameters to which the user gave a value."""
    context = click.get_current_context()
    default = (ParameterSource.DEFAULT, ParameterSource.DEFAULT_MAP, None)
    return {name for name in names if context.get_parameter_source(name) not in default}


def _training(model: str, **options: Any) -> Training:
    """Return the training that options describe.

    The tokens of roles are special tokens, after those named by ``--special``.
    """
    values = {name: options[name] for name in PARAMETERS}
    roles = {role: name for role in ROLES if (name := options[role]) is not None}
    named = _named([*PARAMETERS, "model"])
    like, start = values["like"], values["start"]
    values["like"] = _read(like)
    values["start"] = _vocabulary_to_go_on_from(start, values["pattern"])
    try:
        settings = settings_of(
            model if "model" in named else None, values, named - {"model"}, roles
        )
    except OptionError as error:
        raise click.UsageError(str(error)) from None
    except LikeError as error:
        raise CommandError(f"--like: {like} {error}") from None
    except ValueError as error:
        raise CommandError(str(error)) from None
    kind = settings.kind
    return Training(kind, {**kind.kept_roles(roles), **kind.roles}, like, start)


_USES = ("the beginning of a text", "the end of a text", "unknown text", "padding")

#: The options of a training, as the parameter ``training``.
training_options = gathered(
    "training",
    _training,
    option(
        "--model MODEL",
        f"Kind of model: {', '.join(KINDS)}.",
        type=click.Choice(list(KINDS)),
        default=ByteLevelBpe.name,
    ),
    *map(setting_option, PARAMETERS),
    *(option(f"--{role} NAME", f"Special token for {use}.") for role, use in zip(ROLES, _USES)),
)


def vocabulary_options(
    without_format: str, choices: Iterable[str] = FORMATS
) -> Callable[[Any], Any]:
    """Give a command ``output``, ``name``, ``formats``, ``force``, ``jobs`` and ``as_json``.

    Args:
        without_format: the formats that are written by default, for the help.
        choices: the available formats.
    """
    return together(
        option(
            "-o --output DIR",
            "Write the vocabulary into DIR, which is created.",
            required=True,
            type=click.Path(path_type=Path),
        ),
        option("--name TEXT", "Name the vocabulary. Default: the name of DIR."),
        option(
            "--format FORMAT",
            f"Format to write. May be repeated. Default: {without_format}.",
            to="formats",
            multiple=True,
            type=click.Choice(list(choices)),
        ),
        option(
            "--force",
            "Write into DIR even if it is not empty, and overwrite files of the same names.",
        ),
        JOBS,
        option("--json", "Print the manifest instead of a summary.", to="as_json"),
    )


#: The options that ``vocabulary_options`` gives, except the required one.
OUTPUT_OPTIONS = ("--name", "--format", "--force", "--json")


def checked_name(output: Path, name: str | None, *, force: bool) -> str:
    """Return the name of a vocabulary.

    Raises:
        CommandError: the vocabulary cannot be written into that folder or under that name.
    """
    name = output.resolve().name if name is None else name
    with command_errors(output):
        check_folder(output, force=force)
        check_name(name)
    return name


def check_inputs(
    output: Path,
    name: str,
    formats: Iterable[str],
    extra: Sequence[str],
    corpus: Corpus | None,
    others: Iterable[str | None],
) -> None:
    """Raise an error if a file to be overwritten or removed is also an input.

    Args:
        output, name, formats, extra: as in ``touched_files``.
        corpus: the corpus, if there is one.
        others: the paths of other inputs; None for one that is not given.

    Raises:
        CommandError: an input would be lost.
    """
    outputs = map(os.fspath, touched_files(output, name, formats, extra))
    inputs = [file.path for file in corpus.files] if corpus is not None else []
    check_outputs(outputs, [*inputs, *filter(None, others)])


def say_left_out(kind: str, reason: str) -> None:
    """Write a message about a format that cannot hold a vocabulary."""
    write_message(f"{kind} is not written: {reason}")


def why_stopped(min_frequency: int) -> str:
    """Return the reason why no more was learned.

    >>> why_stopped(0), why_stopped(2)
    ('no pair is left to merge', 'no pair that may be merged occurs 2 times or more')
    """
    if min_frequency < 2:
        return "no pair is left to merge"
    return f"no pair that may be merged occurs {min_frequency:,} times or more"
