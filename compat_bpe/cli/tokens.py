"""The tokens of a text, for the commands that write them: ids, the text of each, and its offsets.

With most tokenizers, the joined tokens are the text, and each token is shown as its own bytes.
Others change a text before they split it, drop some of it, or have a token for unknown text. Then a
token is shown as the part of the text that it stands for. Tokens that share a character are shown
together, and ``placed_tokens`` gives each token with its offsets, as a line of JSON.
"""

from __future__ import annotations

import json
import sys
from array import array
from codecs import utf_8_decode
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from .. import Encoding
from ..encodings.tokenizer import Tokenizer
from ..pipeline.core import is_byte_level, joins_to_text
from ..pipeline.cutter import Cutter, portions
from ..pipeline.offsets import Located, locate
from ..pipeline.stream import StreamEncoder
from .input import replace_escaped, split_escaped
from .output import CommandError


@contextmanager
def errors_of(encoding: Encoding, name: str) -> Iterator[None]:
    """Raise ``CommandError`` where there is no token for a part of a text.

    Args:
        encoding: the encoding.
        name: the name of the text in messages.
    """
    try:
        yield
    except ValueError as error:
        raise CommandError(f"{name}: {encoding.name}: {error}") from None


class Pieces(NamedTuple):
    """A text that comes in pieces, to be encoded.

    Args:
        encoding: the encoding.
        pieces: the text, cut anywhere; bytes in it that are not UTF-8 are as Python's
            ``"surrogateescape"`` has them.
        allowed: the names of special tokens that are tokens in it.
        name: the name of the text in messages.
    """

    encoding: Encoding
    pieces: Iterable[str]
    allowed: Set[str]
    name: str


def encoded(text: Pieces) -> Iterator[int]:
    r"""Yield the ids of a text, each as soon as it is certain.

    Raises:
        CommandError: the vocabulary has no token for a part of the text; or raised by the pieces.

    >>> from compat_bpe import get_encoding
    >>> enc = get_encoding("gpt2")
    >>> ids = list(encoded(Pieces(enc, ["caf\udce9 au"], frozenset(), "x")))
    >>> [enc.decode_single_token_bytes(token) for token in ids]
    [b'c', b'af', b'\xe9', b' au']
    """
    for ids, _ in encoded_parts(text):
        yield from ids


def encoded_parts(text: Pieces) -> Iterator[tuple[Sequence[int], bytes]]:
    """Yield the ids of ``encoded`` in lists, each with the bytes that it stands for if not UTF-8.

    For text, the bytes are empty. Bytes that would be read as one U+FFFD are encoded as they are,
    as a chunk of their own. A vocabulary that does not merge bytes encodes the U+FFFD instead.
    """
    encoding, pieces, allowed, name = text
    merges_bytes = is_byte_level(encoding.core) and joins_to_text(encoding.core)
    with errors_of(encoding, name):
        encoder = StreamEncoder(encoding, allowed_special=allowed, disallowed_special=())
        following: StreamEncoder | None = None
        for piece in pieces:
            for part, data in split_escaped(piece):
                for portion in portions(part):
                    yield encoder.feed(portion), b""
                if data and merges_bytes:
                    yield encoder.finish(), b""
                    yield encoding.core.encode_single_piece(data), data
                    following = following or StreamEncoder(
                        encoding.continued, allowed_special=allowed, disallowed_special=()
                    )
                    encoder = following
                elif data:
                    yield encoder.feed("\ufffd"), b""
        yield encoder.finish(), b""


def with_added_tokens(encoding: Encoding, text: str, allowed: Set[str], name: str) -> list[int]:
    """Return the ids of a text, with those that the tokenizer adds at its beginning and end.

    Args:
        encoding, allowed, name: as in ``Pieces``.
        text: the text.

    Raises:
        CommandError: as in ``encoded``; or the encoding adds no tokens.
    """
    if not isinstance(encoding, Tokenizer):
        raise CommandError(f"{encoding.name} has no tokens that are added to every text")
    with errors_of(encoding, name):
        return encoding.encode(
            text, allowed_special=allowed, disallowed_special=(), add_special_tokens=True
        )


