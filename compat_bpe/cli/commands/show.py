"""``compat-bpe show``: make the tokens of a text visible."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Set
from itertools import chain

import click

from ... import Encoding
from ...files.text import STDIN
from ..app import option
from ..input import (
    INPUT_PATH,
    Reading,
    check_utf8,
    expanded_globs,
    read_all,
    read_pieces,
    reading_options,
    replace_escaped,
)
from ..options.encoding import NamedEncoding, allowed_special, encoding_option, special_options
from ..output import (
    CommandError,
    is_terminal,
    plural,
    portions,
    shown_name,
    write_bytes,
    write_line,
    write_message,
    write_text,
)
from ..token_view import (
    IDS_SWITCH,
    PAGE_END,
    lines_of,
    merge_page,
    merges_as_json,
    page_start,
    section,
    shown_merges,
    text_of,
)
from ..tokens import Look, Pieces, looks, placed_tokens


@click.command(short_help="Show the tokens of a text.")
@click.argument("texts", nargs=-1, type=INPUT_PATH, metavar="[FILE|-]...")
@encoding_option
@reading_options
@special_options
@option("--ids", "Show one token per line, after its id.")
@option("--merges", "Show how each WORD is merged, step by step: show --merges WORD...")
@option("--json", "Write one JSON object per line.", to="as_json")
@option("--html", "Write an HTML page of the tokens, or of --merges.", to="as_html")
@option(
    "--color",
    "Color tokens. auto: on a terminal, unless NO_COLOR is set.",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
)
@option("-q --quiet", "Leave out the line with the number of tokens.")
def show(
    texts: tuple[str, ...],
    named: NamedEncoding,
    reading: Reading,
    special: bool,
    names: tuple[str, ...],
    ids: bool,
    merges: bool,
    as_json: bool,
    as_html: bool,
    color: str,
    quiet: bool,
) -> None:
    """Show the tokens of a text, or how words are merged.

    \b
    Examples:
      $ compat-bpe show -m gpt-4o README.md
      $ echo 'naïve 世界' | compat-bpe show --ids
      $ compat-bpe show --color always README.md | less -R
      $ compat-bpe show --html README.md > tokens.html
      $ compat-bpe show --json README.md | jq -c '[.id, .text]'
      $ compat-bpe show --merges hugs " hugging"

    Without FILE, or with -, read standard input. Each of several FILEs is shown under its name.
    Those that cannot be read are reported, and the exit status is 2. On a terminal, a line above
    the tokens has the numbers of tokens and characters; elsewhere, that line comes last, on
    standard error.

    On a terminal, tokens have alternating colors, and special tokens are red. Elsewhere, tokens
    are separated by |, and special tokens are enclosed in \\[ and \\]. A newline is shown as \\n
    and ends the line. Other invisible characters are escaped: \\t, \\x1b, \\u200b. A backslash is
    shown as \\\\, and a | of the text as \\|.

    Tokens that share a character are shown together, enclosed in \\{ and \\} and followed by their
    number, as in \\{世\\}2; in colors, the number is raised. With --ids, each of them has a line
    with the whole character, its place among them, and its own bytes, such as \\xe4.

    If the tokenizer changes text or leaves some out, a token is shown as the part of the text that
    it stands for. Text without a token, such as dropped white space, is dimmed, or enclosed in \\(
    and \\). Unknown text is magenta, or enclosed in \\< and \\>. With --ids, the token as in the
    vocabulary follows if it differs.

    Bytes that are not UTF-8 are kept as tokens of their own, and shown as \\xe9. --merges, and a
    vocabulary that does not merge bytes, have U+FFFD in their place.

    With --merges, the arguments are words or other text. Each line shows a state of merging a
    chunk, and beside it the pairs that could be merged next, each with its rank; the pair of the
    lowest rank is merged. If the vocabulary has a list of merges, #N is the number in that list,
    from 1. The last line has the ids. On a terminal, or if COLUMNS is set, long lines are
    shortened, and "… 5 more" says how many pairs are left out.

    Models that do not merge have other steps. WordPiece: at each place the pieces that are tried,
    the longest first, until one is in the vocabulary. Unigram: for each place the pieces that begin
    there, with their scores, then the best way to write the chunk, and the second best.

    With --json, each token is an object. "id" is its id, and "text" its text. A token that is not
    made of whole characters has "hex" instead: its bytes in hexadecimal. "special" is true for a
    special token, and absent otherwise. "characters", "bytes" (of UTF-8) and "utf16" (units) are
    its place in the text, as [start, end]. A token that begins or ends within a character covers
    all of it in "characters" and "utf16". With several FILEs, "path" comes first. See encode --help
    for tokenizers that change text.

    With --merges --json, each chunk is an object with the keys "chunk"; "is_token", true if the
    whole chunk is a token, which is then not merged; "steps", each with "parts" and "pairs", a
    list of objects with the "place" of the left part and the "rank", both from 0, and the "id" of
    the merged token; and "ids". A special token has the keys "special", its name, and "ids". Bytes
    are escaped as above. WordPiece has "is_unknown" and "steps", each with its "place", the pieces
    "tried" and the "id" of the last one, or null. Unigram has the "lattice", a list of pieces with
    "start", "end", "piece", "id" and "score", and the "ways", each with "score" and "pieces". Other
    models have "tokens".
    """
    if ids + merges > 1 or as_json + as_html > 1 or (ids and (as_json or as_html)):
        raise click.UsageError(
            "--ids, --merges, --json and --html exclude each other, except --merges with --json or "
            "--html."
        )
    chosen = named.load()
    allowed = allowed_special(chosen, special, names)
    colored = _is_colored(color)
    if merges:
        words = _words(texts, reading)
        if as_html:
            _write(merge_page(words, chosen, allowed))
            return
        if as_json:
            lines = merges_as_json(words, chosen, allowed)
        else:
            lines = shown_merges(words, chosen, allowed, colored=colored)
        for portion in portions(lines):
            write_text(portion, color=colored)
        return
    files = expanded_globs(texts) or (STDIN,)
    if as_html:
        write_bytes((page_start(f"Tokens of {chosen.name}") + IDS_SWITCH).encode())
    is_complete = True
    for number, file in enumerate(files):
        name = shown_name(file)
        try:
            if as_json:
                lines = placed_tokens(Pieces(chosen, read_pieces(file, reading), allowed, name))
                if len(files) > 1:
                    head = f'{{"path": {json.dumps(file)}, '
                    lines = (head + line[1:] for line in lines)
                _write(lines)
                continue
            tokens = _Tokens(chosen, reading, allowed, file)
            if as_html:
                summary = () if quiet else (tokens.summary() for _ in range(1))
                _write(section(name, tokens, summary))
                continue
            if len(files) > 1:
                write_text("\n" if number else "")
                write_line(f"==> {name} <==")
            width = len(str(chosen.max_token_value)) if ids else None
            _write_tokens(tokens, width, name, colored=colored, quiet=quiet)
        except CommandError as error:
            # Closed standard output is an error of the command, not of a file.
            if sys.stdout is None:
                raise
            error.show()
            is_complete = False
    if as_html:
        write_bytes(PAGE_END.encode())
    if not is_complete:
        sys.exit(CommandError.exit_code)


class _Tokens:
    """The tokens of a text as it comes, and their number so far; the file is opened at once."""

    def __init__(self, encoding: Encoding, reading: Reading, allowed: Set[str], file: str) -> None:
        pieces = read_pieces(file, reading)
        read = self._counted(chain([next(pieces, "")], pieces))
        self._looks = looks(Pieces(encoding, read, allowed, shown_name(file)))
        self._tokens = self._characters = 0

    def _counted(self, pieces: Iterable[str]) -> Iterator[str]:
        for piece in pieces:
            self._characters += len(replace_escaped(piece))
            yield piece

    def __iter__(self) -> Iterator[Look]:
        for look in self._looks:
            self._tokens += look.id is not None
            yield look

    def summary(self) -> str:
        """Return the numbers of tokens and characters in words."""
        tokens, characters = plural(self._tokens, "token", ""), self._characters
        return f"{tokens}, {plural(characters, 'character', '')}"


def _write(lines: Iterable[str]) -> None:
    for portion in portions(lines):
        write_bytes(portion.encode())


def _write_tokens(
    tokens: _Tokens, width: int | None, name: str, *, colored: bool, quiet: bool
) -> None:
    """Write tokens for people to read: in running text, or a line each, after ids of this width."""
    found: Iterable[Look] = tokens
    on_terminal = is_terminal(sys.stdout)
    failure: CommandError | None = None
    if on_terminal and not quiet:  # which has the numbers above the tokens
        found = []
        try:
            found.extend(tokens)
        except CommandError as error:
            failure = error
        else:
            write_line(tokens.summary())
    lines = (
        text_of(found, colored=colored)
        if width is None
        else lines_of(found, width, colored=colored)
    )
    at_end_of_line = True
    try:
        for portion in portions(lines):
            write_text(portion, color=colored)
            at_end_of_line = portion.endswith("\n") if portion else at_end_of_line
    except CommandError as error:
        failure = error
    if not at_end_of_line:
        write_text("\n")
    if failure is not None:
        raise failure
    if not quiet and not on_terminal:
        write_message(f"{name}: {tokens.summary()}")


def _words(texts: tuple[str, ...], reading: Reading) -> Iterator[str]:
    """Yield the arguments, and standard input for ``-`` or if there is no argument."""
    for text in texts or (STDIN,):
        yield replace_escaped(read_all(STDIN, reading)) if text == STDIN else check_utf8(text)


def _is_colored(color: str) -> bool:
    """Return True if tokens are colored, by the value of ``--color``."""
    if color != "auto":
        return color == "always"
    # https://no-color.org
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return is_terminal(sys.stdout)
