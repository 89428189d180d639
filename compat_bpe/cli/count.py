"""``compat-bpe count``: how many tokens files have."""

from __future__ import annotations

import os
import stat
import sys
from typing import NamedTuple

import click

from compat_bpe.cli.encoding_option import chosen_encoding, encoding_options
from compat_bpe.cli.output import write_line, write_message
from compat_bpe.cli.reading import STDIN, read_text

# The width of wc's columns if it cannot know the sizes beforehand.
_WIDTH_OF_UNKNOWN = 7


class Counts(NamedTuple):
    """What is counted in a text."""

    tokens: int
    bytes: int
    characters: int


@click.command()
@click.argument("files", nargs=-1, type=click.Path(allow_dash=True), metavar="[FILE|-]...")
@encoding_options
@click.option("-a", "--text", is_flag=True, help="Take files with NUL bytes for text, too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of lines.")
def count(
    files: tuple[str, ...],
    model: str | None,
    encoding: str | None,
    pattern: str | None,
    text: bool,
    as_json: bool,
) -> None:
    """Count the tokens of each FILE, and of all together.

    With no FILE, or where FILE is -, standard input is read.

    What is counted is the exact content of a file as UTF-8: line ends are not translated, and a
    byte-order mark is text like everything else. So is the name of a special token, for
    instance <|endoftext|>.

    A file that cannot be read, is binary (there is a NUL in its first 8,000 bytes) or is not
    UTF-8 is reported on standard error. The others are counted all the same, and the exit
    status is 2.

    \b
    Example:
      $ compat-bpe count --model gpt-4o README.md src/*.py

    The object that --json prints has the keys "encoding"; "files", a list of objects with
    "path", "tokens", "bytes" and "characters", in the order given; "total", with the sums of
    these three; and "errors", a list of objects with "path" and "error".
    """
    chosen = chosen_encoding(model, encoding, pattern)
    paths = files or (STDIN,)
    width = _column_width(paths) if len(paths) > 1 else 1
    counted: list[tuple[str, Counts]] = []
    errors: list[tuple[str, str]] = []
    for path in paths:
        try:
            content, size = read_text(path, allow_nul=text)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            errors.append((path, reason or str(error)))
            write_message(f"{path}: {errors[-1][1]}")
            continue
        counts = Counts(chosen.count(content), size, len(content))
        counted.append((path, counts))
        if not as_json:
            write_line(f"{counts.tokens:{width}} {path}" if files else f"{counts.tokens}")

    total = Counts(
        sum(counts.tokens for _, counts in counted),
        sum(counts.bytes for _, counts in counted),
        sum(counts.characters for _, counts in counted),
    )
    if as_json:
        write_line(_as_json(chosen.name, counted, total, errors))
    elif len(paths) > 1:
        write_line(f"{total.tokens:{width}} total")
    if errors:
        sys.exit(2)


def _column_width(paths: tuple[str, ...]) -> int:
    """A width that no count exceeds, from the sizes of the files: no token is empty.

    So a line can be printed as soon as its file is counted. wc does the same.
    """
    size, width = 0, 1
    for path in paths:
        try:
            status = os.stat(0 if path == STDIN else path)
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            size += status.st_size
        else:
            width = _WIDTH_OF_UNKNOWN
    return max(width, len(str(size)))


def _as_json(
    encoding_name: str,
    counted: list[tuple[str, Counts]],
    total: Counts,
    errors: list[tuple[str, str]],
) -> str:
    """One line of ASCII: a file name's bytes that are not UTF-8 are lone surrogates in it."""
    import json  # only this form needs it

    return json.dumps(
        {
            "encoding": encoding_name,
            "files": [{"path": path, **counts._asdict()} for path, counts in counted],
            "total": total._asdict(),
            "errors": [{"path": path, "error": reason} for path, reason in errors],
        }
    )