class IdLayout(NamedTuple):
    """A layout of ids: the text before, between and after them, if there are any."""

    before: str = ""
    between: str = " "
    after: str = "\n"
    #: The text if there are none.
    nothing: str = ""
    #: True for ids as bytes, little-endian uint32, without any text.
    is_packed: bool = False

    def write(self, ids: Sequence[int]) -> bytes:
        """Return some ids as bytes, without the text before and after them."""
        if not self.is_packed:
            return self.between.join(map(str, ids)).encode()
        packed = array("I", ids)
        if sys.byteorder == "big":
            packed.byteswap()
        return packed.tobytes()

    def joined(self, portions: Iterable[bytes]) -> Iterator[bytes]:
        """Yield portions of ids as ``write`` returns them, with the text around them.

        Empty portions are left out.

        >>> list(IdLayout("[", ", ", "]").joined([b"1, 2", b"", b"3"]))
        [b'[1, 2', b', 3', b']']
        """
        is_first = True
        for portion in portions:
            if portion:
                yield (self.before if is_first else self.between).encode() + portion
                is_first = False
        yield (self.nothing if is_first else self.after).encode()


LAYOUTS = {
    "spaces": IdLayout(),
    "lines": IdLayout(between="\n"),
    "json": IdLayout("[", ", ", "]\n", "[]\n"),
    "packed": IdLayout(between="", after="", is_packed=True),
}


#: The largest numbers of looks, ends and descriptions of tokens that are remembered.
_CACHED = 1 << 14


