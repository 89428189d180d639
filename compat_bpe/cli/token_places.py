"""Tokens with their places in the text, as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Set
from functools import lru_cache
from typing import NamedTuple

from .. import Encoding
from ..fit.stream import encode_iter
from .output import CommandError

#: The largest number of tokens whose description is cached.
_CACHED = 1 << 14


class _Description(NamedTuple):
    """The facts about a token that do not depend on its place.

    Args:
        data: its bytes.
        head: the beginning of its JSON object.
        begins_within: True if its first byte continues a character.
        characters, utf16: the number of characters, and of UTF-16 units, that begin in it.
        last_units: the UTF-16 units of the last character that begins in it; 0 if there is none.
    """

    data: bytes
    head: str
    begins_within: bool
    characters: int
    utf16: int
    last_units: int


def placed_tokens(
    encoding: Encoding, pieces: Iterable[str], allowed: Set[str], name: str
) -> Iterator[str]:
    """Yield a JSON object for each token of a text that comes in pieces.

    Places are half-open ranges in characters, UTF-8 bytes and UTF-16 units. Ranges of bytes are
    exact. Ranges of characters and units cover each character of which the token has a byte, so
    tokens that share a character overlap there.

    Args:
        encoding: the encoding.
        pieces: the text without surrogates, cut anywhere.
        allowed: the names of special tokens that are tokens in it.
        name: the name of the text in messages.

    Raises:
        CommandError: the bytes of the tokens are not those of the text: the tokenizer normalizes
            it, for instance.

    >>> from compat_bpe import get_encoding
    >>> for line in placed_tokens(get_encoding("gpt2"), ["a", " 😀"], frozenset(), "x"):
    ...     print(line, end="")
    {"id": 64, "text": "a", "characters": [0, 1], "bytes": [0, 1], "utf16": [0, 1]}
    {"id": 30325, "hex": "20f09f98", "characters": [1, 3], "bytes": [1, 5], "utf16": [1, 4]}
    {"id": 222, "hex": "80", "characters": [2, 3], "bytes": [5, 6], "utf16": [2, 4]}
    """
    waiting = bytearray()  # the bytes of the text that no token has covered yet

    def reading() -> Iterator[str]:
        for piece in pieces:
            waiting.extend(piece.encode())
            yield piece

    @lru_cache(_CACHED)
    def described(token: int) -> _Description:
        return _describe(encoding, token)

    ids = encode_iter(encoding, reading(), allowed_special=allowed, disallowed_special=())
    begin = characters = utf16 = last_units = 0
    for token in ids:
        data, head, is_within, more_characters, more_utf16, more_last = described(token)
        if not waiting.startswith(data):
            break
        del waiting[: len(data)]
        end = begin + len(data)
        start = characters - is_within
        start_utf16 = utf16 - (last_units if is_within else 0)
        characters += more_characters
        utf16 += more_utf16
        last_units = more_last or last_units
        yield (
            f'{head}"characters": [{start}, {characters}], "bytes": [{begin}, {end}], '
            f'"utf16": [{start_utf16}, {utf16}]}}\n'
        )
        begin = end
    else:
        if not waiting:
            return
    raise CommandError(
        f"{name}: the tokens of {encoding.name} are not the bytes of the text at offset {begin} "
        "(its tokenizer normalizes text or drops some), so they have no places in it"
    )


def _describe(encoding: Encoding, token: int) -> _Description:
    data = encoding.decode_single_token_bytes(token)
    try:
        content = f'"text": {json.dumps(data.decode())}'
    except UnicodeDecodeError:
        content = f'"hex": "{data.hex()}"'
    special = '"special": true, ' if encoding.is_special_token(token) else ""
    # All bytes but 10xxxxxx begin a character; 11110xxx begins one of two UTF-16 units.
    units = [1 + (byte >= 0xF0) for byte in data if not 0x80 <= byte < 0xC0]
    return _Description(
        data,
        f'{{"id": {token}, {content}, {special}',
        0x80 <= data[:1][0] < 0xC0 if data else False,
        len(units),
        sum(units),
        units[-1] if units else 0,
    )
