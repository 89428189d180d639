"""``compat-bpe encode``: from text to ids."""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from itertools import islice

import click

from ...fit.stream import encode_iter
from ..options.encoding import chosen_encoding, encoding_options
from ..options.special import allowed_special, special_options
from ..output import CommandError
from ..streams import input_argument, read_pieces, write_bytes

#: Ids that are written at a time.
_PORTION = 1 << 14

#: What stands before the ids, between them, and after them, if there are any.
_FORMATS = {
    "spaces": ("", " ", "\n"),
    "lines": ("", "\n", "\n"),
    "json": ("[", ", ", "]\n"),
}


@click.command()
@input_argument
@encoding_options
@special_options
@click.option(
    "--format",
    "layout",
    type=click.Choice(list(_FORMATS)),
    help="Ids in one line with spaces between them (the default), one a line, or a JSON list.",
)
@click.option("--packed", is_flag=True, help="Ids as bytes: little-endian uint32.")
def encode(
    file: str,
    model: str | None,
    encoding: str | None,
    pattern: str | None,
    special: bool,
    names: tuple[str, ...],
    layout: str | None,
    packed: bool,
) -> None:
    """Write the ids of a text's tokens.

    With no FILE, or if FILE is -, standard input is read. The text is the exact content as UTF-8:
    no newline is translated, and the newline at its end counts. Names of special tokens are plain
    text unless said otherwise. Large input takes little memory.

    \b
    Examples:
      $ compat-bpe encode -m gpt-4o prompt.txt
      $ compat-bpe encode --packed corpus.txt > corpus.bin
      $ compat-bpe encode a.txt | compat-bpe decode | cmp - a.txt
    """
    if packed and layout is not None:
        raise click.UsageError("--format and --packed exclude each other: give one of them.")
    if packed and sys.stdout is not None and sys.stdout.isatty():
        raise CommandError("packed ids are not for a terminal: redirect them to a file or a pipe")
    chosen = chosen_encoding(model, encoding, pattern)
    allowed = allowed_special(chosen, special, names)
    ids = encode_iter(chosen, read_pieces(file), allowed_special=allowed, disallowed_special=())
    for block in _packed(ids) if packed else _written(ids, layout or "spaces"):
        write_bytes(block)


def _packed(ids: Iterator[int]) -> Iterator[bytes]:
    for portion in _portions(ids):
        yield struct.pack(f"<{len(portion)}I", *portion)


def _written(ids: Iterator[int], layout: str) -> Iterator[bytes]:
    before, between, after = _FORMATS[layout]
    for portion in _portions(ids):
        yield (before + between.join(map(str, portion))).encode()
        before = between
    if before == between:
        yield after.encode()
    elif layout == "json":
        yield b"[]\n"


def _portions(ids: Iterator[int]) -> Iterator[list[int]]:
    return iter(lambda: list(islice(ids, _PORTION)), [])
