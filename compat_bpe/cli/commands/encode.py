"""``compat-bpe encode``: turn a text into token ids."""

from __future__ import annotations

import sys
from collections.abc import Generator, Set
from contextlib import closing
from itertools import islice

import click

from ... import Encoding
from ..encode_file import encoded_by_workers
from ..ids import LAYOUTS, IdLayout, encoded, with_special_tokens
from ..input import Reading, file_argument, read_pieces, reading_options
from ..options.encoding import chosen_encoding, encoding_options
from ..options.special import allowed_special, special_options
from ..output import CommandError, portions, shown_name, write_bytes

#: The number of ids that are written at a time.
_PORTION = 1 << 14

#: The layouts of ``--format``.
_FORMATS = [name for name in LAYOUTS if name != "packed"]


@click.command()
@file_argument
@encoding_options
@reading_options
@special_options
@click.option(
    "--format",
    "layout",
    type=click.Choice(_FORMATS),
    help="Write ids in one line with spaces between them (the default), one a line, or as a JSON "
    "list.",
)
@click.option("--json", "as_json", is_flag=True, help="Write a JSON list: --format json.")
@click.option(
    "--offsets",
    is_flag=True,
    help="Write each token as a JSON object on a line, with its text and its place.",
)
@click.option("--packed", is_flag=True, help="Write ids as bytes: little-endian uint32.")
@click.option(
    "--add-special-tokens",
    is_flag=True,
    help="Add the tokenizer's own tokens for the beginning and the end of a text, such as [CLS].",
)
@click.option(
    "-j",
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    help="Use at most N processes for a large FILE; by default as many as there are processors.",
)
def encode(
    file: str,
    model: str | None,
    encoding: str | None,
    pattern: str | None,
    reading: Reading,
    special: bool,
    names: tuple[str, ...],
    layout: str | None,
    as_json: bool,
    offsets: bool,
    packed: bool,
    add_special_tokens: bool,
    jobs: int | None,
) -> None:
    """Turn a text into token ids.

    \b
    Examples:
      $ compat-bpe encode -m gpt-4o prompt.txt
      $ compat-bpe encode --json --offsets prompt.txt
      $ compat-bpe encode --packed corpus.txt > corpus.bin
      $ compat-bpe encode a.txt | compat-bpe decode | cmp - a.txt

    Without FILE, or with -, read standard input. The text is the exact content as UTF-8: no
    newline is translated, and a newline at the end counts. Names of special tokens are plain text
    by default. Large input takes little memory.

    Bytes that are not UTF-8 are encoded as they are, as a chunk of their own: decode gives them
    back. A vocabulary that does not merge bytes has U+FFFD in their place. With
    --add-special-tokens, they are an error unless --errors replace is given.

    With --offsets, "id" is a token's id, and "text" its text. If it is not made of whole
    characters, it has "hex" instead, its bytes in hexadecimal. "special" is true for a special
    token, and absent otherwise. "characters", "bytes" (of UTF-8) and "utf16" (units) are its place
    in the text, as [start, end]. A token that begins or ends within a character covers all of it
    in "characters" and "utf16".

    If the tokenizer changes text (lower case, say), or leaves some out, "text" is the part of the
    text that a token stands for, and "token" is the token as in the vocabulary. Then "bytes", too,
    covers whole characters, and tokens that were made of one character overlap. "unknown" is true
    for a token that stands for unknown text.
    """
    if as_json and layout not in (None, "json"):
        raise click.UsageError("--format and --json exclude each other: give one of them.")
    layout = "json" if as_json else layout
    if packed and (layout is not None or offsets):
        raise click.UsageError(
            "--packed excludes --format, --json and --offsets: give one of them."
        )
    if offsets and layout not in (None, "json"):
        raise click.UsageError("--offsets writes JSON, not --format spaces or lines.")
    if offsets and add_special_tokens:
        raise click.UsageError(
            "--offsets and --add-special-tokens exclude each other: added tokens have no place."
        )
    if packed and sys.stdout is not None and sys.stdout.isatty():
        raise CommandError("packed ids are not for a terminal: redirect them to a file or a pipe")
    chosen = chosen_encoding(model, encoding, pattern)
    allowed = allowed_special(chosen, special, names)
    if offsets:
        from ..shown.tokens import placed_tokens

        lines = placed_tokens(chosen, read_pieces(file, reading), allowed, shown_name(file))
        for portion in portions(lines):
            write_bytes(portion.encode())
        return
    ids_layout = LAYOUTS["packed" if packed else layout or "spaces"]
    blocks = None
    if not add_special_tokens:
        blocks = encoded_by_workers(chosen, file, allowed, ids_layout.write, jobs, reading)
    elif reading.errors == "keep":  # the tokens are added to a text
        reading = reading._replace(errors="strict")
    if blocks is None:
        blocks = _encoded_here(chosen, file, reading, allowed, ids_layout, add_special_tokens)
    with closing(blocks):
        for block in ids_layout.joined(blocks):
            write_bytes(block)


def _encoded_here(
    encoding: Encoding,
    file: str,
    reading: Reading,
    allowed: Set[str],
    layout: IdLayout,
    add_special_tokens: bool,
) -> Generator[bytes, None, None]:
    """Yield the ids of a file as bytes, in portions."""
    pieces = read_pieces(file, reading)
    if add_special_tokens:
        ids = iter(with_special_tokens(encoding, "".join(pieces), allowed, shown_name(file)))
    else:
        ids = encoded(encoding, pieces, allowed, shown_name(file))
    while portion := list(islice(ids, _PORTION)):
        yield layout.write(portion)
