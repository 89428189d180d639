r"""Merging of chunks in scripts without spaces; imported once texts have enough of them.

In Chinese a chunk is a whole clause: long, and hardly ever repeated, so a cache of chunks does not
help. But few pairs of characters are ever merged. So a chunk is cut at each boundary between two
characters that are never in one token. Most parts are single characters. A text has only a few
thousand different ones, and their ids are cached.

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

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate, chain, compress, count, filterfalse
from operator import and_

from ....caches import Cache, Memo, V, shareable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..base import Ids

_CODE_POINTS = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"

#: The largest number of characters, and of runs of characters, in the caches.
_KEPT = 1 << 15
#: The length in characters above which a run is not cached.
_LONGEST_RUN = 128

# UTF-8 (RFC 3629): a character is one byte, or a lead byte and one, two or three others, which are
# from 0x80 to 0xBF. Narrow characters are those below U+0800, as in European scripts; all others
# are wide. 0xFF is in no UTF-8.
_BEGUN = rb"[^\x80-\xbf\xff][\x80-\xbf]{0,3}"
_BEGUN_WIDE = rb"[\xe0-\xf4][\x80-\xbf]{0,3}"
#: The last bytes of a character with which a token begins, and the bytes right of the boundary.
_ENDED = re.compile(rb"\xff([\x80-\xbf]{1,3})(?=(%b))" % _BEGUN)
#: An ASCII character, and the bytes right of it.
_ASCII = re.compile(rb"[\x00-\x7f]%b" % _BEGUN_WIDE)

#: The number of bits for bytes right of a boundary. If more are needed, some share a bit, and a few
#: characters count as neighbours although they are not.
_BITS = 4093
#: The bit of all narrow characters: any two of them count as neighbours.
_NARROW = 1


class UnspacedEncoder:
    """An encoder that merges chunks in parts, mostly single characters, with the same ids.

    Args:
        ranks: the tokens that merging can make, among them each byte.
        merge: returns the ids of a part.
        whole: the chunks that are tokens without merging; by default, ``ranks``.

    >>> from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder
    >>> ranks = {bytes([i]): i for i in range(256)}
    >>> ranks["中国".encode()[2:4]] = 256  # the last byte of one and the first of the other
    >>> UnspacedEncoder(ranks, BytePairEncoder(ranks).merge).merge(["中国人", "人"])
    (228, 184, 256, 155, 189, 228, 186, 186, 228, 186, 186)
    """

    def __init__(
        self,
        ranks: Mapping[bytes, int],
        merge: Callable[[bytes], list[int]],
        whole: Mapping[bytes, int] | None = None,
    ) -> None:
        self._merge = merge
        self._whole = ranks if whole is None else whole
        # No chunk may be cut inside a token that is a whole chunk, either.
        boundaries = Boundaries(ranks, *([] if self._whole is ranks else [self._whole]))
        self._after = _by_code_point(boundaries.after)
        self._begun = _by_code_point(boundaries.begun)
        self._char_ids = _by_code_point(self._merge_part)
        self._run_ids = Cache(self._merge_part, _KEPT, _LONGEST_RUN)
        #: False once a part that is a token was not the result of merging it.
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
        ids = tuple(self._merge(data))
        if len(ids) > 1 and data in self._whole:
            self.merging_makes_tokens = False
        return ids


def _by_code_point(find: Callable[[str], V]) -> Memo[int, V]:
    """Return a memo of ``find(character)`` by code point: an integer is looked up faster."""
    return Memo(lambda point: find(chr(point)), _KEPT)


class Boundaries:
    """The bytes that tokens have on both sides of a boundary between two characters.

    Searching a large vocabulary takes as long as encoding 100 KB of text. So it is done in steps:
    the tokens are joined to one byte string. A *family* is the characters that begin with the same
    bytes (``_family``). The first character of a family starts a search for the whole family. Texts
    have the characters of few scripts, so most families are never searched.

    Args:
        tokens: all tokens, perhaps in several parts.

    >>> found = Boundaries(["中国".encode()[:5], b"a", b"ab"])
    >>> found.joins("中", "国"), found.joins("国", "中"), found.joins("a", "中")
    (True, False, False)
    """

    def __init__(self, *tokens: Iterable[bytes]) -> None:
        # A token with 0xFF inside is read as two tokens. The second may add neighbours that do not
        # exist; none is lost.
        wider = filterfalse(bytes.isascii, chain.from_iterable(tokens))
        self._joined = b"\xff".join([b"", *wider, b""])
        self._bits = {b"": _NARROW}
        #: For the last bytes of a character that tokens begin with, the bits of the bytes after.
        self._after_end = self._grouped(_ENDED.findall(self._joined))
        #: The same for characters, by the bytes with which these begin (see ``_family``).
        self._after_family: dict[bytes, dict[bytes, int]] = shareable()
        #: The first bytes of wide characters that are in a token, but not at its beginning.
        self._begun_family: dict[bytes, frozenset[bytes]] = shareable()

    def joins(self, left: str, right: str) -> bool:
        """Return True if a token may reach across the boundary between two characters."""
        return self.after(left) & self.begun(right) != 0

    def after(self, char: str) -> int:
        """Return the bits of the bytes that a token may have right of a character.

        The token has the whole character, or its last bytes, left of the boundary.
        """
        data = char.encode()
        family = _family(data)
        members = self._after_family.get(family)
        if members is None:
            members = self._after_family[family] = self._search(family, len(data))
        bits = members.get(data, 0)
        for start in range(1, len(data)):
            bits |= self._after_end.get(data[start:], 0)
        return bits if len(data) > 2 else bits | _NARROW

    def begun(self, char: str) -> int:
        """Return the bits of the first bytes that a token may have of a character."""
        data = char.encode()
        bits = self._bit(data[:1])
        if len(data) < 3:
            bits |= _NARROW | self._bit(data)
        else:
            family = _family(data)
            known = self._begun_family.get(family)
            if known is None:
                known = self._begun_family[family] = self._search_begun(family)
            for end in range(2, len(data) + 1):
                if data[:end] in known:
                    bits |= self._bit(data[:end])
        return bits

    def _bit(self, data: bytes) -> int:
        """Return the bit of some bytes; always the same one, also if two threads ask at once."""
        bits = self._bits
        if data not in bits:
            bits.setdefault(data, 1 << len(bits) % _BITS)
        return bits[data]

    def _search(self, family: bytes, length: int) -> dict[bytes, int]:
        """Return the bits of the bytes after each character of a family, of a length in bytes."""
        if not family:
            # Each pair once, since most are a space and one of few first bytes.
            pairs = dict.fromkeys(_ASCII.findall(self._joined))
            return self._grouped((both[:1], both[1:]) for both in pairs)
        rest = length - len(family)
        # Narrow neighbours need not be found: all are joined.
        right = _BEGUN if length > 2 else _BEGUN_WIDE
        pattern = rb"%b(?=([\x80-\xbf]{%d}%b))" % (family, rest, right)
        pairs = dict.fromkeys(re.findall(pattern, self._joined))
        return self._grouped((family + both[:rest], both[rest:]) for both in pairs)

    def _search_begun(self, family: bytes) -> frozenset[bytes]:
        """Return the first bytes of a family's characters that are not at the start of a token."""
        pattern = rb"%b(?<=[^\xff]%b)[\x80-\xbf]{0,3}" % (family, family)
        return frozenset(re.findall(pattern, self._joined))

    def _grouped(self, pairs: Iterable[tuple[bytes, bytes]]) -> dict[bytes, int]:
        """Return the bits of all right sides of each left side."""
        bits_of: dict[bytes, int] = shareable()
        for left, right in pairs:
            bit = self._bit(right)
            bits_of[left] = bits_of[left] | bit if left in bits_of else bit
        return bits_of


def _family(data: bytes) -> bytes:
    """Return the first bytes of a character, which it shares with its family.

    All of ASCII is one family, with none. For others it is the lead byte. Indian, Georgian and
    other scripts share two lead bytes; there it is the byte after it, too.
    """
    if data < b"\x80":
        return b""
    return data[:2] if b"\xe0" <= data < b"\xe2" else data[:1]
