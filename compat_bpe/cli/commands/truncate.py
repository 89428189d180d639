"""``compat-bpe truncate``: cut a text to a number of tokens."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import click

from ... import Encoding
from ..app import option
from ..count_view import estimate_mark
from ..input import (
    KeptBytes,
    Reading,
    file_argument,
    read_all,
    read_pieces,
    reading_options,
    replace_escaped,
    unescape,
)
from ..options.encoding import NamedEncoding, estimate_option, limit_option, loaded
from ..output import (
    CommandError,
    command_errors,
    plural,
    shown_name,
    write_bytes,
    write_line,
    write_message,
)
from ..tokens import Pieces, encoded

if TYPE_CHECKING:
    from ...fit.boundary import Boundary
    from ...fit.truncate import Keep, Truncated

#: The nouns for the units on both sides of a cut.
_NOUNS: Mapping[str, str] = {"line": "lines", "word": "words", "char": "characters"}


@click.command()
@file_argument
@limit_option("Keep at most N tokens", required=True)
@option(
    "--keep",
    "Keep the beginning, the end, or both.",
    type=click.Choice(["head", "tail", "ends"]),
    default="head",
)
@option(
    "--boundary",
    "Cut between any two characters, between words, or between lines. A line that does not fit is "
    "cut between words, and a word that does not fit between characters.",
    type=click.Choice(["char", "word", "line"]),
    default="char",
)
@option(
    "--marker TEXT",
    "Put TEXT where text was cut; \\n, \\t, \\r, \\0 and \\\\ are escapes. Default: … for --keep "
    "ends, on a line of its own if cut between lines; otherwise nothing.",
    type=unescape,
)
@estimate_option
@reading_options
@option("--report", "Report the kept part on standard error.")
@option("--json", "Print the kept text and the report as a JSON object.", to="as_json")
@option("--exit-code", "Exit with status 1 if something was cut.")
def truncate(
    file: str,
    limit: int,
    keep: Keep,
    boundary: Boundary,
    marker: str | None,
    named: NamedEncoding,
    reading: Reading,
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

    If cutting at --boundary would leave only white space at an end, that end is cut at the next
    finer boundary, and a message says so.

    Bytes that are not UTF-8 count as U+FFFD, as with count --errors replace. With --errors strict,
    the input is read to its end, and nothing is written if any of it is not UTF-8.

    The object of --json has the keys "text" (or, if it is not UTF-8, "hex": its bytes in
    hexadecimal); "cut" (a boolean); "tokens", "characters" and "bytes" of the text; "kept", the
    kept slices of the input as a list of [start, end] in characters; "boundary", the finest at
    which it was cut, or null; "input", an object with the "characters" and "bytes" of the input, or
    null if not all of it was needed; and "estimate", the reason why the tokens are an estimate, or
    null.
    """
    answer = named.answer()
    chosen, limit = loaded(answer, named.pattern), answer.limit(limit)
    if keep == "head":
        escaped, is_whole = _read_head(file, reading, chosen, limit, look_for_end=report or as_json)
    else:
        escaped, is_whole = read_all(file, reading), True
    source = KeptBytes(escaped)
    text = source.text
    with command_errors():
        result = chosen.truncate(text, limit, keep=keep, boundary=boundary, marker=marker)
    result = _with_clean_seam(result, source, chosen, limit)
    result = replace(result, count=answer.tokens(result.count))
    data = _bytes(result, source)
    finest = _finest_cut(result, text, boundary)
    if as_json:
        import json  # only this form needs it

        is_text = data == result.text.encode()
        size = {"characters": len(text), "bytes": len(source.bytes_of(0, len(text)))}
        written = {
            **({"text": result.text} if is_text else {"hex": data.hex()}),
            "cut": result.was_cut,
            "tokens": result.count,
            "characters": len(result.text),
            "bytes": len(data),
            "kept": result.kept,
            "boundary": finest,
            "input": size if is_whole else None,
            "estimate": answer.note or None,
        }
        write_line(json.dumps(written))
    else:
        write_bytes(data)
        if finest not in (None, boundary):
            write_message(
                f"{shown_name(file)}: no boundary between {_NOUNS[boundary]} within the limit; cut "
                f"between {_NOUNS[finest]} instead"
            )
        elif limit and result.was_cut and not result.kept:
            write_message(f"{shown_name(file)}: not one character fits within the limit")
        if report:
            rest = "only checked" if reading.errors == "strict" else "not read"
            mark = estimate_mark() if answer.note else ""
            words = _as_words(result, text, is_whole, rest, mark)
            write_message(f"{shown_name(file)}: {words}")
        if answer.note:
            write_message(f"an estimate: {answer.note}")
    if exit_code and result.was_cut:
        sys.exit(1)


