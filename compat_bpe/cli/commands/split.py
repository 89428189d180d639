"""``compat-bpe split``: a text in parts that fit."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import click

from ..options.encoding import chosen_encoding, encoding_options
from ..output import CommandError, write_line
from ..streams import check_text, input_argument, read_all, write_bytes

if TYPE_CHECKING:
    from ...fit.split import Part

#: Part numbers in file names have so many digits at least.
_DIGITS = 4


@click.command()
@input_argument
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    required=True,
    metavar="N",
    help="How many tokens a part may have at most.",
)
@click.option(
    "--overlap",
    type=click.IntRange(min=0),
    default=0,
    metavar="M",
    help="How many tokens at most of a part's end the next begins with.",
)
@click.option(
    "--boundary",
    type=click.Choice(["char", "word", "line"]),
    default="char",
    show_default=True,
    help="Where a part may end; a word or a line that does not fit in one is cut all the same.",
)
@encoding_options
@click.option(
    "-o",
    "--output",
    "prefix",
    type=click.Path(),
    metavar="PREFIX",
    help="Write each part to a file: PREFIX0001.txt and so on.",
)
@click.option(
    "--suffix",
    type=click.Path(),
    default=".txt",
    show_default=True,
    metavar="TEXT",
    help="How the names of these files end.",
)
@click.option("--force", is_flag=True, help="Overwrite files that there are.")
@click.option(
    "--separator",
    callback=check_text,
    metavar="TEXT",
    help="Write all parts, and TEXT between them.",
)
@click.option("-0", "--null", is_flag=True, help="Write all parts, and a NUL byte after each.")
@click.option("--json", "as_json", is_flag=True, help="Write a JSON object a line for each part.")
def split(
    file: str,
    limit: int,
    overlap: int,
    boundary: Literal["char", "word", "line"],
    model: str | None,
    encoding: str | None,
    pattern: str | None,
    prefix: str | None,
    suffix: str,
    force: bool,
    separator: str | None,
    null: bool,
    as_json: bool,
) -> None:
    """Split a text into consecutive parts of at most N tokens.

    With no FILE, or if FILE is -, standard input is read. Joined, the parts are the text, byte for
    byte, if they do not overlap. Each is as long as fits. The names of special tokens are plain
    text.

    Where the parts go has to be said. The names of files that were written are printed. They
    appear only when all parts are written, and none is overwritten unless --force is given.

    \b
    Examples:
      $ compat-bpe split -n 2000 --boundary line -o part- book.txt
      $ compat-bpe split -n 500 --overlap 50 --json README.md | jq -r .text
      $ compat-bpe split -n 2000 -0 book.txt | xargs -0 -n 1 summarize

    The objects of --json have the keys "start" and "end", in characters; "tokens"; and "text", or
    "path" if the parts are written to files.
    """
    if (prefix is not None) + (separator is not None) + null + (as_json and prefix is None) != 1:
        raise click.UsageError(
            "say where the parts go: --output PREFIX, --separator TEXT, --null or --json "
            "(--output and --json go together)."
        )
    chosen = chosen_encoding(model, encoding, pattern)
    text = read_all(file)
    if null and "\0" in text:
        raise CommandError(
            f"{file}: NUL byte at offset {len(text[: text.index(chr(0))].encode())}, "
            "which --null cannot tell from its own; --json can"
        )
    from ...fit.split import split_text

    try:
        parts = list(split_text(chosen, text, limit, overlap, boundary))
    except ValueError as error:
        raise CommandError(str(error)) from None

    if prefix is not None:
        paths = _paths(prefix, suffix, len(parts))
        _write_files(paths, [part.text for part in parts], force)
        for path, part in zip(paths, parts):
            write_line(_as_json(part, path=path) if as_json else path)
    elif as_json:
        for part in parts:
            write_line(_as_json(part, text=part.text))
    elif null:
        write_bytes("".join(f"{part.text}\0" for part in parts).encode())
    elif separator is not None:
        write_bytes(separator.join(part.text for part in parts).encode())


def _as_json(part: Part, **more: str) -> str:
    """One line of ASCII."""
    return json.dumps({"start": part.start, "end": part.end, "tokens": part.count, **more})


def _paths(prefix: str, suffix: str, count: int) -> list[str]:
    """The names of files, all of the same length, so that they sort by their numbers.

    >>> _paths("part-", ".txt", 2)
    ['part-0001.txt', 'part-0002.txt']
    """
    digits = max(_DIGITS, len(str(count)))
    return [f"{prefix}{number:0{digits}}{suffix}" for number in range(1, count + 1)]


def _write_files(paths: Sequence[str], texts: Sequence[str], force: bool) -> None:
    """Write files of which none is there before all are written.

    Raises:
        CommandError: there is one of them already, or one cannot be written.
    """
    if not force:
        for path in paths:
            if os.path.lexists(path):
                raise CommandError(f"{path}: it exists; --force overwrites it")
    unfinished: set[str] = set()
    label = f".{uuid.uuid4().hex}.tmp"
    path = ""
    try:
        for path, text in zip(paths, texts):
            unfinished.add(path + label)
            with open(path + label, "xb") as file:
                file.write(text.encode())
        for path in paths:
            os.replace(path + label, path)
            unfinished.remove(path + label)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from None
    finally:
        for part in unfinished:
            if os.path.exists(part):
                os.remove(part)
