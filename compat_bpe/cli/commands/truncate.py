"""``compat-bpe truncate``: cut a text to a number of tokens."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

import click

from ... import Encoding
from ..ids import encoded
from ..input_path import shown_name
from ..options.encoding import chosen_encoding, encoding_options
from ..output import CommandError, write_message
from ..streams import check_escaped, input_argument, read_all, read_pieces, write_bytes

if TYPE_CHECKING:
    from ...fit.boundary import Boundary
    from ...fit.truncate import Keep, Truncated

#: What is on both sides of a cut.
_NOUNS: Mapping[str, str] = {"line": "lines", "word": "words", "char": "characters"}


@click.command()
@input_argument
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=0),
    required=True,
    metavar="N",
    help="Keep at most N tokens.",
)
@click.option(
    "--keep",
    type=click.Choice(["head", "tail", "ends"]),
    default="head",
    show_default=True,
    help="Keep the beginning, the end, or both.",
)
@click.option(
    "--boundary",
    type=click.Choice(["char", "word", "line"]),
    default="char",
    show_default=True,
    help="Cut between any two characters, not within a word, or only between lines. A line that "
    "does not fit is cut between words, and a word that does not fit between characters.",
)
@click.option(
    "--marker",
    callback=check_escaped,
    metavar="TEXT",
    help="Put TEXT where something was cut; \\n, \\t, \\r, \\0 and \\\\ are escapes. The default "
    "is … for --keep ends, on a line of its own between lines, and nothing otherwise.",
)
@encoding_options
@click.option("--report", is_flag=True, help="Report on standard error what was kept.")
@click.option(
    "--json", "as_json", is_flag=True, help="Report it as a JSON object, also on standard error."
)
@click.option("--exit-code", is_flag=True, help="Exit with 1 if something was cut.")
def truncate(
    file: str,
    limit: int,
    keep: Keep,
    boundary: Boundary,
    marker: str | None,
    model: str | None,
    encoding: str | None,
    pattern: str | None,
    report: bool,
    as_json: bool,
    exit_code: bool,
) -> None:
    """Cut a text to at most N tokens.

    \b
    Examples:
      $ git diff | compat-bpe truncate -n 4000 --boundary line --report
      $ compat-bpe truncate -n 1000 --keep ends --boundary line log.txt
      $ compat-bpe truncate -n 1000 --keep ends --boundary line --marker '[...]\\n' log.txt

    Without FILE, or with -, read standard input. The kept text is written to standard output byte
    for byte: no newline is added or translated, and no character is split. It is the longest text
    that fits, the marker included. The marker is put exactly as it is; one between lines should
    end in \\n. Names of special tokens are plain text. With --keep head, the command reads only as
    much as it needs.

    If --boundary leaves nothing of an end but white space, that end is cut at the next finer
    boundary, and a message says so.

    With --json, the report has the keys "cut" (a boolean); "tokens", "characters" and "bytes" of
    the output; "kept", the kept slices of the input as a list of [start, end] in characters;
    "boundary", the finest at which it was cut, or null; and "input", an object with the
    "characters" and "bytes" of the input, or null if it was not read to its end.
    """
    chosen = chosen_encoding(model, encoding, pattern)
    if keep == "head":
        text, is_whole = _read_head(file, chosen, limit, look_for_end=report or as_json)
    else:
        text, is_whole = read_all(file), True
    try:
        result = chosen.truncate(text, limit, keep=keep, boundary=boundary, marker=marker)
    except ValueError as error:
        raise CommandError(str(error)) from None
    write_bytes(result.text.encode())
    finest = _finest_cut(result, text, boundary)
    if as_json:
        click.echo(_as_json(result, text, is_whole, finest), err=True)
    else:
        if finest not in (None, boundary):
            write_message(
                f"{shown_name(file)}: no place between {_NOUNS[boundary]} within the limit; cut "
                f"between {_NOUNS[finest]} instead"
            )
        elif limit and result.was_cut and not result.kept:
            write_message(f"{shown_name(file)}: not one character fits within the limit")
        if report:
            write_message(f"{shown_name(file)}: {_as_words(result, text, is_whole)}")
    if exit_code and result.was_cut:
        sys.exit(1)


def _read_head(
    file: str, encoding: Encoding, limit: int, *, look_for_end: bool
) -> tuple[str, bool]:
    """Return enough of a text to cut its beginning, and True if that is the whole text.

    Once an id is certain, it stays, however the text goes on. Once more ids are certain than fit,
    no beginning that is longer than the text read so far fits.
    """
    pieces: list[str] = []

    def reading() -> Iterator[str]:
        for piece in read_pieces(file):
            pieces.append(piece)
            yield piece

    source = reading()
    ids = encoded(encoding, source, frozenset(), shown_name(file))
    is_whole = next(islice(ids, min(limit, sys.maxsize), None), None) is None
    if not is_whole and look_for_end:
        with suppress(CommandError):  # errors in the rest do not matter
            is_whole = not any(source)
    return "".join(pieces), is_whole


def _finest_cut(result: Truncated, text: str, boundary: Boundary) -> Boundary | None:
    """Return the finest boundary at which a text was cut; None if it was not, or is all gone."""
    from ...fit.boundary import boundary_at, with_finer

    places = {place for part in result.kept for place in part} - {0, len(text)}
    names = with_finer(boundary)
    return max((boundary_at(text, at, names) for at in places), key=names.index, default=None)


def _as_words(result: Truncated, text: str, is_whole: bool) -> str:
    tokens = f"{result.count} token{'' if result.count == 1 else 's'}"
    kept = sum(end - start for start, end in result.kept)
    if not result.was_cut:
        return f"not cut: {tokens}, {kept} character{'' if kept == 1 else 's'}"
    if is_whole:
        return f"cut to {tokens}, {kept} of {len(text)} characters"
    return f"cut to {tokens}, {kept} characters; the rest was not read"


def _as_json(result: Truncated, text: str, is_whole: bool, finest: Boundary | None) -> str:
    import json  # only this form needs it

    size = {"characters": len(text), "bytes": len(text.encode())}
    return json.dumps(
        {
            "cut": result.was_cut,
            "tokens": result.count,
            "characters": len(result.text),
            "bytes": len(result.text.encode()),
            "kept": result.kept,
            "boundary": finest,
            "input": size if is_whole else None,
        }
    )
