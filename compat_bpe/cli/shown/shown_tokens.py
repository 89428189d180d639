"""The tokens of a text as they are shown: what each stands for, and what none stands for.

Mostly the tokens, joined, are the text, so each is shown as its own bytes. Other tokenizers change
a text before they split it, drop some of it, or have a token for what is unknown. Then a token is
shown as the part of the text that it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import lru_cache
from typing import NamedTuple

from ... import Encoding
from ...fit.stream import Cutter, portions
from ...pipeline.chunks import joins_to_text
from ...pipeline.offsets import Located, locate
from ...unicode.text import replace_escaped
from ..ids import encoded, errors_of

#: The largest number of tokens whose look is cached.
_CACHED = 1 << 14


class Look(NamedTuple):
    """The look of a token, or of text that no token stands for.

    Args:
        id: the id; None for text that no token stands for.
        data: the bytes that are shown.
        kind: ``"special"``, ``"unknown"`` or ``"gap"``; empty for an ordinary token.
        token: the token as in the vocabulary, if it is otherwise; else empty.
    """

    id: int | None
    data: bytes
    kind: str = ""
    token: str = ""


class Placed(NamedTuple):
    """A token and its place in the text, in characters."""

    look: Look
    start: int
    end: int


def looks(
    encoding: Encoding, pieces: Iterable[str], allowed: Set[str], name: str
) -> Iterator[Look]:
    """Yield the looks of the tokens of a text that comes in pieces, and of what is between them.

    Args:
        encoding: the encoding.
        pieces: the text, cut anywhere; as in ``encoded``.
        allowed: the names of special tokens that are tokens in it.
        name: the name of the text in messages.

    Raises:
        CommandError: the vocabulary has no token for a part of the text.

    >>> from compat_bpe import get_encoding
    >>> for look in looks(get_encoding("words"), ["a  b"], frozenset(), "x"):
    ...     print(look.data, look.kind or "token")
    b'a' token
    b'  ' gap
    b'b' token
    """
    if not joins_to_text(encoding.core):
        for _, placed in placed_parts(encoding, pieces, allowed, name):
            for one in placed:
                yield one.look
        return

    @lru_cache(_CACHED)
    def look(token: int) -> Look:
        data = encoding.decode_single_token_bytes(token)
        return Look(token, data, "special" if encoding.is_special_token(token) else "")

    yield from map(look, encoded(encoding, pieces, allowed, name))


def placed_parts(
    encoding: Encoding, pieces: Iterable[str], allowed: Set[str], name: str
) -> Iterator[tuple[str, list[Placed]]]:
    """Yield parts of a text, and the tokens and gaps of each.

    Places are counted from the beginning of the part. Bytes that are not UTF-8 are U+FFFD.
    Arguments and errors are as in ``looks``.
    """
    cutter = Cutter(encoding, frozenset(allowed))
    model = encoding.core.model

    def parts() -> Iterator[str]:
        for piece in pieces:
            yield from map(cutter.feed, portions(replace_escaped(piece)))
        yield cutter.finish()

    gap = ""  # at the end of the last part, where it may go on
    goes_on = False
    for part in filter(None, parts()):
        with errors_of(encoding, name):
            tokens = locate(encoding.core.definition, part, allowed, goes_on=goes_on)
        goes_on = True
        shift = len(gap)
        tokens = [one._replace(start=one.start + shift, end=one.end + shift) for one in tokens]
        part = gap + part
        placed = list(_with_gaps(encoding, part, tokens, model.unknown_id))
        gap = ""
        if placed[-1].look.kind == "gap":
            gap = part[placed.pop().start :]
        yield part[: len(part) - len(gap)], placed
    if gap:
        yield gap, [_gap(gap, 0, len(gap))]


def _with_gaps(
    encoding: Encoding, text: str, tokens: Sequence[Located], unknown: int | None
) -> Iterator[Placed]:
    at = 0
    for number, token in enumerate(tokens):
        start, end = token.start, token.end
        if at < start:
            yield _gap(text, at, start)
        after = tokens[number + 1].start if number + 1 < len(tokens) else end
        shares = start < at or after < end or start == end
        kind = _kind(encoding, token, text[start:end], unknown)
        data = encoding.decode_single_token_bytes(token.id)
        # One of several tokens of a character, or of none, is shown as what it is decoded to.
        if not shares and (kind or _is_text(data)):
            data = text[start:end].encode()
        elif kind == "unknown":
            data = token.text.encode()
        written = "" if token.text.encode() == data else token.text
        yield Placed(Look(token.id, data, kind, written), start, end)
        at = max(at, end)
    if at < len(text):
        yield _gap(text, at, len(text))


def _gap(text: str, start: int, end: int) -> Placed:
    return Placed(Look(None, text[start:end].encode(), "gap"), start, end)


def _kind(encoding: Encoding, token: Located, text: str, unknown: int | None) -> str:
    # The token for what is unknown may be special, and named in the text.
    if token.id == unknown and text.strip() not in encoding.special_tokens_set:
        return "unknown"
    return "special" if encoding.is_special_token(token.id) else ""


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
