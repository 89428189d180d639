r"""Unstable tokens: ids at the end of a text that change when more text follows.

``hello fan`` may go on to be ``hello fantasy``, with other ids from ``fan`` on.  Chunks before the
last one stay as they are, except chunks of white space, which further white space may join into
one chunk.  For the unstable bytes, ``completions`` finds the id sequences with which a longer text
may continue: it lets every token of the vocabulary straddle their end at every position.

The rules, shortcuts included, are those of tiktoken 0.14 (``_encode_unstable_native`` in its
``lib.rs``), since callers ask for tiktoken's answer.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..unicode.properties import white_space

if TYPE_CHECKING:
    from .core_bpe import CoreBPE

_BLANKS = frozenset(b" \n\t")


def unstable_length(core: CoreBPE, ids: list[int], last: int) -> int:
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


def _is_blank(core: CoreBPE, token: int) -> bool:
    found = core.decode_single_token_bytes(token)
    return core.encoder.get(found) == token and _BLANKS.issuperset(found)


def completions(core: CoreBPE, rest: bytes) -> set[tuple[int, ...]]:
    """Return the sequences of ids that cover the unstable bytes ``rest`` and perhaps more.

    Each sequence ends with the first id that reaches the end of ``rest`` or passes it.
    """
    if not rest:
        return set()
    found: set[tuple[int, ...]] = {
        (core.encode_single_token(token),) for token in _beginning_with(core, rest)
    }
    for cut in range(1, len(rest)):
        for token in _beginning_with(core, rest[cut:]):
            found.add(_covering(core, rest[:cut] + token, len(rest)))
    return found | _split_before_space(core, rest)


def _beginning_with(core: CoreBPE, prefix: bytes) -> Iterator[bytes]:
    tokens = core.sorted_tokens()
    for index in range(bisect_left(tokens, prefix), len(tokens)):
        if not tokens[index].startswith(prefix):
            return
        yield tokens[index]


def _covering(core: CoreBPE, possible: bytes, length: int) -> tuple[int, ...]:
    """Return the fewest first ids of some bytes that cover ``length`` bytes."""
    try:
        ids = core.encode_ordinary(possible.decode())
    except UnicodeDecodeError:
        ids = core.merge_ids(possible)
    covered = 0
    for number, token in enumerate(ids, 1):
        covered += len(core.decode_single_token_bytes(token))
        if covered >= length:
            return tuple(ids[:number])
    return tuple(ids)


def _split_before_space(core: CoreBPE, rest: bytes) -> set[tuple[int, ...]]:
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
    return {tuple(core.merge_ids(rest[:start]) + core.merge_ids(rest[start:]))}