class Look(NamedTuple):
    """The look of a token, or of text that no token stands for.

    Args:
        id: the id; None for text that no token stands for.
        data: the bytes that are shown.
        kind: ``"special"``, ``"unknown"`` or ``"gap"``; empty for an ordinary token.
        token: the token as in the vocabulary, if it differs; else empty.
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


def looks(text: Pieces) -> Iterator[Look]:
    """Yield the looks of the tokens of a text, and of the text between them.

    Raises:
        CommandError: the vocabulary has no token for a part of the text.

    >>> from compat_bpe import get_encoding
    >>> for look in looks(Pieces(get_encoding("words"), ["a  b"], frozenset(), "x")):
    ...     print(look.data, look.kind or "token")
    b'a' token
    b'  ' gap
    b'b' token
    """
    encoding = text.encoding
    if not joins_to_text(encoding.core):
        for _, placed in placed_parts(text):
            for one in placed:
                yield one.look
        return

    @lru_cache(_CACHED)
    def look(token: int) -> Look:
        data = encoding.decode_single_token_bytes(token)
        return Look(token, data, "special" if encoding.is_special_token(token) else "")

    yield from map(look, encoded(text))


def placed_parts(text: Pieces) -> Iterator[tuple[str, list[Placed]]]:
    """Yield parts of a text, and the tokens and gaps of each; errors as of ``looks``.

    Places are counted from the beginning of the part. Bytes that are not UTF-8 are U+FFFD.
    """
    encoding, pieces, allowed, name = text
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
        # If tokens share a character, or stand for none, each is shown as its decoded text.
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
    # The token for unknown text may be special, and its name may be in the text.
    if token.id == unknown and text.strip() not in encoding.special_tokens_set:
        return "unknown"
    return "special" if encoding.is_special_token(token.id) else ""


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


#: The looks of tokens that are shown together; mostly it is one.
Unit = tuple[Look, ...]


def units(looks: Iterable[Look]) -> Iterator[Unit]:
    """Yield the looks of tokens, those of one character together.

    Tokens whose bytes make no characters, even together, are units of their own.

    >>> parts = [b"a", b"\\xe4\\xb8", b"\\x96b", b"c", b"\\xe4", b"d"]
    >>> [[look.data for look in unit] for unit in units(Look(1, part) for part in parts)]
    [[b'a'], [b'\\xe4\\xb8', b'\\x96b'], [b'c'], [b'\\xe4'], [b'd']]
    """
    waiting: list[Look] = []
    rest: bytes | None = b""  # the last bytes of those that wait, which begin a character
    for look in looks:
        rest = _rest(rest + look.data if rest else look.data)
        if waiting and (look.kind or rest is None):
            yield from ((one,) for one in waiting)
            waiting.clear()
            rest = _rest(look.data)
        waiting.append(look)
        if look.kind or not rest:
            yield tuple(waiting)
            waiting.clear()
            rest = b""
    yield from ((one,) for one in waiting)


def data_of(unit: Iterable[Look]) -> bytes:
    """Return the bytes of a unit."""
    return b"".join(look.data for look in unit)


@lru_cache(_CACHED)
def _rest(data: bytes) -> bytes | None:
    """Return the bytes at the end that begin a character; None if some bytes are not UTF-8."""
    try:
        _, used = utf_8_decode(data, "strict", False)
    except UnicodeDecodeError:
        return None
    return data[used:]


class _Description(NamedTuple):
    """The facts about a token that do not depend on its place.

    Args:
        size: its length in bytes.
        head: the beginning of its JSON object.
        begins_within: True if its first byte continues a character.
        characters, utf16: the number of characters, and of UTF-16 units, that begin in it.
        last_units: the UTF-16 units of the last character that begins in it; 0 if there is none.
    """

    size: int
    head: str
    begins_within: bool
    characters: int
    utf16: int
    last_units: int


def placed_tokens(text: Pieces) -> Iterator[str]:
    """Yield a JSON object for each token of a text.

    Places are half-open ranges in characters, UTF-8 bytes and UTF-16 units. Ranges of characters
    and units cover each character of which the token has a byte, so tokens that share a character
    overlap there. Ranges of bytes are exact if the tokens, joined, are the text; else they cover
    whole characters, too. Bytes that are not UTF-8 and stand for one U+FFFD are one character.

    Raises:
        CommandError: the vocabulary has no token for a part of the text.

    >>> from compat_bpe import get_encoding
    >>> for line in placed_tokens(Pieces(get_encoding("gpt2"), ["a", " 😀"], frozenset(), "x")):
    ...     print(line, end="")
    {"id": 64, "text": "a", "characters": [0, 1], "bytes": [0, 1], "utf16": [0, 1]}
    {"id": 30325, "hex": "20f09f98", "characters": [1, 3], "bytes": [1, 5], "utf16": [1, 4]}
    {"id": 222, "hex": "80", "characters": [2, 3], "bytes": [5, 6], "utf16": [2, 4]}
    """
    return (_joined if joins_to_text(text.encoding.core) else _located)(text)


def _joined(text: Pieces) -> Iterator[str]:
    """Yield the objects of tokens that, joined, are the text."""

    @lru_cache(_CACHED)
    def described(token: int) -> _Description:
        return _describe(text.encoding, token)

    begin = characters = utf16 = last_units = 0
    for ids, data in encoded_parts(text):
        if data:  # bytes that would be one U+FFFD
            characters, utf16, last_units = characters + 1, utf16 + 1, 1
        for token in ids:
            size, head, is_within, more_characters, more_utf16, more_last = described(token)
            if data:
                is_within, more_characters, more_utf16 = True, 0, 0
            end = begin + size
            start = characters - is_within
            start_utf16 = utf16 - (last_units if is_within else 0)
            characters += more_characters
            utf16 += more_utf16
            last_units = last_units if data else more_last or last_units
            yield (
                f'{head}"characters": [{start}, {characters}], "bytes": [{begin}, {end}], '
                f'"utf16": [{start_utf16}, {utf16}]}}\n'
            )
            begin = end


def _describe(encoding: Encoding, token: int) -> _Description:
    data = encoding.decode_single_token_bytes(token)
    special = '"special": true, ' if encoding.is_special_token(token) else ""
    # All bytes but 10xxxxxx begin a character; 11110xxx begins one of two UTF-16 units.
    units = [1 + (byte >= 0xF0) for byte in data if not 0x80 <= byte < 0xC0]
    return _Description(
        len(data),
        f'{{"id": {token}, {_content(data)}, {special}',
        0x80 <= data[:1][0] < 0xC0 if data else False,
        len(units),
        sum(units),
        units[-1] if units else 0,
    )


def _content(data: bytes) -> str:
    try:
        return f'"text": {json.dumps(data.decode())}'
    except UnicodeDecodeError:
        return f'"hex": "{data.hex()}"'


def _located(text: Pieces) -> Iterator[str]:
    """Yield the objects of tokens that stand for parts of the text."""
    before = (0, 0, 0)
    for part, tokens in placed_parts(text):
        sizes = (
            range(len(part) + 1),
            [0, *accumulate(len(char.encode()) for char in part)],
            [0, *accumulate(1 + (char > "\uffff") for char in part)],
        )
        for (number, data, kind, token), start, end in tokens:
            if number is None:
                continue
            written = json.dumps(token) if token else json.dumps(data.decode("utf-8", "replace"))
            mark = f'"{kind}": true, ' if kind else ""
            (start_char, end_char), (begin, after), (start_utf16, end_utf16) = (
                (origin + places[start], origin + places[end])
                for origin, places in zip(before, sizes)
            )
            yield (
                f'{{"id": {number}, {_content(data)}, "token": {written}, {mark}'
                f'"characters": [{start_char}, {end_char}], "bytes": [{begin}, {after}], '
                f'"utf16": [{start_utf16}, {end_utf16}]}}\n'
            )
        before = (before[0] + sizes[0][-1], before[1] + sizes[1][-1], before[2] + sizes[2][-1])
