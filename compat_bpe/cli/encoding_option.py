"""The options by which a command is told its encoding."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

import click

from compat_bpe import Encoding, encoding_name_for_model, get_encoding, list_encoding_names
from compat_bpe.cli.output import CommandError
from compat_bpe.models import MODEL_TO_ENCODING, did_you_mean

DEFAULT_ENCODING = "o200k_base"

_Function = TypeVar("_Function", bound=Callable[..., Any])


def encoding_options(function: _Function) -> _Function:
    """Give a command ``-e/--encoding`` and ``-m/--model``, for ``chosen_encoding``."""
    model = click.option(
        "-m",
        "--model",
        metavar="NAME",
        help="The encoding that this model uses, for instance gpt-4o.",
        shell_complete=lambda _ctx, _param, start: _beginning(start, list(MODEL_TO_ENCODING)),
    )
    encoding = click.option(
        "-e",
        "--encoding",
        metavar="NAME",
        help=f"The encoding; {DEFAULT_ENCODING} if neither it nor a model is named.",
        shell_complete=lambda _ctx, _param, start: _beginning(start, list_encoding_names()),
    )
    return model(encoding(function))


def chosen_encoding(model: str | None, encoding: str | None) -> Encoding:
    """The encoding that the options name.

    Raises:
        click.UsageError: both are given.
        CommandError: the model or encoding is unknown, or the package's own data is damaged.
    """
    if model is not None and encoding is not None:
        raise click.UsageError("--model and --encoding exclude each other: give one of them.")
    if model is None:
        name = DEFAULT_ENCODING if encoding is None else encoding
    else:
        try:
            name = encoding_name_for_model(model)
        except KeyError:
            raise CommandError(
                f"unknown model {model!r}{did_you_mean(model, MODEL_TO_ENCODING)}; "
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


def _beginning(start: str, names: list[str]) -> list[str]:
    return [name for name in names if name.startswith(start)]
