"""The options that choose the encoding of a command and special tokens, and limits in tokens."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, TypeVar

import click

from ... import Encoding
from ...encodings.model_names import model_names
from ...encodings.published import PATTERNS, PUBLISHED, all_encoding_names
from ...encodings.registry import encoding_of
from ...encodings.resolve import DEFAULT_ENCODING, Answer, Terms, UnresolvedError, is_path, resolve
from ...unicode.text import did_you_mean, short_number
from ..app import gathered, option, together
from ..output import PROGRAM, CommandError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ...encodings.estimates import Estimate

#: The advice in errors for users of the command.
TERMS = Terms(
    "use -m {}",
    "use -e {}",
    "use -e {}",
    f"{PROGRAM} count --estimate",
    f"{PROGRAM} models lists them",
)

#: The families of models whose patterns have names.
_FAMILIES = [name for name in PATTERNS if name not in PUBLISHED]

#: The error of --pattern beside an encoding that has a pattern of its own.
_PATTERN_WITHOUT_FILE = (
    "--pattern is for a vocabulary file without a pattern of its own (a rank file, vocab.json "
    "with merges.txt, some GGUF files); --encoding gives its path."
)

_Function = TypeVar("_Function", bound=Callable[..., Any])


class TokenNumber(click.IntRange):
    """A number of tokens, also in thousands or millions: ``128k`` is 128,000, ``1.5M`` 1,500,000.

    >>> TokenNumber().convert("1.5k", None, None)
    1500
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        short = short_number(value) if isinstance(value, str) else None
        try:
            value = int(value) if short is None else short
        except ValueError:
            self.fail(f"{value!r} is not a number of tokens, such as 8000, 128k or 1M.", param, ctx)
        number: int = super().convert(value, param, ctx)
        return number


def limit_option(
    purpose: str, *, least: int = 0, required: bool = False
) -> Callable[[_Function], _Function]:
    """Return the option ``limit``, a number of tokens, which has the same names in each command."""
    return option(
        "-n --max --limit N",
        f"{purpose}; 128k is 128,000.",
        to="limit",
        type=TokenNumber(min=least),
        required=required,
    )


def _complete_encoding(
    context: click.Context, parameter: click.Parameter, start: str
) -> list[CompletionItem]:
    names = _beginning(start, all_encoding_names())
    if names:
        from click.shell_completion import CompletionItem  # only a shell that completes needs it

        return list(map(CompletionItem, names))
    return click.Path().shell_complete(context, parameter, start)


def complete_model(_context: click.Context, _parameter: click.Parameter, start: str) -> list[str]:
    """Return the models whose names begin so."""
    return _beginning(start, model_names())


def _beginning(start: str, names: list[str]) -> list[str]:
    return [name for name in names if name.startswith(start)]


def encoding_options(function: _Function, *, several: bool = False) -> _Function:
    """Give a command ``-e``, ``-m`` and ``--pattern``.

    With ``several``, the first two may be repeated, for ``chosen_encodings``.
    """
    repeated = " May be repeated." if several else ""
    return together(
        option(
            "-e --encoding NAME|PATH",
            "Use this encoding, by its name or by the path of a vocabulary. The path is that of a "
            "tokenizer.json of any model, SentencePiece's .model, vocab.txt, vocab.json with "
            "merges.txt, NAME.tiktoken, tekken.json, NAME.gguf, or a folder with one of them. A "
            "model on this machine is hf:OWNER/NAME, ollama:NAME:TAG or lmstudio:OWNER/NAME. "
            f"The default is {DEFAULT_ENCODING}.{repeated}",
            multiple=several,
            shell_complete=_complete_encoding,
        ),
        option(
            "-m --model NAME",
            "Use the encoding of this model, such as gpt-4o, azure/eu/gpt-4o or deepseek-chat. "
            f"OWNER/NAME may also be a model in Hugging Face's cache.{repeated}",
            multiple=several,
            shell_complete=complete_model,
        ),
        option(
            "--pattern NAME",
            "Split text with this pattern, for a vocabulary file that has none: a rank file "
            "(.tiktoken, .model), vocab.json with merges.txt, or some GGUF files. "
            f"NAME is {', '.join(_FAMILIES)}, or the name of an OpenAI encoding.",
            shell_complete=lambda _ctx, _param, start: _beginning(start, list(PATTERNS)),
        ),
    )(function)


#: The option of commands that can go by an estimate.
ESTIMATE = option(
    "--estimate",
    "Estimate the tokens of a model without a public tokenizer, from the characters per token that "
    "its maker publishes.",
)


