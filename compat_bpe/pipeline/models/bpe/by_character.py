r"""Merging of chunks in scripts that put no spaces between words.

In Chinese a chunk is a whole clause: long, and hardly ever repeated, so a cache of chunks does not
help.  Yet few pairs of characters are ever merged.  So a chunk is cut at each boundary between two
characters that cannot take part in one token.  The parts are mostly single characters, of which a
text has a few thousand, and their ids are cached.

The property: no merge crosses such a boundary, so cutting there gives the same ids.  The argument,
for the boundary between the characters x and y of a chunk:

1. The first merge across the boundary makes a token of the vocabulary.
2. Left of the boundary, that token has all bytes of x; or, if it begins within x, some last bytes
   of x and nothing before them.
3. Right of the boundary, it has all bytes of y; or, if it ends within y, some first bytes of y and
   nothing after them.
4. So if no token of the vocabulary has such bytes around the beginning of a character, no merge
   crosses the boundary.  Each side is then merged as if it were alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, chain, compress, count
from operator import and_

from ...cache import Cache, V
from .by_rank import BytePairEncoder, Ids

# UTF-8 (RFC 3629): a character is one byte, or a lead byte and one, two or three others.
# Narrow characters are those below U+0800, as in European scripts; all others are wide.
_NARROW = rb"[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]"
_WIDE = rb"[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
_BEGUN_WIDE = rb"[\xe0-\xef][\x80-\xbf]{0,2}|[\xf0-\xf4][\x80-\xbf]{0,3}"
_BEGUN = rb"[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]?|" + _BEGUN_WIDE
# 0xFF is in no UTF-8, so it can separate tokens.  A token that has it inside is read as two
# tokens.  The second may add pairs that do not exist; no pair is lost.
_AROUND_BOUNDARY = [
    re.compile(rb"(%b)(?=(%b))" % sides)
    for sides in ((_WIDE, _BEGUN), (_NARROW, _BEGUN_WIDE), (rb"(?<=\xff)[\x80-\xbf]{1,3}", _BEGUN))
]
#: A token of narrow characters alone, as up to half of the tokens are: nothing is found in it.
#: A token that begins within a character is not one, since that character may be wide.
_NARROW_TOKEN = re.compile(rb"\xff[\x00-\x7f\xc2-\xdf][\x00-\xdf]*(?=\xff)")

_CODE_POINTS = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"

#: The bytes that tokens have right of a boundary are kept as bits, at most this many.  If there
#: are more, some share a bit, and a few more characters than necessary are merged together.
_BITS = 1021
#: The bit of all narrow characters: any two of them count as possibly merged.
_NARROW_BIT = 1 << _BITS

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
        #: For bytes that tokens have left of a boundary, the bits of those that follow right of it.
        self._bits_right_of: dict[bytes, int] = {}
        #: The bit of the bytes that tokens have right of a boundary.
        self._bit_of: dict[bytes, int] = {}
        self._collect(encoder.ranks)
        if self._whole is not encoder.ranks:
            # No chunk may be cut inside one of these tokens, either.
            self._collect(self._whole)
        self._after = _ByCodePoint(self._find_after)
        self._begun = _ByCodePoint(self._find_begun)
        self._char_ids = _ByCodePoint(self._merge_part)
        self._run_ids = Cache(self._merge_part, _KEPT, _LONGEST_RUN)
        #: True as long as every part that is a token was also made by merging.
        self.merging_makes_tokens = True

    def _collect(self, tokens: Iterable[bytes]) -> None:
        joined = b"\xff".join([b"", *(token for token in tokens if not token.isascii()), b""])
        joined = _NARROW_TOKEN.sub(b"", joined)
        for pattern in _AROUND_BOUNDARY:
            # In the order found, not in a set's, so that the bits are the same in each process.
            for left, right in dict.fromkeys(pattern.findall(joined)):
                bit = self._bit_of.get(right)
                if bit is None:
                    bit = self._bit_of[right] = 1 << len(self._bit_of) % _BITS
                self._bits_right_of[left] = self._bits_right_of.get(left, 0) | bit

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

    def _find_after(self, char: str) -> int:
        """Return the bits of the bytes that a token may have right of a character.

        The token has the whole character, or its last bytes, left of the boundary.
        """
        data = char.encode()
        found = _NARROW_BIT if len(data) < 3 else 0
        for start in range(len(data)):
            found |= self._bits_right_of.get(data[start:], 0)
        return found

    def _find_begun(self, char: str) -> int:
        """Return the bits of the first bytes that a token may have of a character."""
        data = char.encode()
        found = _NARROW_BIT if len(data) < 3 else 0
        for end in range(1, len(data) + 1):
            found |= self._bit_of.get(data[:end], 0)
        return found


class _ByCodePoint(dict[int, V]):
    """A cache of ``find(character)`` by code point, since an integer is looked up faster."""

    def __init__(self, find: Callable[[str], V]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, point: int) -> V:
        if len(self) >= _KEPT:
            self.clear()
        found = self[point] = self._find(chr(point))
        return found
