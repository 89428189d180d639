"""``compat-bpe encodings`` and ``compat-bpe models``: what there is."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

import click
from click.shell_completion import CompletionItem

from ... import Encoding, encoding_name_for_model, get_encoding, list_encoding_names
from ...encodings.model_names import (
    MODEL_PREFIX_TO_ENCODING,
    MODEL_TO_ENCODING,
    OTHER_MODEL_PREFIX_TO_ENCODING,
    OTHER_MODEL_TO_ENCODING,
    did_you_mean,
    model_names,
)
from ..options.encoding import chosen_encoding, encoding_options
from ..output import CommandError, write_line


@click.command()
@encoding_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list instead of lines.")
def encodings(model: str | None, encoding: str | None, pattern: str | None, as_json: bool) -> None:
    """List the encodings there are, or describe one.

    The size of a vocabulary is one more than its highest id; ids below it may be free. The tokens
    are those that tiktoken gives, or tokenizers.

    \b
    Examples:
      $ compat-bpe encodings
      $ compat-bpe encodings -e path/to/tokenizer.json

    The objects in the list of --json have the keys "name"; "vocabulary_size"; "special_tokens",
    their number; and "tokens_of", which is "tiktoken" or "tokenizers".
    """
    if model is None and encoding is None and pattern is None:
        chosen = list(map(_shipped, list_encoding_names()))
    else:
        chosen = [chosen_encoding(model, encoding, pattern)]
    described = [
        {
            "name": one.name,
            "vocabulary_size": one.n_vocab,
            "special_tokens": len(one.special_tokens_set),
            "tokens_of": one.reference,
        }
        for one in chosen
    ]
    if as_json:
        write_line(json.dumps(described))
        return
    rows = [list(map(str, one.values())) for one in described]
    _write_table([["encoding", "vocabulary", "special", "tokens of"], *rows], numbers={1, 2})


def _shipped(name: str) -> Encoding:
    try:
        return get_encoding(name)
    except (OSError, ValueError) as error:  # the package's own file is missing or damaged
        raise CommandError(str(error)) from error


def _complete_model(
    _context: click.Context, _parameter: click.Parameter, start: str
) -> list[CompletionItem]:
    return [CompletionItem(name) for name in model_names() if name.startswith(start)]


@click.command()
@click.argument("names", nargs=-1, metavar="[MODEL]...", shell_complete=_complete_model)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of lines.")
def models(names: tuple[str, ...], as_json: bool) -> None:
    """List the models that are known, or MODELs alone, with their encodings.

    A name in the list that ends in * stands for all that begin like it and are not in the list
    themselves; the first that fits counts.

    \b
    Examples:
      $ compat-bpe models
      $ compat-bpe models gpt-4o-2024-05-13

    The object of --json has the names as keys and the encodings as values.
    """
    if names:
        found = {name: _encoding_name(name) for name in names}
    else:
        prefixes = {**MODEL_PREFIX_TO_ENCODING, **OTHER_MODEL_PREFIX_TO_ENCODING}
        found = {**MODEL_TO_ENCODING, **OTHER_MODEL_TO_ENCODING}
        found.update({f"{prefix}*": encoding for prefix, encoding in prefixes.items()})
    if as_json:
        write_line(json.dumps(found))
    else:
        _write_table(list(found.items()))


def _encoding_name(model: str) -> str:
    try:
        return encoding_name_for_model(model)
    except KeyError:
        close = did_you_mean(model, model_names())
        raise CommandError(f"unknown model {model!r}{close}") from None


def _write_table(rows: Sequence[Sequence[str]], *, numbers: Collection[int] = ()) -> None:
    """Write rows in columns, of which those of numbers are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        cells = [
            cell.rjust(width) if number in numbers else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths))
        ]
        write_line("  ".join(cells).rstrip())
