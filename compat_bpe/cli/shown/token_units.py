"""Tokens as units of whole characters: those that share a character are shown together."""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Iterable, Iterator
from functools import lru_cache

from .shown_tokens import Look

#: The looks of tokens that are shown together; mostly it is one.
Unit = tuple[Look, ...]

#: The largest number of byte strings whose end is remembered.
_CACHED = 1 << 14


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
    """Return the bytes at the end that begin a character; None if some bytes are in none."""
    try:
        _, used = utf_8_decode(data, "strict", False)
    except UnicodeDecodeError:
        return None
    return data[used:]
