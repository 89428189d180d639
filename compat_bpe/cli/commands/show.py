"""``compat-bpe show``: where the tokens of a text begin and end."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import cycle, islice

import click

from ... import Encoding
from ...files.text import STDIN
from ...fit.stream import encode_iter
from ...unicode.escape import Visible, escape
from ..merging import merges_as_json, shown_merges
from ..options.color import color_option, is_colored
from ..options.encoding import chosen_encoding, encoding_options
from ..options.special import allowed_special, special_options
from ..output import can_show
from ..streams import check_utf8, read_all, read_pieces, write_text

#: Tokens that are written at a time.
_PORTION = 1 << 12

#: The backgrounds of tokens in turn, on which black can be read, and that of special tokens.
_BACKGROUNDS = ("cyan", "yellow")
_SPECIAL_BACKGROUND = "red"

_SEPARATOR = "|"


@click.command()
@click.argument("texts", nargs=-1, type=click.Path(allow_dash=True), metavar="[FILE|-]")
@encoding_options
@special_options
@click.option("--ids", is_flag=True, help="One token a line, with its id before it.")
@click.option(
    "--merges",
    is_flag=True,
    help="Show how each WORD is merged, step by step: show --merges WORD...",
)
@click.option("--json", "as_json", is_flag=True, help="With --merges, a JSON object a line.")
@color_option
def show(
    texts: tuple[str, ...],
    model: str | None,
    encoding: str | None,
    pattern: str | None,
    special: bool,
    names: tuple[str, ...],
    ids: bool,
    merges: bool,
    as_json: bool,
    color: str,
) -> None:
    """Show the tokens of a text, or with --merges how they come about.

    With no FILE, or if FILE is -, standard input is read. On a terminal the tokens have colors in
    turn; elsewhere there is a | between them.

    What is shown says exactly what the text is. A newline is \\n, and ends the line as well. What
    else cannot be seen is \\t, \\x1b or \\u200b, for instance; a byte that is no whole character
    is \\xe4, a backslash \\\\, and a | in the text \\| where tokens are separated by it. A special
    token is in \\[ and \\], or red.

    With --merges, the arguments are not files but words or other text. Each chunk that the
    encoding's pattern cuts a text into is shown with every state that merging goes through, and
    beside it the pairs that could be joined then, each with its rank, which is the id of what it
    makes; the first, of the lowest rank, is the one that is joined. Of a vocabulary with a list of
    merges, #N is the place in that list. The last line has the ids.

    \b
    Examples:
      $ compat-bpe show -m gpt-4o README.md
      $ echo 'naïve 世界' | compat-bpe show --ids
      $ compat-bpe show --color always README.md | less -R
      $ compat-bpe show --merges hugs " hugging"

    The objects of --json have the keys "chunk"; "is_token", whether that is a token as a whole,
    which is not merged; "steps", each with "parts" and "pairs", a list of objects with the "place"
    of the left part and the "rank", both from 0, and the "id" of what they make; and "ids". Or they
    have "special", a special token's name, and "ids". Bytes are written as they are shown.
    """
    if merges and ids:
        raise click.UsageError("--merges and --ids exclude each other: give one of them.")
    if as_json and not merges:
        raise click.UsageError("--json is for --merges.")
    if len(texts) > 1 and not merges:
        raise click.UsageError(f"one FILE at a time: {texts[1]!r} is too many.")
    chosen = chosen_encoding(model, encoding, pattern)
    allowed = allowed_special(chosen, special, names)
    colored = is_colored(color)
    if merges:
        words = _words(texts)
        if as_json:
            lines = merges_as_json(words, chosen, allowed)
        else:
            lines = shown_merges(words, chosen, allowed, colored=colored)
        for portion in _portions(lines):
            write_text(portion, color=colored)
        return
    file = texts[0] if texts else STDIN
    tokens = encode_iter(chosen, read_pieces(file), allowed_special=allowed, disallowed_special=())
    at_end_of_line = True
    for portion in _portions(_pieces(tokens, chosen, ids, colored)):
        write_text(portion, color=colored)
        at_end_of_line = portion.endswith("\n")
    if not at_end_of_line:
        write_text("\n")


def _words(texts: tuple[str, ...]) -> Iterator[str]:
    """The arguments, and standard input where one is ``-`` or there is none."""
    for text in texts or (STDIN,):
        yield read_all(STDIN) if text == STDIN else check_utf8(text)


def _portions(pieces: Iterator[str]) -> Iterator[str]:
    return iter(lambda: "".join(islice(pieces, _PORTION)), "")


def _pieces(tokens: Iterator[int], encoding: Encoding, ids: bool, colored: bool) -> Iterator[str]:
    """What is shown of each token."""
    separator = "" if ids or colored else _SEPARATOR
    quote = '"' if ids and not colored else ""
    newline = "\\n" if ids else "\\n\n"
    ordinary = Visible(newline, separator or quote, can_show)
    special = Visible("\\n", "", can_show)
    width = len(str(encoding.max_token_value))

    @lru_cache(maxsize=1 << 14)
    def shown(token: int, background: str) -> str:
        data = encoding.decode_single_token_bytes(token)
        if not encoding.is_special_token(token):
            text = f"{quote}{escape(data, ordinary)}{quote}"
        elif colored:
            text = escape(data, special)
            background = _SPECIAL_BACKGROUND
        else:
            text = f"\\[{escape(data, special)}\\]"
        if colored:
            # A background that is on at the end of a line may fill the rest of it.
            lines = text.split("\n")
            text = "\n".join(line and click.style(line, "black", background) for line in lines)
        return f"{token:{width}}  {text}\n" if ids else text

    lead = ""
    for token, background in zip(tokens, cycle(_BACKGROUNDS)):
        yield lead + shown(token, background)
        lead = separator