def _read_head(
    file: str, reading: Reading, encoding: Encoding, limit: int, *, look_for_end: bool
) -> tuple[str, bool]:
    """Return enough of a text to cut its beginning, and True if that is the whole text.

    What is not UTF-8 is as ``read_pieces`` gives it.

    A certain id stays, no matter how the text goes on. Once more ids are certain than fit, no
    beginning longer than the text read so far fits.
    """
    pieces: list[str] = []
    unread = read_pieces(file, reading)

    def taken() -> Iterator[str]:
        for piece in unread:
            pieces.append(piece)
            yield replace_escaped(piece)

    source = taken()
    ids = encoded(Pieces(encoding, source, frozenset(), shown_name(file)))
    is_whole = next(islice(ids, min(limit, sys.maxsize), None), None) is None
    if not is_whole and reading.errors == "strict":
        # Check the whole text, or the ends of pieces would decide what is an error.
        is_whole = not max(map(bool, unread), default=False)
    elif not is_whole and look_for_end:
        with suppress(CommandError):  # errors in the rest do not matter
            is_whole = not any(source)
    return "".join(pieces), is_whole


def _with_clean_seam(
    result: Truncated, source: KeptBytes, encoding: Encoding, limit: int
) -> Truncated:
    """Shorten the tail until the bytes where it joins the head are those that were counted.

    Without a marker, bytes that are not UTF-8 may make a character there.
    """
    while len(result.kept) == 2:
        head, (begin, whole) = result.kept
        if len(result.text) != head[1] + whole - begin:  # a marker is between them
            break
        sides = source.bytes_of(head[1] - 1, head[1]), source.bytes_of(begin, begin + 1)
        apart = "".join(side.decode("utf-8", "replace") for side in sides)
        if b"".join(sides).decode("utf-8", "replace") == apart and result.count <= limit:
            break
        begin += 1
        text = result.text[: head[1]] + source.text[begin:]
        kept = (head, (begin, whole)) if begin < whole else (head,)
        result = replace(result, text=text, count=encoding.count(text), kept=kept)
    return result


def _bytes(result: Truncated, source: KeptBytes) -> bytes:
    """Return the kept bytes, with the marker where something was cut."""
    if not result.was_cut:
        return source.bytes_of(0, len(source.text))
    head = next((end for start, end in result.kept if start == 0), 0)
    tail = next((start for start, _ in result.kept if start), len(source.text))
    marker = result.text[head : len(result.text) - (len(source.text) - tail)]
    return b"".join(
        [source.bytes_of(0, head), marker.encode(), source.bytes_of(tail, len(source.text))]
    )


def _finest_cut(result: Truncated, text: str, boundary: Boundary) -> Boundary | None:
    """Return the finest boundary at which a text was cut; None if it was not, or is all gone."""
    from ...fit.boundary import boundary_at, with_finer

    places = {place for part in result.kept for place in part} - {0, len(text)}
    names = with_finer(boundary)
    return max((boundary_at(text, at, names) for at in places), key=names.index, default=None)


def _as_words(result: Truncated, text: str, is_whole: bool, rest: str, mark: str) -> str:
    tokens = f"{mark}{plural(result.count, 'token', '')}"
    kept = sum(end - start for start, end in result.kept)
    if not result.was_cut:
        return f"not cut: {tokens}, {plural(kept, 'character', '')}"
    if is_whole:
        return f"cut to {tokens}, {kept} of {len(text)} characters"
    return f"cut to {tokens}, {kept} characters; the rest was {rest}"
