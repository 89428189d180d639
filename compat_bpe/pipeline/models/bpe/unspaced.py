r"""Merging of chunks in scripts that put no spaces between words.

In Chinese a chunk is a whole clause: long, and hardly ever repeated, so a cache of chunks does not
help. Yet few pairs of characters are ever merged. So a chunk is cut at each boundary between two
characters that cannot take part in one token. The parts are mostly single characters, of which a
text has a few thousand, and their ids are cached.

The property: no merge crosses such a boundary, so cutting there gives the same ids. The argument,
for the boundary between the characters x and y of a chunk:

1. The first merge across the boundary makes a token of the vocabulary.
2. Left of the boundary, that token has all bytes of x; or, if it begins within x, some last bytes
   of x and nothing before them.
3. Right of the boundary, it has all bytes of y; or, if it ends within y, some first bytes of y and
   nothing after them.
4. So if no token of the vocabulary has such bytes around the beginning of a character, no merge
   crosses the boundary. Each side is then merged as if it were alone.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, chain, compress, count
from operator import and_

from ...cache import Cache, Memo, V
from .boundaries import Boundaries
from .by_rank import BytePairEncoder, Ids

_CODE_POINTS = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"

#: The largest number of characters, and of runs of characters, in the caches.
_KEPT = 1 << 15
#: The length in characters above which a run is not cached.
_LONGEST_RUN = 128


class UnspacedEncoder:
    """An encoder that merges chunks in parts, mostly single characters, with the same ids.

    Args:
        encoder: the encoder that merges the parts; it has a token for each byte.
        whole: the chunks that are a token before any merging; ``encoder.ranks`` unless given.

    >>> ranks = {bytes([i]): i for i in range(256)}
    >>> ranks["中国".encode()[2:4]] = 256  # the last byte of one and the first of the other
    >>> UnspacedEncoder(BytePairEncoder(ranks)).merge(["中国人", "人"])
    (228, 184, 256, 155, 189, 228, 186, 186, 228, 186, 186)
    """

    def __init__(self, encoder: BytePairEncoder, whole: Mapping[bytes, int] | None = None) -> None:
        self._encoder = encoder
        self._whole = encoder.ranks if whole is None else whole
        # No chunk may be cut inside a token that is a whole chunk, either.
        wholes = [] if self._whole is encoder.ranks else [self._whole]
        boundaries = Boundaries(encoder.ranks, *wholes)
        self._after = _by_code_point(boundaries.after)
        self._begun = _by_code_point(boundaries.begun)
        self._char_ids = _by_code_point(self._merge_part)
        self._run_ids = Cache(self._merge_part, _KEPT, _LONGEST_RUN)
        #: True as long as every part that is a token was also made by merging.
        self.merging_makes_tokens = True

    def merge(self, chunks: Sequence[str]) -> Ids:
        """Return the ids that merging gives for a sequence of chunks, each not empty.

        Raises:
            ValueError: the vocabulary lacks a byte of a chunk.
        """
        text = "".join(chunks)
        points = memoryview(text.encode(_CODE_POINTS)).cast("I").tolist()
        begun = map(self._begun.__getitem__, points[1:])
        # joined[i] is not 0 if the characters i and i + 1 may be merged.
        joined = list(map(and_, map(self._after.__getitem__, points), begun))
        joined.append(0)
        for end in accumulate(map(len, chunks)):
            joined[end - 1] = 0
        ids = list(map(self._char_ids.__getitem__, points))
        run_ids = self._run_ids
        end = 0
        for start in compress(count(), joined):
            if start >= end:
                end = start + 2
                while joined[end - 1]:
                    end += 1
                ids[start] = run_ids[text[start:end]]
                ids[start + 1] = ()
                if end - start > 2:
                    ids[start + 2 : end] = [()] * (end - start - 2)
        return tuple(chain.from_iterable(ids))

    def _merge_part(self, part: str) -> Ids:
        data = part.encode()
        ids = tuple(self._encoder.merge(data))
        if len(ids) > 1 and data in self._whole:
            self.merging_makes_tokens = False
        return ids


def _by_code_point(find: Callable[[str], V]) -> Memo[int, V]:
    """Return a memo of ``find(character)`` by code point: an integer is looked up faster."""
    return Memo(lambda point: find(chr(point)), _KEPT)
