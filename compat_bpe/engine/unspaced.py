r"""Chunks of scripts that put no spaces between words.

In Chinese a chunk is a whole clause: long, and hardly ever met twice, so remembering chunks does
not help.  Yet few pairs of characters are ever merged.  So a chunk is cut wherever the characters
on the two sides cannot take part in one token; what lies between two cuts is mostly a single
character, of which a text has a few thousand, and the ids of those are remembered.

Why that is exact.  Consider the place between the characters x and y of a chunk, and the first
merge across it.  It makes a token of the vocabulary.  Left of the place, that token has all bytes
of x, or, if it begins within x, some last bytes of x and nothing before them.  Right of the place
it has all bytes of y, or, if it ends within y, some first bytes of y and nothing after them.  So
if no token of the vocabulary has such bytes around the beginning of a character, no merge crosses
the place, and the two sides are merged as if each stood alone.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, compress, count
from operator import and_

from compat_bpe.engine.byte_pair import BytePairEncoder, Ids
from compat_bpe.engine.recent import Recent

# UTF-8 (RFC 3629): characters are of one byte, or a lead byte and one, two or three others.
# Narrow are those below U+0800, of which European scripts are made, wide the others.
_NARROW = rb"[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]"
_WIDE = rb"[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
_BEGUN_WIDE = rb"[\xe0-\xef][\x80-\xbf]{0,2}|[\xf0-\xf4][\x80-\xbf]{0,3}"
_BEGUN = rb"[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]?|" + _BEGUN_WIDE
# 0xFF is in no UTF-8, so it can stand between tokens.  A token that has it inside is taken for
# two, of which the second may add pairs that are none; nothing is lost.
_AROUND_A_PLACE = [
    re.compile(rb"(%b)(?=(%b))" % sides)
    for sides in ((_WIDE, _BEGUN), (_NARROW, _BEGUN_WIDE), (rb"(?<=\xff)[\x80-\xbf]{1,3}", _BEGUN))
]

_CODE_POINTS = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"

#: What tokens have right of a place is held as bits; where there is more than this many, several
#: share a bit, and a few more characters are merged together than need be.
_BITS = 1021
#: The bit for any token of two narrow characters: of those, all are taken to be merged.
_NARROW_BIT = 1 << _BITS

#: Characters, and runs of them, that are remembered.
_KEPT = 1 << 15
#: Longer runs (in characters) are not.
_LONGEST_RUN = 128


class UnspacedEncoder:
    """Merges chunks in parts, mostly single characters, where that gives the same ids.

    Args:
        encoder: what the ids are from.

    >>> ranks = {bytes([i]): i for i in range(256)}
    >>> ranks["中国".encode()[2:4]] = 256  # the last byte of one and the first of the other
    >>> UnspacedEncoder(BytePairEncoder(ranks)).merge(["中国人", "人"])
    (228, 184, 256, 155, 189, 228, 186, 186, 228, 186, 186)
    """

    def __init__(self, encoder: BytePairEncoder) -> None:
        self._encoder = encoder
        bits: dict[bytes, int] = {}
        self._after = _BitsAfter(encoder.ranks, bits)
        self._begun = _BitsBegun(bits)
        self._char_ids = _CharIds(self)
        self._run_ids = Recent(self._merge_part, _KEPT, _LONGEST_RUN)
        #: Whether every part met until now that is a token is also made by merging.
        self.merging_makes_tokens = True

    def merge(self, chunks: Sequence[str]) -> Ids:
        """The ids that merging gives for some chunks, none of them empty, one after the other.

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
        if len(ids) > 1 and data in self._encoder.ranks:
            self.merging_makes_tokens = False
        return ids


class _CharIds(dict[int, Ids]):
    """The ids of a character, by its code point."""

    def __init__(self, encoder: UnspacedEncoder) -> None:
        super().__init__()
        self._encoder = encoder

    def __missing__(self, point: int) -> Ids:
        if len(self) >= _KEPT:
            self.clear()
        ids = self[point] = self._encoder._merge_part(chr(point))
        return ids


class _BitsAfter(dict[int, int]):
    """What tokens may have right of a character, if they have it or its last bytes left of that.

    Args:
        tokens: those of the vocabulary.
        bits: an empty dictionary, which then has the bit for all bytes that tokens may have there.
    """

    def __init__(self, tokens: Iterable[bytes], bits: dict[bytes, int]) -> None:
        super().__init__()
        joined = b"\xff".join([b"", *(token for token in tokens if not token.isascii())])
        self._after_bytes: dict[bytes, int] = {}
        for pattern in _AROUND_A_PLACE:
            for left, right in sorted(set(pattern.findall(joined))):
                bit = bits.setdefault(right, 1 << len(bits) % _BITS)
                self._after_bytes[left] = self._after_bytes.get(left, 0) | bit

    def __missing__(self, point: int) -> int:
        data = chr(point).encode()
        found = _NARROW_BIT if len(data) < 3 else 0
        for i in range(len(data)):
            found |= self._after_bytes.get(data[i:], 0)
        if len(self) >= _KEPT:
            self.clear()
        self[point] = found
        return found


class _BitsBegun(dict[int, int]):
    """What a token may have of a character, if it has its first byte."""

    def __init__(self, bits: dict[bytes, int]) -> None:
        super().__init__()
        self._bits = bits

    def __missing__(self, point: int) -> int:
        data = chr(point).encode()
        found = _NARROW_BIT if len(data) < 3 else 0
        for end in range(1, len(data) + 1):
            found |= self._bits.get(data[:end], 0)
        if len(self) >= _KEPT:
            self.clear()
        self[point] = found
        return found
