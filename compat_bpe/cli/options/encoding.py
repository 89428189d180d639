"""The options that choose the encoding of a command, and the type of a number of its tokens."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any, Callable, TypeVar

import click
from click.shell_completion import CompletionItem

from ... import Encoding, encoding_name_for_model, get_encoding, list_encoding_names, load
from ...encodings.local_stores import stored_encoding
from ...encodings.model_names import did_you_mean, model_names, repository_hint, resolve_model
from ...encodings.openai import PUBLISHED
from ...encodings.patterns import PATTERNS
from ...encodings.recognise import STORES
from ...encodings.registry import BASELINES
from ..output import PROGRAM, CommandError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...encodings.estimates import Factor

DEFAULT_ENCODING = "o200k_base"

#: The families of models whose patterns have names.
_FAMILIES = [name for name in PATTERNS if name not in PUBLISHED]

#: The error of --pattern beside an encoding that has a pattern of its own.
_PATTERN_WITHOUT_FILE = (
    "--pattern is for a vocabulary file that does not say its pattern (a rank file, vocab.json "
    "with merges.txt, a GGUF file that has none); --encoding gives its path."
)

_Function = TypeVar("_Function", bound=Callable[..., Any])


class TokenNumber(click.IntRange):
    """A number of tokens, also in thousands or millions: ``128k`` is 128,000, ``1.5M`` 1,500,000.

    >>> TokenNumber().convert("1.5k", None, None)
    1500
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        short = None
        if isinstance(value, str):
            short = re.fullmatch(r"([0-9]{1,12})(?:\.([0-9]{1,3}))?([kKmM])", value)
        if short is not None:
            thousandths = int(short[1] + (short[2] or "").ljust(3, "0"))
            value = thousandths * (1 if short[3] in "kK" else 1_000)
        try:
            value = int(value)
        except ValueError:
            self.fail(f"{value!r} is not a number of tokens, such as 8000, 128k or 1M.", param, ctx)
        number: int = super().convert(value, param, ctx)
        return number


def limit_option(
    purpose: str, *, least: int = 0, required: bool = False
) -> Callable[[_Function], _Function]:
    """Return the option ``limit``, a number of tokens, which has the same names in each command."""
    return click.option(
        *("-n", "--max", "--limit"),
        "limit",
        metavar="N",
        type=TokenNumber(min=least),
        required=required,
        help=f"{purpose}; 128k is 128,000.",
    )


def encoding_options(function: _Function, *, several: bool = False) -> _Function:
    """Give a command ``-e``, ``-m`` and ``--pattern``, for ``chosen_encoding``.

    With ``several``, the first two may be repeated, for ``chosen_encodings``.
    """
    repeated = " May be repeated." if several else ""
    pattern = click.option(
        "--pattern",
        metavar="NAME",
        help="Split text with this pattern, for a vocabulary that does not say it: a rank file "
        "(.tiktoken, .model), vocab.json with merges.txt, or a GGUF file that has none. "
        f"NAME is {', '.join(_FAMILIES)}, or the name of an OpenAI encoding.",
        shell_complete=lambda _ctx, _param, start: _beginning(start, list(PATTERNS)),
    )
    model = click.option(
        "-m",
        "--model",
        metavar="NAME",
        multiple=several,
        help="Use the encoding of this model, for instance gpt-4o, azure/eu/gpt-4o or "
        "deepseek-chat; or that of a model in Hugging Face's cache, OWNER/NAME." + repeated,
        shell_complete=lambda _ctx, _param, start: _beginning(start, model_names()),
    )
    encoding = click.option(
        "-e",
        "--encoding",
        metavar="NAME|PATH",
        multiple=several,
        help="Use this encoding: a name, or the path of a vocabulary (tokenizer.json of any model, "
        "SentencePiece's .model, vocab.txt, vocab.json with merges.txt, NAME.tiktoken, "
        "tekken.json, NAME.gguf, or a folder with one of them), or a model on this machine: "
        "hf:OWNER/NAME, ollama:NAME:TAG or lmstudio:OWNER/NAME. "
        f"The default is {DEFAULT_ENCODING}.{repeated}",
        shell_complete=_complete_encoding,
    )
    return encoding(model(pattern(function)))


