"""``compat-bpe split``: cut a text, or pack files, into parts of a number of tokens."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import click

from ...files.documents import NotebookError, is_notebook, notebook_source
from ...files.text import STDIN, check_beginning, open_bytes
from ...files.walk import Walk
from ...files.write import write_files
from ...unicode.text import CONTROLS
from ..app import given_options, option
from ..input import (
    KeptBytes,
    Reading,
    announce_wait,
    notebooks_option,
    paths_argument,
    read_all,
    reading_options,
    reason_of,
    unescape,
    walk_options,
)
from ..options.encoding import NamedEncoding, TokenNumber, estimate_option, limit_option, loaded
from ..output import (
    CommandError,
    check_new_file,
    check_outputs,
    command_errors,
    complaint,
    shown_name,
    vocabulary_inputs,
    write_bytes,
    write_line,
    write_message,
)
from ..progress import Progress

if TYPE_CHECKING:
    from ...fit.split import PackedPart, PackedText

#: The least number of digits in the names of parts.
_DIGITS = 4


@click.command(short_help="Split a text into parts of N tokens.")
@paths_argument("paths", "[PATH|-]...")
@limit_option("Put at most N tokens in a part", least=1, required=True)
@option(
    "--files",
    "Pack whole files, also those in directories. Each part has as many of the next files as fit, "
    "each below a line with its name. A file that does not fit in one part is cut.",
    to="as_files",
)
@option(
    "--overlap M",
    "Repeat up to M tokens of a part's end at the start of the next part.",
    type=TokenNumber(min=0),
    default=0,
)
@option(
    "--boundary",
    "Cut between any two characters, between words, or between lines. A word or a line that does "
    "not fit in one part is cut anyway.",
    type=click.Choice(["char", "word", "line"]),
    default="char",
)
@walk_options
@notebooks_option
@estimate_option
@reading_options
@option(
    "-o --output PREFIX",
    "Write each part to a file: PREFIX0001.txt, PREFIX0002.txt and so on.",
    to="prefix",
    type=click.Path(),
)
@option("--suffix TEXT", "End the names of the files with TEXT.", type=click.Path(), default=".txt")
@option("--force", "Overwrite files that exist.")
@option(
    "--separator TEXT",
    "Write all parts with TEXT between them; \\n, \\t, \\r, \\0 and \\\\ are escapes.",
    type=unescape,
)
@option("-0 --null", "Write all parts with a NUL byte after each.")
@option("--json", "Write each part as a JSON object on a line.", to="as_json")
def split(
    paths: tuple[str, ...],
    limit: int,
    as_files: bool,
    overlap: int,
    boundary: Literal["char", "word", "line"],
    walk: Walk,
    notebooks: bool,
    named: NamedEncoding,
    reading: Reading,
    prefix: str | None,
    suffix: str,
    force: bool,
    separator: str | None,
    null: bool,
    as_json: bool,
) -> None:
    """Split a text into parts of at most N tokens, or pack files into them.

    \b
    Examples:
      $ compat-bpe split -n 2000 --boundary line -o part- book.txt
      $ compat-bpe split -n 100k --files -o context- src/
      $ compat-bpe split -n 500 --overlap 50 --json README.md | jq -r .text
      $ compat-bpe split -n 500 --separator '\\n-----\\n' README.md
      $ compat-bpe split -n 2000 -0 book.txt | xargs -0 -n 1 summarize

    Without PATH, or with -, read standard input. Each part follows the one before, and is as long
    as possible. Joined, the parts are the text, byte for byte, unless they overlap. Names of
    special tokens are plain text.

    With --files, there may be several PATHs, and directories. Each part is a run of files in their
    order. The line "==> NAME <==" comes before each file, and "==> NAME (continued) <==" before the
    rest of a file that is cut; these lines count, too. If a file does not end with a newline, one
    is added before the next such line. Everything else is the content of the files, byte for byte.
    In a directory, files are chosen as by count: those that git ignores are left out, and those
    that are binary (with --errors strict, also those that are not UTF-8) are skipped and named. If
    a PATH is such a file, or a file cannot be read, that is an error, and no part is written.

    One of --output, --separator, --null and --json is required. --output prints the names of the
    files, which appear only when all parts are written. A file that exists is overwritten only
    with --force, and the input never.

    Bytes that are not UTF-8 count as U+FFFD, as with count --errors replace.

    With --json, each object has the keys "start" and "end" (in characters), "tokens", and "text",
    or "path" if the parts are written to files. A part that is not UTF-8 has "hex" in place of
    "text", its bytes in hexadecimal. With --files, "files" replaces "start" and "end": a
    list of objects with "path"; "start" and "end", the characters of the file that are in the part;
    and "at", the place in the part at which they begin.
    """
    if not as_files and len(paths) > 1:
        raise click.UsageError(
            f"{paths[1]!r} is a second PATH; pass --files to split several files."
        )
    given, of_files = given_options(), ("--include", "--exclude", "--hidden", "--no-ignore")
    if not as_files and (notebooks or any(map(given.__getitem__, of_files))):
        raise click.UsageError("options about files need --files.")
    if (prefix is not None) + (separator is not None) + null + (as_json and prefix is None) != 1:
        raise click.UsageError(
            "say where the parts go: --output PREFIX, --separator TEXT, --null or --json "
            "(--output and --json go together)."
        )
    if as_files and not paths:
        raise click.UsageError("--files needs a PATH, such as a directory.")
    if as_files and overlap:
        raise click.UsageError("--files and --overlap exclude each other.")
    answer = named.answer()
    chosen = loaded(answer, named.pattern)
    from ...fit.longest_part import message_of
    from ...fit.split import check_sizes, iter_parts, pack_texts

    with command_errors():
        check_sizes(limit, overlap)  # in the user's tokens, also where these are estimated
    limit, overlap = answer.limit(limit), answer.limit(overlap)
    texts = (
        _texts(paths, walk, reading, notebooks=notebooks)
        if as_files
        else {path: KeptBytes(read_all(path, reading)) for path in paths or (STDIN,)}
    )
    if null:
        _check_no_nul(texts)
    try:
        if as_files:
            read = list(texts)
            headed = ((_in_header(path), kept.text) for path, kept in texts.items())
            parts = [
                _Part(
                    part.text,
                    _bytes_of(part, list(texts.values())),
                    answer.tokens(part.count),
                    {"files": _places(part.texts, read)},
                )
                for part in pack_texts(chosen, headed, limit, boundary)
            ]
        else:
            (source,) = texts.values()
            parts = []
            done = 0
            with Progress(len(source.text), "characters") as progress:
                for cut in iter_parts(chosen, source.text, limit, overlap, boundary):
                    data = source.bytes_of(cut.start, cut.end)
                    places: dict[str, object] = {"start": cut.start, "end": cut.end}
                    parts.append(_Part(cut.text, data, answer.tokens(cut.count), places))
                    progress.advance(cut.end - done)
                    done = cut.end
    except ValueError as error:
        raise CommandError(message_of(error, answer.tokens)) from None

    if answer.note:
        write_message(f"an estimate: {answer.note}")
    if prefix is not None:
        outputs = _paths(prefix, suffix, len(parts))
        _check_new(outputs, force)
        check_outputs(outputs, [*texts, *vocabulary_inputs(named.encoding)])
        with command_errors():
            write_files((path, part.data) for path, part in zip(outputs, parts))
        for path, part in zip(outputs, parts):
            write_line(part.as_json(path=path) if as_json else path)
    elif as_json:
        for part in parts:
            is_text = part.data == part.text.encode()
            write_line(
                part.as_json(**({"text": part.text} if is_text else {"hex": part.data.hex()}))
            )
    elif null:
        write_bytes(b"".join(part.data + b"\0" for part in parts))
    elif separator is not None:
        write_bytes(separator.encode().join(part.data for part in parts))


class _Part(NamedTuple):
    """A part: its bytes, its tokens, and the members of its object about its content."""

    text: str
    data: bytes
    tokens: int
    places: dict[str, object]

    def as_json(self, **more: str) -> str:
        """Describe the part in one line of ASCII."""
        return json.dumps({**self.places, "tokens": self.tokens, **more})


def _texts(
    paths: Sequence[str], walk: Walk, reading: Reading, *, notebooks: bool
) -> dict[str, KeptBytes]:
    """Return the texts of files, and of those in directories, by their paths, each once.

    Args:
        paths: the files and directories.
        walk: the search of directories.
        reading: how a file is read.
        notebooks: True to take only the sources of notebooks.

    Raises:
        CommandError: a file cannot be read, or was named and is not text; all are reported. Or
            there are no files, and not because a directory is empty.
    """
    texts: dict[str, KeptBytes] = {}
    seen: set[str] = set()
    failures: list[CommandError] = []
    skipped = 0
    for found in walk.find(paths):
        path = found.path
        identity = path if path == STDIN else os.path.realpath(path)
        if identity in seen:
            continue
        seen.add(identity)
        if found.problem:
            failures.append(CommandError(complaint(path, found.problem)))
            continue
        announce_wait(path)
        try:
            kept = KeptBytes(_read(path, reading))
            is_source = notebooks and is_notebook(path)
            texts[path] = KeptBytes(_source(path, kept.text)) if is_source else kept
        except OSError as error:
            failures.append(CommandError(complaint(path, reason_of(error, path))))
        except ValueError as error:
            if found.is_named:
                failures.append(CommandError(complaint(path, str(error))))
            else:
                skipped += 1
                write_message(f"{shown_name(path)}: skipped: {error}")
    reasons = "all files were skipped" if skipped else walk.why_nothing()
    if not (texts or failures) and reasons:
        failures.append(CommandError(f"no files to split in {', '.join(paths)}: {reasons}"))
    for failure in failures[:-1]:
        failure.show()
    if failures:
        raise failures[-1]
    return texts


def _read(path: str, reading: Reading) -> str:
    """Return the text of a file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is binary, or not in the encoding.
    """
    with open_bytes(path) as file:
        data = reading.recoded(file).read()
    check_beginning(data, any_bytes=reading.errors == "replace")
    return reading.decoded(data)


def _bytes_of(part: PackedPart, sources: Sequence[KeptBytes]) -> bytes:
    """Return the bytes of a part: those of the files, with lines of UTF-8 between them."""
    data, done = [], 0
    for one in part.texts:
        data += [
            part.text[done : one.at].encode(),
            sources[one.source].bytes_of(one.start, one.end),
        ]
        done = one.at + one.end - one.start
    return b"".join([*data, part.text[done:].encode()])


def _source(path: str, text: str) -> str:
    """Return the sources of a notebook; for another file, its text, with a message."""
    try:
        return notebook_source(text)
    except NotebookError as error:
        write_message(complaint(path, f"not a notebook: {error}; read as it is"))
        return text


def _in_header(path: str) -> str:
    r"""Return the name of a file as a part has it: one line of UTF-8.

    >>> _in_header("a\nb\udce9.txt")
    'a\\nb\\udce9.txt'
    """
    return shown_name(path).translate(CONTROLS).encode("utf-8", "backslashreplace").decode()


def _places(texts: Sequence[PackedText], paths: Sequence[str]) -> list[dict[str, object]]:
    """Return where the stretches of files are in a part."""
    return [
        {"path": paths[one.source], "start": one.start, "end": one.end, "at": one.at}
        for one in texts
    ]


def _check_no_nul(texts: dict[str, KeptBytes]) -> None:
    """Refuse a NUL byte in a text.

    Raises:
        CommandError: there is one; the message says where.
    """
    for path, kept in texts.items():
        if "\0" in kept.text:
            offset = len(kept.bytes_of(0, kept.text.index("\0")))
            raise CommandError(
                f"{shown_name(path)}: NUL byte at offset {offset}, "
                "which --null would confuse with the end of a part; use --json"
            )


def _paths(prefix: str, suffix: str, count: int) -> list[str]:
    """Return the names of files, with equally many digits, so that they sort by number.

    >>> _paths("part-", ".txt", 2)
    ['part-0001.txt', 'part-0002.txt']
    """
    digits = max(_DIGITS, len(str(count)))
    return [f"{prefix}{number:0{digits}}{suffix}" for number in range(1, count + 1)]


def _check_new(paths: Sequence[str], force: bool) -> None:
    """Refuse existing files without ``force``, and always paths that are not regular files.

    Raises:
        CommandError: one of the files must not be written.
    """
    for path in paths:
        check_new_file(path, force=force)
        # A device or a pipe would be replaced, not written to.
        if os.path.exists(path) and not os.path.isfile(path):
            raise CommandError(f"{path}: not a regular file")