def chosen_answer(
    model: str | None, encoding: str | None, *, estimate: bool | None = None
) -> Answer:
    """Return the answer to the options: the encoding or the estimate that they name.

    Args:
        model: the value of ``-m``.
        encoding: the value of ``-e``. The name of a built-in encoding is never taken for a path;
            ``./NAME`` is a path.
        estimate: True if tokens may be estimated; None if the command has no ``--estimate``.

    Raises:
        click.UsageError: both options are given.
        CommandError: no model, encoding or file has the name.
    """
    if model is not None and encoding is not None:
        raise click.UsageError("--model and --encoding exclude each other: give one of them.")
    try:
        if model is not None:
            return resolve(model, "model", estimate=bool(estimate))
        return resolve(DEFAULT_ENCODING if encoding is None else encoding)
    except UnresolvedError as error:
        terms = TERMS if estimate is None else TERMS._replace(estimate="--estimate")
        raise CommandError(error.message(terms)) from None


def loaded(answer: Answer, pattern: str | None) -> Encoding:
    """Return the encoding of an answer.

    Args:
        answer: the answer.
        pattern: the value of ``--pattern``, for a file.

    Raises:
        click.UsageError: there is a pattern, and no file.
        CommandError: a file is damaged or cannot be read.
    """
    if pattern is not None and answer.path is None:
        raise click.UsageError(_PATTERN_WITHOUT_FILE)
    try:
        return encoding_of(answer, pattern)
    except OSError as error:
        path = answer.path or error.filename
        raise CommandError(f"{path}: {error.strerror or error}" if path else str(error)) from error
    except ValueError as error:
        raise CommandError(str(error)) from error


def chosen_encoding(model: str | None, encoding: str | None, pattern: str | None) -> Encoding:
    """Return the encoding that the options name.

    Raises:
        click.UsageError: two options exclude each other.
        CommandError: the model or encoding is unknown, or a file is damaged or cannot be read.
    """
    return loaded(chosen_answer(model, encoding), pattern)


class NamedEncoding(NamedTuple):
    """The options of a command for its encoding; ``estimate`` is None if it has no such option."""

    model: str | None
    encoding: str | None
    pattern: str | None
    estimate: bool | None = None

    def answer(self) -> Answer:
        """Return the answer to the options; errors as of ``chosen_answer``."""
        return chosen_answer(self.model, self.encoding, estimate=self.estimate)

    def load(self) -> Encoding:
        """Return the encoding that the options name; errors as of ``chosen_encoding``."""
        return loaded(self.answer(), self.pattern)


#: The options for an encoding, as the parameter ``named``.
encoding_option = gathered(
    "named",
    lambda model, encoding, pattern: NamedEncoding(model, encoding, pattern),
    encoding_options,
)
#: The same, and that for an estimate.
estimate_option = gathered("named", NamedEncoding, encoding_options, ESTIMATE)


def chosen_encodings(
    models: Sequence[str], encodings: Sequence[str], pattern: str | None, *, estimate: bool
) -> tuple[dict[str, Encoding], dict[str, Estimate]]:
    """Return the encodings that repeated options name, by the value of ``-e`` or by name.

    Returns:
        The encodings; and the estimates of models without one, by the value of ``-m``.

    Raises:
        click.UsageError, CommandError: as in ``chosen_encoding``; ``pattern`` is for all files.
    """
    if pattern is not None and not any(map(is_path, encodings)):
        raise click.UsageError(_PATTERN_WITHOUT_FILE)
    chosen_by_name: dict[str, Encoding] = {}
    for encoding in dict.fromkeys(encodings):
        own_pattern = pattern if is_path(encoding) else None
        chosen_by_name[encoding] = chosen_encoding(None, encoding, own_pattern)
    estimates: dict[str, Estimate] = {}
    for model in models:
        answer = chosen_answer(model, None, estimate=estimate)
        if answer.estimate is None:
            chosen = loaded(answer, None)
            chosen_by_name.setdefault(chosen.name, chosen)
        else:
            estimates[model] = answer.estimate
    if not (chosen_by_name or estimates):
        chosen_by_name[DEFAULT_ENCODING] = chosen_encoding(None, None, None)
    return chosen_by_name, estimates


#: The options that choose the names of special tokens that are tokens, for ``allowed_special``.
special_options = together(
    option("--special", "Encode names of special tokens as these tokens, not as plain text."),
    option(
        "--allowed-special NAME",
        "Encode only this special token as such. May be repeated.",
        to="names",
        multiple=True,
    ),
)


def allowed_special(encoding: Encoding, special: bool, names: tuple[str, ...]) -> Set[str]:
    """Return the names that the options allow.

    Raises:
        CommandError: the encoding has no such special token.
    """
    known = encoding.special_tokens_set
    for name in names:
        if name not in known:
            raise CommandError(
                f"{encoding.name} has no special token {name!r}{did_you_mean(name, known)}"
            )
    return known if special else frozenset(names)
