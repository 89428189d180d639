"""``compat-bpe encode``: turn a text into token ids, a large file by several processes."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Generator, Iterator, Sequence, Set
from contextlib import closing, suppress
from itertools import islice
from typing import Callable, NamedTuple

import click

from ... import Encoding
from ...encodings.baselines import Baseline
from ...files.text import STDIN, check_mark
from ...unicode.surrogates import has_surrogates
from ..app import option
from ..counting import Part, cut_parts, most_workers
from ..input import STRICT, Reading, file_argument, read_pieces, reading_options
from ..options.encoding import NamedEncoding, allowed_special, encoding_option, special_options
from ..output import CommandError, is_terminal, portions, shown_name, write_bytes
from ..progress import FileProgress
from ..tokens import LAYOUTS, IdLayout, Pieces, encoded, errors_of, placed_tokens, with_added_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...parallel.pool import Pool, Tell


#: The number of ids that are written at a time.
_PORTION = 1 << 14

#: The layouts of ``--format``.
_FORMATS = [name for name in LAYOUTS if name != "packed"]


@click.command()
@file_argument
@encoding_option
@reading_options
@special_options
@option(
    "--format",
    "Write ids on one line, separated by spaces (the default), one per line, or as a JSON list.",
    to="layout",
    type=click.Choice(_FORMATS),
)
@option("--json", "Write a JSON list: --format json.", to="as_json")
@option("--offsets", "Write each token as a JSON object on a line, with its text and its offsets.")
@option("--packed", "Write ids as bytes: little-endian uint32.")
@option(
    "--add-special-tokens",
    "Add the tokenizer's own tokens for the beginning and the end of a text, such as [CLS].",
)
@option(
    "-j --jobs N",
    "Use at most N processes for a large FILE. Default: one per processor.",
    type=click.IntRange(min=1),
)
def encode(
    file: str,
    named: NamedEncoding,
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

    With --offsets, "id" is a token's id, and "text" its text. A token that is not made of whole
    characters has "hex" instead: its bytes in hexadecimal. "special" is true for a special token,
    and absent otherwise. "characters", "bytes" (of UTF-8) and "utf16" (units) are its place in the
    text, as [start, end]. A token that begins or ends within a character covers all of it in
    "characters" and "utf16".

    If the tokenizer changes text (lower case, say), or leaves some out, "text" is the part of the
    text that a token stands for, and "token" is the token as in the vocabulary. Then "bytes", too,
    covers whole characters, and tokens made from one character overlap. "unknown" is true for a
    token that stands for unknown text.
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
            "--offsets and --add-special-tokens exclude each other: added tokens have no offsets."
        )
    if packed and is_terminal(sys.stdout):
        raise CommandError("packed ids are not for a terminal: redirect them to a file or a pipe")
    chosen = named.load()
    allowed = allowed_special(chosen, special, names)
    if offsets:
        text = Pieces(chosen, read_pieces(file, reading), allowed, shown_name(file))
        for portion in portions(placed_tokens(text)):
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
        ids = iter(with_added_tokens(encoding, "".join(pieces), allowed, shown_name(file)))
    else:
        ids = encoded(Pieces(encoding, pieces, allowed, shown_name(file)))
    while portion := list(islice(ids, _PORTION)):
        yield layout.write(portion)


#: Writes ids as bytes, without the text between two portions of ids.
Write = Callable[[Sequence[int]], bytes]

#: Seconds to wait for the next message of a worker.
_PATIENCE = 0.2


def encoded_by_workers(
    encoding: Encoding,
    path: str,
    allowed: Set[str],
    write: Write,
    jobs: int | None,
    reading: Reading = STRICT,
) -> Generator[bytes, None, None] | None:
    """Return the ids of a file as bytes, in portions; None if workers do not pay.

    Args:
        encoding: the encoding.
        path: the file.
        allowed: the names of special tokens that are tokens in it.
        write: writes ids; other processes import it by its name.
        jobs: the largest number of processes; None for as many as can run at the same time.
        reading: how the file is read.

    Raises:
        CommandError: the file cannot be read or is not UTF-8; the vocabulary has no token for a
            part of the text. It is raised after the portions before it.
    """
    # The words of a baseline are numbered as they come, in one process.
    if path == STDIN or isinstance(encoding, Baseline) or reading.encoding is not None:
        return None
    try:
        status = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    most = most_workers(status.st_size, jobs)
    if not most:
        return None
    parts = cut_parts([encoding], path, status.st_size, allowed)
    encoder = _PartEncoder(encoding, reading, allowed, write)
    return _portions(encoder, parts, most) if len(parts) > 1 else None


def _portions(
    encoder: _PartEncoder, parts: Sequence[tuple[Part, int]], most: int
) -> Generator[bytes, None, None]:
    """Yield the ids of each part, in order; they may be empty. A part comes with its size."""
    from ...parallel.pool import Pool

    size = sum(size for _, size in parts)
    with (
        Pool(_PartEncoder, encoder, min(most, len(parts)), forks=True) as pool,
        FileProgress(1, size, until_output=True) as progress,
    ):
        for outcome, (_, size) in zip(_outcomes(pool, encoder, [part for part, _ in parts]), parts):
            if outcome.error:
                raise CommandError(outcome.error)
            yield outcome.ids
            progress.advance(size)


class _Outcome(NamedTuple):
    """The outcome of a part: its ids, or an error."""

    ids: bytes
    error: str = ""


def _outcomes(pool: Pool, encoder: _PartEncoder, parts: Sequence[Part]) -> Iterator[_Outcome]:
    """Yield the outcome of each part in order."""
    from ...parallel.pool import WorkerKilled

    waiting: dict[int, _Outcome] = {}
    given = 0
    ahead = 2 * pool.size  # few, since their ids wait for those of the parts before them
    for index, part in enumerate(parts):
        with suppress(WorkerKilled):
            while given < min(len(parts), index + ahead):
                for number, outcome in pool.give((given, parts[given])):
                    waiting[number] = outcome
                given += 1
            while index not in waiting and pool.is_busy:
                for number, outcome in pool.arrived(_PATIENCE):
                    waiting[number] = outcome
        if index not in waiting:  # no worker could be started, or the one that had it was killed
            waiting[index] = encoder.encode(part)
        yield waiting.pop(index)


class _PartEncoder(NamedTuple):
    """An encoder of parts of files, in this process or as a worker."""

    encoding: Encoding
    reading: Reading
    allowed: Set[str]
    write: Write

    def encode(self, part: Part) -> _Outcome:
        """Return the ids of a part, or why there are none."""
        name = shown_name(part.path)
        encoding = self.encoding.continued if part.start else self.encoding
        try:
            with open(part.path, "rb") as file:
                file.seek(part.start)
                data = file.read(-1 if part.end is None else part.end - part.start)
            if part.start == 0 and self.reading.errors != "replace":
                check_mark(data)
            text = self.reading.decoded(data, part.start)
            if has_surrogates(text):
                ids = list(encoded(Pieces(encoding, [text], self.allowed, name)))
            else:
                with errors_of(encoding, name):
                    ids = encoding.encode(text, allowed_special=self.allowed, disallowed_special=())
        except CommandError as error:
            return _Outcome(b"", error.message)
        except OSError as error:
            return _Outcome(b"", f"{name}: {error.strerror or error}")
        except ValueError as error:
            return _Outcome(b"", f"{name}: {error}")
        return _Outcome(self.write(ids))

    def do(self, task: tuple[int, Part], tell: Tell) -> None:
        """Tell the index and the outcome of a part, in a worker."""
        index, part = task
        tell((index, self.encode(part)))

    def finish(self, tell: Tell) -> None:
        pass
