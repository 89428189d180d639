"""Learning and encoding by the textbook's rule: everything is counted anew after each merge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Callable

from compat_bpe.train.bpe.growing import BYTES

BytePair = tuple[bytes, bytes]


def join(tokens: Sequence[bytes], merge: BytePair) -> list[bytes]:
    """Return tokens with a pair joined wherever it is, from left to right."""
    joined: list[bytes] = []
    for token in tokens:
        if joined and (joined[-1], token) == merge and not isinstance(joined[-1], _Made):
            joined[-1] = _Made(joined[-1] + token)
        else:
            joined.append(token)
    return [bytes(token) for token in joined]


class _Made(bytes):
    """A token that was made by this merge, which it does not join again."""


def merged(chunk: bytes, merges: Iterable[BytePair]) -> list[bytes]:
    """Return a chunk after all merges, one after another."""
    tokens = [chunk[index : index + 1] for index in range(len(chunk))]
    for merge in merges:
        tokens = join(tokens, merge)
    return tokens


def learned(
    chunks: Iterable[bytes],
    number: int,
    merges: Sequence[BytePair] = (),
    allow: Callable[[bytes], bool] = lambda token: True,
) -> list[BytePair]:
    """Return merges, and after them up to ``number`` new ones."""
    merges = list(merges)
    words = [merged(chunk, merges) for chunk in chunks]
    ids = {token: index for index, token in enumerate([*BYTES, *map(b"".join, merges)])}
    for _ in range(number):
        pairs = Counter(pair for word in words for pair in _pairs(word))
        fit = [pair for pair in pairs if allow(b"".join(pair)) and b"".join(pair) not in ids]
        if not fit:
            break
        best = min(fit, key=lambda pair: (-pairs[pair], ids[pair[0]], ids[pair[1]]))
        merges.append(best)
        ids[b"".join(best)] = len(ids)
        words = [join(word, best) for word in words]
    return merges


def _pairs(word: Sequence[bytes]) -> Iterable[BytePair]:
    return zip(word, word[1:])