def chosen_encoding(model: str | None, encoding: str | None, pattern: str | None) -> Encoding:
    """Return the encoding that the options name.

    The name of a shipped encoding is never taken for a path; ``./NAME`` is one.

    Raises:
        click.UsageError: two options exclude each other.
        CommandError: the model or encoding is unknown, or a file is damaged or cannot be read.
    """
    check_one_is_chosen(model, encoding)
    if model is not None:
        encoding = stored_encoding(model)
        model = model if encoding is None else None
    from_file = encoding is not None and is_path(encoding)
    if pattern is not None and not from_file:
        raise click.UsageError(_PATTERN_WITHOUT_FILE)
    if encoding is not None and from_file:
        try:
            return load(encoding, pattern=pattern)
        except OSError as error:
            raise CommandError(f"{encoding}: {error.strerror or error}") from error
        except ValueError as error:
            raise CommandError(str(error)) from error
    name = DEFAULT_ENCODING if encoding is None else encoding
    if model is not None:
        name = encoding_of_model(model)
    elif name not in _names():
        raise CommandError(f"unknown encoding {name!r}{_hint_for_encoding(name)}")
    try:
        return get_encoding(name)
    except (OSError, ValueError) as error:
        raise CommandError(str(error)) from error


def check_one_is_chosen(model: str | None, encoding: str | None) -> None:
    """Raise ``click.UsageError`` if both a model and an encoding are given."""
    if model is not None and encoding is not None:
        raise click.UsageError("--model and --encoding exclude each other: give one of them.")


def chosen_factor(model: str | None, encoding: str | None) -> Factor | None:
    """Return the factor by which tokens are estimated; None if the options name an encoding.

    Raises:
        CommandError: the model has no public tokenizer, and no factor is known.
    """
    if model is None or encoding is not None or stored_encoding(model) is not None:
        return None
    from ...encodings.estimates import factor_for_model  # only estimates need it

    try:
        return factor_for_model(model)
    except KeyError as error:
        raise CommandError(str(error.args[0])) from None


def encoding_of_model(model: str) -> str:
    """Return the name of the encoding that a model uses.

    Raises:
        CommandError: the model is unknown, or its encoding does not ship; the message says what
            to try.
    """
    resolved = resolve_model(model)
    if isinstance(resolved, str):
        return resolved
    if model in _names():
        hint = f": that is an encoding: -e {model}"
    elif os.path.exists(model) or model.startswith(STORES):
        hint = f": that is a file or folder: -e {model}"
    elif resolved is not None:
        raise CommandError(resolved.why(model))
    else:
        hint = f"{did_you_mean(model, model_names())}; {PROGRAM} models lists them"
        hint += repository_hint(model, "-e")
    raise CommandError(f"unknown model {model!r}{hint}")


def _hint_for_encoding(name: str) -> str:
    """Return a hint for a name that is neither an encoding nor a file."""
    try:
        encoding_name_for_model(name)
    except KeyError:
        known = _names()
        close = did_you_mean(name, known)
        names = "" if close else f"; the encodings are {', '.join(known)}"
        return f"{close}, and no such file{names}"
    return f": that is a model: -m {name}"


def chosen_encodings(
    models: Sequence[str], encodings: Sequence[str], pattern: str | None
) -> dict[str, Encoding]:
    """Return the encodings that repeated options name, by the value of ``-e`` or by name.

    Raises:
        click.UsageError, CommandError: as in ``chosen_encoding``; ``pattern`` is for all files.
    """
    if pattern is not None and not any(map(is_path, encodings)):
        raise click.UsageError(_PATTERN_WITHOUT_FILE)
    chosen_by_name: dict[str, Encoding] = {}
    for encoding in encodings:
        if encoding not in chosen_by_name:
            from_file = is_path(encoding)
            chosen_by_name[encoding] = chosen_encoding(
                None, encoding, pattern if from_file else None
            )
    for model in models:
        chosen = chosen_encoding(model, None, None)
        chosen_by_name.setdefault(chosen.name, chosen)
    return chosen_by_name or {DEFAULT_ENCODING: chosen_encoding(None, None, None)}


def _names() -> list[str]:
    return [*list_encoding_names(), *BASELINES]


def is_path(encoding: str) -> bool:
    """Return True if the value of ``-e`` is a path, and not the name of a shipped encoding.

    The names that stand for files of other programs, such as ``hf:OWNER/NAME``, count as paths.
    """
    if encoding in _names():
        return False
    if encoding.startswith(STORES):
        return True
    return os.path.exists(encoding) or os.path.basename(encoding) != encoding


def _complete_encoding(
    context: click.Context, parameter: click.Parameter, start: str
) -> list[CompletionItem]:
    names = _beginning(start, _names())
    if names:
        return list(map(CompletionItem, names))
    return click.Path().shell_complete(context, parameter, start)


def _beginning(start: str, names: list[str]) -> list[str]:
    return [name for name in names if name.startswith(start)]
