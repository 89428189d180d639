"""Unstable tokens: ids at the end of a text that change when more text follows.

``hello fan`` may become ``hello fantasy``, with other ids from ``fan`` on. Chunks before the last
one stay as they are, except chunks of white space, which further white space may join into one
chunk. For the unstable bytes, ``completions`` finds the id sequences with which a longer text may
continue: it tries every token of the vocabulary at every position across their end.

The rules, shortcuts included, are those of tiktoken 0.14 (``_encode_unstable_native`` in its
``lib.rs``), so the results are tiktoken's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..caches import Cache
from ..unicode.properties import white_space

if TYPE_CHECKING:
    from ..pipeline.core import Core
    from ..pipeline.models.base import Ids

_BLANKS = frozenset(b" \n\t")

#: The number of chunks whose ids are cached during a search.
_CHUNKS = 1024


def unstable_length(core: Core, ids: list[int], last: int) -> int:
    """Return the number of ids at the end that may still change.

    Args:
        core: the core that gave the ids.
        ids: the ids of a text.
        last: the number of ids of its last chunk.
    """
    if not last or not _is_blank(core, ids[-last]):
        return last
    while last < len(ids) and _is_blank(core, ids[-last - 1]):
        last += 1
    return last


def _is_blank(core: Core, token: int) -> bool:
    data = core.decode_single_token_bytes(token)
    return core.encoder.get(data) == token and _BLANKS.issuperset(data)


def completions(core: Core, tokens: Sequence[bytes], rest: bytes) -> set[tuple[int, ...]]:
    """Return the sequences of ids that cover the unstable bytes and perhaps more.

    Each sequence ends with the first id that reaches or passes the end of ``rest``.

    Args:
        core: the core that gave the ids.
        tokens: all its tokens except special tokens, sorted.
        rest: the unstable bytes.
    """
    if not rest:
        return set()
    sequences: set[tuple[int, ...]] = {
        (core.encoder[token],) for token in _beginning_with(tokens, rest)
    }
    # Most texts that are tried begin with the same chunk, which may be too long for the core's own
    # cache.
    chunk_ids = Cache(core.model.encode, _CHUNKS, 2 * len(rest))
    for cut in range(1, len(rest)):
        for token in _beginning_with(tokens, rest[cut:]):
            ids = _encode(core, chunk_ids, rest[:cut] + token)
            sequences.add(_covering(core, ids, len(rest)))
    return sequences | _split_before_space(core, rest)


def _beginning_with(tokens: Sequence[bytes], prefix: bytes) -> Iterator[bytes]:
    for index in range(bisect_left(tokens, prefix), len(tokens)):
        if not tokens[index].startswith(prefix):
            return
        yield tokens[index]


def _encode(core: Core, chunk_ids: Cache[Ids], possible: bytes) -> Sequence[int]:
    """Return the ids of bytes, which need not be UTF-8."""
    try:
        text = possible.decode()
    except UnicodeDecodeError:
        return core.model.merge(possible)
    ids: list[int] = []
    for span, token in core.spans(text, frozenset()):
        for chunk in core.splitter.chunks(span):
            ids += chunk_ids[chunk]
        if token is not None:
            ids.append(token)
    return ids


def _covering(core: Core, ids: Sequence[int], length: int) -> tuple[int, ...]:
    """Return the fewest first ids that cover ``length`` bytes; all ids if they cover less."""
    covered, count = len(core.decode_bytes(ids)), len(ids)
    # From the end, since most ids are before the token that was tried.
    while count:
        covered -= len(core.decode_single_token_bytes(ids[count - 1]))
        if covered < length:
            break
        count -= 1
    return tuple(ids[:count])


def _split_before_space(core: Core, rest: bytes) -> set[tuple[int, ...]]:
    r"""Return the split that ``\s+(?!\S)`` makes before the last white-space character."""
    # The last character is a first byte and the bytes of the form 10xxxxxx after it.
    start = len(rest) - 1
    while start and rest[start] & 0xC0 == 0x80:
        start -= 1
    try:
        last = ord(rest[start:].decode())
    except (UnicodeDecodeError, TypeError):
        return set()
    if not start or last not in white_space():
        return set()
    return {tuple(core.model.merge(rest[:start]) + core.model.merge(rest[start:]))}
