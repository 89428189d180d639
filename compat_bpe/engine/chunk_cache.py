"""The ids of chunks that were met before.

Text repeats itself: of the chunks of a long text, most have been met before, and then the way
from chunk to ids is one look-up in a dictionary.
"""

from __future__ import annotations

from collections.abc import Mapping

from compat_bpe.engine.byte_pair import encode_chunk

#: How many chunks are kept by default.
DEFAULT_LIMIT = 1 << 17

#: Longer chunks (in characters) are encoded anew each time: they hardly ever come back, and
#: with them a limit on the number would be no limit on the memory.
LONGEST_KEPT = 128


class ChunkCache(dict[str, tuple[int, ...]]):
    """Maps a chunk to its ids; a chunk not met before is encoded at its look-up.

    When ``limit`` chunks are kept, all are dropped and the cache fills anew with what is met
    then.  An entry takes about 200 bytes, so the default limit is some 25 MB; never more than
    ``limit`` chunks of ``LONGEST_KEPT`` characters and their ids are held.

    Threads may share a cache: each operation on a dictionary is atomic, and two threads that
    encode the same chunk store equal values.

    >>> cache = ChunkCache({b"a": 0, b"b": 1, b"ab": 2}, limit=10)
    >>> cache["ab"], cache["aab"], len(cache)
    ((2,), (0, 2), 2)
    """

    __slots__ = ("limit", "ranks")

    def __init__(self, ranks: Mapping[bytes, int], limit: int = DEFAULT_LIMIT) -> None:
        super().__init__()
        self.ranks = ranks
        self.limit = limit

    def __missing__(self, chunk: str) -> tuple[int, ...]:
        ids = encode_chunk(chunk.encode(), self.ranks)
        if len(chunk) <= LONGEST_KEPT and self.limit > 0:
            if len(self) >= self.limit:
                self.clear()
            self[chunk] = ids
        return ids
