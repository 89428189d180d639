"""``compat-bpe show``: where the tokens of a text begin and end."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from itertools import cycle, islice

import click

from compat_bpe import Encoding
from compat_bpe.cli.encoding_option import chosen_encoding, encoding_options
from compat_bpe.cli.output import can_show
from compat_bpe.cli.special_option import allowed_special, special_options
from compat_bpe.cli.streams import input_argument, read_pieces, write_text
from compat_bpe.fit.stream import encode_iter
from compat_bpe.visible import Visible, escape

#: Tokens that are written at a time.
_PORTION = 1 << 12

#: The backgrounds of tokens in turn, on which black can be read, and that of special tokens.
_BACKGROUNDS = ("cyan", "yellow")
_SPECIAL_BACKGROUND = "red"

_SEPARATOR = "|"


@click.command()
@input_argument
@encoding_options
@special_options
@click.option("--ids", is_flag=True, help="One token a line, with its id before it.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Whether tokens are told apart by colors; auto: on a terminal, unless NO_COLOR is set.",
)
def show(
    file: str,
    model: str | None,
    encoding: str | None,
    pattern: str | None,
    special: bool,
    names: tuple[str, ...],
    ids: bool,
    color: str,
) -> None:
    """Show the tokens of a text.

    With no FILE, or if FILE is -, standard input is read. On a terminal the tokens have colors in
    turn; elsewhere there is a | between them.

    What is shown says exactly what the text is. A newline is \\n, and ends the line as well. What
    else cannot be seen is \\t, \\x1b or \\u200b, for instance; a byte that is no whole character
    is \\xe4, a backslash \\\\, and a | in the text \\| where tokens are separated by it. A special
    token is in \\[ and \\], or red.

    \b
    Examples:
      $ compat-bpe show -m gpt-4o README.md
      $ echo 'naïve 世界' | compat-bpe show --ids
      $ compat-bpe show --color always README.md | less -R
    """
    chosen = chosen_encoding(model, encoding, pattern)
    allowed = allowed_special(chosen, special, names)
    colored = _is_colored(color)
    tokens = encode_iter(chosen, read_pieces(file), allowed_special=allowed, disallowed_special=())
    at_end_of_line = True
    for portion in _portions(_pieces(tokens, chosen, ids, colored)):
        write_text(portion, color=colored)
        at_end_of_line = portion.endswith("\n")
    if not at_end_of_line:
        write_text("\n")


def _is_colored(color: str) -> bool:
    if color != "auto":
        return color == "always"
    # https://no-color.org
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()


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
