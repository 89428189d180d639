"""``compat-bpe split``: cut a text into parts of a number of tokens."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import click

from ...files.write import write_files
from ...unicode.utf8 import KeptBytes
from ..input_path import shown_name
from ..options.encoding import chosen_encoding, encoding_options
from ..output import CommandError, write_line
from ..output_file import check_new_file, check_outputs, vocabulary_inputs
from ..streams import (
    Reading,
    check_escaped,
    input_argument,
    read_all,
    reading_options,
    write_bytes,
)

if TYPE_CHECKING:
    from ...fit.split import Part

#: The least number of digits in the names of parts.
_DIGITS = 4


@click.command(short_help="Split a text into parts of N tokens.")
@input_argument
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    required=True,
    metavar="N",
    help="Put at most N tokens in a part.",
)
@click.option(
    "--overlap",
    type=click.IntRange(min=0),
    default=0,
    metavar="M",
    help="Repeat up to M tokens of a part's end at the start of the next part.",
)
@click.option(
    "--boundary",
    type=click.Choice(["char", "word", "line"]),
    default="char",
    show_default=True,
    help="Cut between any two characters, between words, or between lines. A word or a line that "
    "does not fit in one part is cut all the same.",
)
@encoding_options
@reading_options
@click.option(
    "-o",
    "--output",
    "prefix",
    type=click.Path(),
    metavar="PREFIX",
    help="Write each part to a file: PREFIX0001.txt, PREFIX0002.txt and so on.",
)
@click.option(
    "--suffix",
    type=click.Path(),
    default=".txt",
    show_default=True,
    metavar="TEXT",
    help="End the names of these files with TEXT.",
)
@click.option("--force", is_flag=True, help="Overwrite files that exist.")
@click.option(
    "--separator",
    callback=check_escaped,
    metavar="TEXT",
    help="Write all parts with TEXT between them; \\n, \\t, \\r, \\0 and \\\\ are escapes.",
)
@click.option("-0", "--null", is_flag=True, help="Write all parts with a NUL byte after each.")
@click.option("--json", "as_json", is_flag=True, help="Write each part as a JSON object on a line.")
def split(
    file: str,
    limit: int,
    overlap: int,
    boundary: Literal["char", "word", "line"],
    model: str | None,
    encoding: str | None,
    pattern: str | None,
    reading: Reading,
    prefix: str | None,
    suffix: str,
    force: bool,
    separator: str | None,
    null: bool,
    as_json: bool,
) -> None:
    """Split a text into consecutive parts of at most N tokens.

    \b
    Examples:
      $ compat-bpe split -n 2000 --boundary line -o part- book.txt
      $ compat-bpe split -n 500 --overlap 50 --json README.md | jq -r .text
      $ compat-bpe split -n 500 --separator '\\n-----\\n' README.md
      $ compat-bpe split -n 2000 -0 book.txt | xargs -0 -n 1 summarize

    Without FILE, or with -, read standard input. Each part is as long as possible. Joined, the
    parts are the text, byte for byte, unless they overlap. Names of special tokens are plain text.

    One of --output, --separator, --null and --json says where the parts go. --output prints the
    names of the files. They appear only when all parts are written. A file that exists is
    overwritten only with --force, and the input never.

    Each character or byte that is not UTF-8 counts as U+FFFD, as with count --errors replace.

    With --json, each object has the keys "start" and "end" (in characters), "tokens", and "text",
    or "path" if the parts are written to files. A part that is not UTF-8 has "hex" in place of
    "text", its bytes in hexadecimal.
    """
    if (prefix is not None) + (separator is not None) + null + (as_json and prefix is None) != 1:
        raise click.UsageError(
            "say where the parts go: --output PREFIX, --separator TEXT, --null or --json "
            "(--output and --json go together)."
        )
    chosen = chosen_encoding(model, encoding, pattern)
    source = KeptBytes(read_all(file, reading))
    if null and "\0" in source.text:
        offset = len(source.bytes_of(0, source.text.index("\0")))
        raise CommandError(
            f"{shown_name(file)}: NUL byte at offset {offset}, which --null would mix up with the "
            "end of a part; use --json"
        )
    from ...fit.split import split_text

    try:
        parts = list(split_text(chosen, source.text, limit, overlap, boundary))
    except ValueError as error:
        raise CommandError(str(error)) from None

    def data_of(part: Part) -> bytes:
        return source.bytes_of(part.start, part.end)

    if prefix is not None:
        paths = _paths(prefix, suffix, len(parts))
        _check_new(paths, force)
        check_outputs(paths, [file, *vocabulary_inputs(encoding)])
        try:
            write_files((path, data_of(part)) for path, part in zip(paths, parts))
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror or error}") from None
        for path, part in zip(paths, parts):
            write_line(_as_json(part, path=path) if as_json else path)
    elif as_json:
        for part in parts:
            data = data_of(part)
            is_text = data == part.text.encode()
            write_line(_as_json(part, **({"text": part.text} if is_text else {"hex": data.hex()})))
    elif null:
        write_bytes(b"".join(data_of(part) + b"\0" for part in parts))
    elif separator is not None:
        write_bytes(separator.encode().join(map(data_of, parts)))


def _as_json(part: Part, **more: str) -> str:
    """Describe a part in one line of ASCII."""
    return json.dumps({"start": part.start, "end": part.end, "tokens": part.count, **more})


def _paths(prefix: str, suffix: str, count: int) -> list[str]:
    """Return the names of files, with equally many digits, so that they sort by number.

    >>> _paths("part-", ".txt", 2)
    ['part-0001.txt', 'part-0002.txt']
    """
    digits = max(_DIGITS, len(str(count)))
    return [f"{prefix}{number:0{digits}}{suffix}" for number in range(1, count + 1)]


def _check_new(paths: Sequence[str], force: bool) -> None:
    """Refuse to overwrite a file that exists, and what is not a file in any case.

    Raises:
        CommandError: one of the files must not be written.
    """
    for path in paths:
        check_new_file(path, force=force)
        if not os.path.exists(path):
            continue
        # A device or a pipe would be replaced, not written to.
        if not os.path.isfile(path):
            raise CommandError(f"{path}: it exists and is not a regular file")
