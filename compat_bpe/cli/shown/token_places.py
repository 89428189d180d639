"""Tokens with their places in the text, as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Set
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from ... import Encoding
from ...pipeline.chunks import joins_to_text
from ..ids import encoded_parts
from .shown_tokens import placed_parts

#: The largest number of tokens whose description is cached.
_CACHED = 1 << 14


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


def placed_tokens(
    encoding: Encoding, pieces: Iterable[str], allowed: Set[str], name: str
) -> Iterator[str]:
    """Yield a JSON object for each token of a text that comes in pieces.

    Places are half-open ranges in characters, UTF-8 bytes and UTF-16 units. Ranges of characters
    and units cover each character of which the token has a byte, so tokens that share a character
    overlap there. Ranges of bytes are exact if the tokens, joined, are the text; else they cover
    whole characters, too. Bytes that are not UTF-8 and stand for one U+FFFD are one character.

    Args:
        encoding: the encoding.
        pieces: the text, cut anywhere; as in ``encoded``.
        allowed: the names of special tokens that are tokens in it.
        name: the name of the text in messages.

    Raises:
        CommandError: the vocabulary has no token for a part of the text.

    >>> from compat_bpe import get_encoding
    >>> for line in placed_tokens(get_encoding("gpt2"), ["a", " 😀"], frozenset(), "x"):
    ...     print(line, end="")
    {"id": 64, "text": "a", "characters": [0, 1], "bytes": [0, 1], "utf16": [0, 1]}
    {"id": 30325, "hex": "20f09f98", "characters": [1, 3], "bytes": [1, 5], "utf16": [1, 4]}
    {"id": 222, "hex": "80", "characters": [2, 3], "bytes": [5, 6], "utf16": [2, 4]}
    """
    if joins_to_text(encoding.core):
        return _joined(encoding, pieces, allowed, name)
    return _located(encoding, pieces, allowed, name)


def _joined(
    encoding: Encoding, pieces: Iterable[str], allowed: Set[str], name: str
) -> Iterator[str]:
    """Yield the objects of tokens that, joined, are the text."""

    @lru_cache(_CACHED)
    def described(token: int) -> _Description:
        return _describe(encoding, token)

    begin = characters = utf16 = last_units = 0
    for ids, data in encoded_parts(encoding, pieces, allowed, name):
        if data:  # what would be one U+FFFD
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


def _located(
    encoding: Encoding, pieces: Iterable[str], allowed: Set[str], name: str
) -> Iterator[str]:
    """Yield the objects of tokens that stand for parts of the text."""
    before = (0, 0, 0)
    for part, tokens in placed_parts(encoding, pieces, allowed, name):
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
