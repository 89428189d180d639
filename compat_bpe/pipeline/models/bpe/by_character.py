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
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, chain, compress, count
from operator import and_

from ...cache import Recent, V
from .by_rank import BytePairEncoder, Ids

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
#: A token of narrow characters alone, as up to half of the tokens are: nothing is found in it.
#: One that begins within a character is none, since that may be a wide one.
_NARROW_TOKEN = re.compile(rb"\xff[\x00-\x7f\xc2-\xdf][\x00-\xdf]*(?=\xff)")

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
        encoder: what merges the parts; each byte is a token of it.
        whole: what is a token before any merging, if that is not just what ``encoder`` merges.

    >>> ranks = {bytes([i]): i for i in range(256)}
    >>> ranks["中国".encode()[2:4]] = 256  # the last byte of one and the first of the other
    >>> UnspacedEncoder(BytePairEncoder(ranks)).merge(["中国人", "人"])
    (228, 184, 256, 155, 189, 228, 186, 186, 228, 186, 186)
    """

    def __init__(self, encoder: BytePairEncoder, whole: Mapping[bytes, int] | None = None) -> None:
        self._encoder = encoder
        self._whole = encoder.ranks if whole is None else whole
        #: For what tokens have left of a place, the bits of all they have right of it.
        self._bits_right_of: dict[bytes, int] = {}
        #: The bit of each such bytes.
        self._bit_of: dict[bytes, int] = {}
        self._collect(encoder.ranks)
        if self._whole is not encoder.ranks:
            # So that none of these, too, has a place inside at which a chunk is cut.
            self._collect(self._whole)
        self._after = _ByCodePoint(self._find_after)
        self._begun = _ByCodePoint(self._find_begun)
        self._char_ids = _ByCodePoint(self._merge_part)
        self._run_ids = Recent(self._merge_part, _KEPT, _LONGEST_RUN)
        #: Whether every part met until now that is a token is also made by merging.
        self.merging_makes_tokens = True

    def _collect(self, tokens: Iterable[bytes]) -> None:
        joined = b"\xff".join([b"", *(token for token in tokens if not token.isascii()), b""])
        joined = _NARROW_TOKEN.sub(b"", joined)
        for pattern in _AROUND_A_PLACE:
            # As they come and not as a set has them, so that bits are the same in each process.
            for left, right in dict.fromkeys(pattern.findall(joined)):
                bit = self._bit_of.get(right)
                if bit is None:
                    bit = self._bit_of[right] = 1 << len(self._bit_of) % _BITS
                self._bits_right_of[left] = self._bits_right_of.get(left, 0) | bit

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
        if len(ids) > 1 and data in self._whole:
            self.merging_makes_tokens = False
        return ids

    def _find_after(self, char: str) -> int:
        """What tokens may have right of a character, if left of that is it or its last bytes."""
        data = char.encode()
        found = _NARROW_BIT if len(data) < 3 else 0
        for start in range(len(data)):
            found |= self._bits_right_of.get(data[start:], 0)
        return found

    def _find_begun(self, char: str) -> int:
        """What a token may have of a character, if it has its first byte."""
        data = char.encode()
        found = _NARROW_BIT if len(data) < 3 else 0
        for end in range(1, len(data) + 1):
            found |= self._bit_of.get(data[:end], 0)
        return found


class _ByCodePoint(dict[int, V]):
    """What ``find`` finds for a character, by its code point: an integer is looked up faster."""

    def __init__(self, find: Callable[[str], V]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, point: int) -> V:
        if len(self) >= _KEPT:
            self.clear()
        found = self[point] = self._find(chr(point))
        return found
