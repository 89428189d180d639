"""The options by which a command is told its encoding."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Callable, TypeVar

import click
from click.shell_completion import CompletionItem

from ... import Encoding, encoding_name_for_model, get_encoding, list_encoding_names, load
from ...encodings.model_names import did_you_mean, model_names
from ...encodings.patterns import PATTERNS
from ..output import CommandError

DEFAULT_ENCODING = "o200k_base"

_Function = TypeVar("_Function", bound=Callable[..., Any])


def encoding_options(function: _Function, *, several: bool = False) -> _Function:
    """Give a command ``-e``, ``-m`` and ``--pattern``, for ``chosen_encoding``.

    With ``several``, the first two may be repeated, for ``chosen_encodings``.
    """
    repeated = " May be repeated." if several else ""
    pattern = click.option(
        "--pattern",
        metavar="NAME",
        help="How text is split, for a rank file that does not say it: llama3, or the name of an "
        "encoding of OpenAI's.",
        shell_complete=lambda _ctx, _param, start: _beginning(start, list(PATTERNS)),
    )
    model = click.option(
        "-m",
        "--model",
        metavar="NAME",
        multiple=several,
        help="The encoding that this model uses, for instance gpt-4o or deepseek-chat." + repeated,
        shell_complete=lambda _ctx, _param, start: _beginning(start, model_names()),
    )
    encoding = click.option(
        "-e",
        "--encoding",
        metavar="NAME|PATH",
        multiple=several,
        help="The encoding, by name or by the path of a vocabulary (tokenizer.json, NAME.tiktoken, "
        "tekken.json, vocab.json, or a folder with one of them); "
        f"{DEFAULT_ENCODING} if neither it nor a model is named.{repeated}",
        shell_complete=_complete_encoding,
    )
    return encoding(model(pattern(function)))


def chosen_encoding(model: str | None, encoding: str | None, pattern: str | None) -> Encoding:
    """The encoding that the options name.

    What is the name of a shipped encoding is never taken for a path: ``./NAME`` is one.

    Raises:
        click.UsageError: two that exclude each other are given.
        CommandError: the model or encoding is unknown, a file is damaged or cannot be read.
    """
    if model is not None and encoding is not None:
        raise click.UsageError("--model and --encoding exclude each other: give one of them.")
    is_path = encoding is not None and _is_path(encoding)
    if pattern is not None and not is_path:
        raise click.UsageError("--pattern is for a rank file, given by --encoding.")
    if encoding is not None and is_path:
        try:
            return load(encoding, pattern=pattern)
        except OSError as error:
            raise CommandError(f"{encoding}: {error.strerror or error}") from error
        except ValueError as error:
            raise CommandError(str(error)) from error
    if model is None:
        name = DEFAULT_ENCODING if encoding is None else encoding
    else:
        try:
            name = encoding_name_for_model(model)
        except KeyError:
            raise CommandError(
                f"unknown model {model!r}{did_you_mean(model, model_names())}; "
                "--encoding takes the name of an encoding"
            ) from None
    known = list_encoding_names()
    if name not in known:
        raise CommandError(
            f"unknown encoding {name!r}{did_you_mean(name, known)}; there are {', '.join(known)}"
        )
    try:
        return get_encoding(name)
    except (OSError, ValueError) as error:
        raise CommandError(str(error)) from error


def chosen_encodings(
    models: Sequence[str], encodings: Sequence[str], pattern: str | None
) -> dict[str, Encoding]:
    """The encodings that repeated options name: by what ``-e`` says, or a model's by its name.

    Raises:
        click.UsageError, CommandError: as in ``chosen_encoding``; ``pattern`` is for all files.
    """
    if pattern is not None and not any(map(_is_path, encodings)):
        raise click.UsageError("--pattern is for a rank file, given by --encoding.")
    found: dict[str, Encoding] = {}
    for encoding in encodings:
        if encoding not in found:
            is_path = _is_path(encoding)
            found[encoding] = chosen_encoding(None, encoding, pattern if is_path else None)
    for model in models:
        chosen = chosen_encoding(model, None, None)
        found.setdefault(chosen.name, chosen)
    return found or {DEFAULT_ENCODING: chosen_encoding(None, None, None)}


def _is_path(encoding: str) -> bool:
    if encoding in list_encoding_names():
        return False
    return os.path.exists(encoding) or os.path.basename(encoding) != encoding


def _complete_encoding(
    context: click.Context, parameter: click.Parameter, start: str
) -> list[CompletionItem]:
    names = map(CompletionItem, _beginning(start, list_encoding_names()))
    return [*names, *click.Path().shell_complete(context, parameter, start)]


def _beginning(start: str, names: list[str]) -> list[str]:
    return [name for name in names if name.startswith(start)]
