"""``compat-bpe encodings`` and ``compat-bpe models``: the names that other commands take."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Sequence

import click

from ... import Encoding, get_encoding
from ...chat.limits import ContextLimit, context_limit, known_limits
from ...encodings.families import FAMILIES, Family, NeedsFile
from ...encodings.model_names import (
    MODEL_PREFIX_TO_ENCODING,
    MODEL_TO_ENCODING,
    OTHER_MODEL_PREFIX_TO_ENCODING,
    OTHER_MODEL_TO_ENCODING,
    resolve_model,
    rule_of,
)
from ...encodings.published import all_encoding_names
from ..app import option
from ..options.encoding import NamedEncoding, chosen_answer, complete_model, encoding_option
from ..output import PROGRAM, CommandError, write_line, write_message


@click.command(short_help="List the encodings.")
@encoding_option
@option("--json", "Print one JSON list.", to="as_json")
def encodings(named: NamedEncoding, as_json: bool) -> None:
    """List the encodings, or describe one.

    \b
    Examples:
      $ compat-bpe encodings
      $ compat-bpe encodings -e path/to/tokenizer.json
      $ compat-bpe report -e gpt2 -e words_and_punctuation corpus/

    The size of a vocabulary is its highest id plus 1; some ids below may be unused. The last column
    names the library whose tokens the encoding reproduces. The baselines, at the end, split text by
    a rule, to compare vocabularies with: each byte, each character, words, words and punctuation,
    or runs of one Unicode category. The command report accepts them, too.

    With --json, each object in the list has the keys "name", "vocabulary_size", "special_tokens"
    (a number) and "tokens_of" ("tiktoken", "tokenizers", "sentencepiece" or "baseline"). The size
    is null for baselines that number words as they occur.
    """
    is_named = set(named) != {None}
    chosen = [named.load()] if is_named else list(map(_shipped, all_encoding_names()))
    described = [
        {
            "name": one.name,
            "vocabulary_size": _size(one),
            "special_tokens": len(one.special_tokens_set),
            "tokens_of": one.reference,
        }
        for one in chosen
    ]
    if as_json:
        write_line(json.dumps(described))
        return
    rows = [["-" if cell is None else str(cell) for cell in one.values()] for one in described]
    _write_table([["encoding", "vocabulary", "special", "tokens of"], *rows], numbers={1, 2})


def _size(encoding: Encoding) -> int | None:
    # Words are numbered as they come.
    is_open = encoding.reference == "baseline" and encoding.max_token_value == 0
    return None if is_open else encoding.n_vocab


def _shipped(name: str) -> Encoding:
    try:
        return get_encoding(name)
    except (OSError, ValueError) as error:  # the package's own file is missing or damaged
        raise CommandError(str(error)) from error


@click.command(short_help="List models and their limits.")
@click.argument("names", nargs=-1, metavar="[MODEL]...", shell_complete=complete_model)
@option(
    "--families",
    "List the families of models whose encodings are not included, and how to count their tokens.",
)
@option("--limits", "With --json, also give the limits of each model.")
@option("--json", "Print one JSON object, or a list.", to="as_json")
def models(names: tuple[str, ...], families: bool, limits: bool, as_json: bool) -> None:
    """List the known models, their encodings and limits, or only the given MODELs.

    \b
    Examples:
      $ compat-bpe models
      $ compat-bpe models gpt-4o-2024-05-13
      $ compat-bpe models qwen
      $ compat-bpe models --families

    A MODEL is a name in any spelling, such as openai/gpt-4o or qwen3:8b, or a word, such as gpt or
    qwen: all names with the word in them are listed. A model whose encoding is not included has a
    - for the encoding. Its family is listed, with the argument of -e and the command that fetches
    the files, and its limits if they are known.

    Limits are in tokens: the context, which a request and its reply share, and the longest reply.
    A - means that the limit is not known, or that a reply may fill the rest of the context.

    A name that ends in * stands for every model with that prefix that has no line of its own. If
    several prefixes fit, the first one applies. For a MODEL that is not listed, a message gives the
    rule by which its encoding was found. Unknown MODELs are reported, and the exit status is 2.

    With --json, the keys of the object are the models, and its values are the encodings; a MODEL of
    a family is reported like an unknown one, unless --limits is given and its limits are known:
    then "encoding" is null. With --families, there is a list of objects with the keys "family",
    "encoding" (the argument of -e; null if only the path of a file works), "source" (the command or
    the address that fetches the files) and "counted_by" (null). A family without a public tokenizer
    has null for "encoding" and "source", and "counted_by" is the service that counts its tokens.
    With --limits, the values are objects with the keys "encoding", "context", "input" (the most
    tokens of a request), "output", "source" (the address at which they are published) and "date"
    (the day on which that address was read).
    """
    if limits and not as_json:
        raise click.UsageError("--limits needs --json.")
    if limits and families:
        raise click.UsageError("--limits is for models: a family has none.")
    listed = _listed()
    encodings: dict[str, str | None] = {}
    if not names and not families:
        encodings.update(listed)
    shown = {family.name: family for family in FAMILIES if families and not names}
    failures: list[CommandError] = []
    for name in names:
        named, named_families = _named(name, listed)
        if families:
            named = {}
        elif as_json:  # the values of the object are encodings
            named_families = []
            if not limits:
                named = {model: one for model, one in named.items() if one is not None}
        encodings.update(named)
        shown.update((family.name, family) for family in named_families)
        if not named and not named_families:
            failures.append(_failure(name, listed))
    if as_json and families:
        write_line(json.dumps(list(map(_family_as_json, shown.values()))))
    elif as_json and limits:
        write_line(json.dumps({name: _with_limits(name, encodings[name]) for name in encodings}))
    elif as_json:
        write_line(json.dumps(encodings))
    if not as_json and encodings:
        rows = [[name, one or "-", *_shown_limits(name)] for name, one in encodings.items()]
        _write_table([["model", "encoding", "context", "reply"], *rows], numbers={2, 3})
    if not as_json and shown:
        if encodings:
            write_line("")
        _write_table([["family", "-e", "from"], *map(_family_row, shown.values())])
    for name in names:
        if encodings.get(name) is not None and name not in listed:
            write_message(f"{name}: {rule_of(name)}")
    for failure in failures:
        failure.show()
    if failures:
        sys.exit(2)


def _listed() -> dict[str, str]:
    """Return all names and prefixes with their encodings."""
    prefixes = {**MODEL_PREFIX_TO_ENCODING, **OTHER_MODEL_PREFIX_TO_ENCODING}
    encodings = {**MODEL_TO_ENCODING, **OTHER_MODEL_TO_ENCODING}
    encodings.update({f"{prefix}*": encoding for prefix, encoding in prefixes.items()})
    return encodings


def _named(name: str, listed: dict[str, str]) -> tuple[dict[str, str | None], list[Family]]:
    """Return the models and the families that a name or word stands for.

    Each model has its encoding; None if it is not built in, and only the limits are known.
    """
    resolved = resolve_model(name)
    if isinstance(resolved, str):
        return {name: resolved}, []
    if resolved is not None:
        return {} if _limit(name) is None else {name: None}, [resolved]
    word = name.lower()
    known = {**dict.fromkeys(_limited_only()), **listed}
    return (
        {model: encoding for model, encoding in known.items() if word in model.lower()},
        [family for family in FAMILIES if word in family.name.lower()],
    )


def _limited_only() -> list[str]:
    """Return the models whose limits are known, but whose encodings are not built in."""
    return [name for name in known_limits() if not isinstance(resolve_model(name), str)]


def _failure(name: str, listed: dict[str, str]) -> CommandError:
    """Return the error for a name without a model or family."""
    if resolve_model(name) is None and _named(name, listed)[1]:
        hint = f"{PROGRAM} models --families lists families of that name"
        return CommandError(f"unknown model {name!r}; {hint}")
    try:
        encoding = chosen_answer(name, None).encoding_name
    except CommandError as error:
        return error
    return CommandError(f"{name!r} is built in (encoding {encoding}); it needs no files")


def _family_row(family: Family) -> list[str]:
    if isinstance(family, NeedsFile):
        return [family.name, family.taken_as or "PATH", family.source]
    return [family.name, "-", f"no public tokenizer; {family.counted_by}"]


def _family_as_json(family: Family) -> dict[str, str | None]:
    needs_file = family if isinstance(family, NeedsFile) else None
    return {
        "family": family.name,
        "encoding": needs_file and needs_file.taken_as,
        "source": needs_file and needs_file.source,
        "counted_by": None if isinstance(family, NeedsFile) else family.counted_by,
    }


def _limit(name: str) -> ContextLimit | None:
    try:
        return context_limit(name)
    except KeyError:
        return None


def _shown_limits(name: str) -> tuple[str, str]:
    limit = _limit(name)
    if limit is None:
        return "-", "-"
    return f"{limit.context:,}", "-" if limit.output is None else f"{limit.output:,}"


def _with_limits(name: str, encoding: str | None) -> dict[str, object]:
    limit = _limit(name)
    fields = ("context", "input", "output", "source", "date")
    return {"encoding": encoding, **{field: getattr(limit, field, None) for field in fields}}


def _write_table(rows: Sequence[Sequence[str]], *, numbers: Collection[int] = ()) -> None:
    """Write rows in columns; those in ``numbers`` are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        cells = [
            cell.rjust(width) if number in numbers else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths))
        ]
        write_line("  ".join(cells).rstrip())
