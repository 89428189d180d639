r"""The bytes that tokens have on both sides of a boundary between two characters.

To look through a large vocabulary takes as long as to encode 100 KB of text. So it is done in
steps: the tokens are joined to one byte string, and when a character is first met, this is searched
for the characters that begin like it. Texts have the characters of few scripts, so most of the
vocabulary is never looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, filterfalse

from ...cache import shareable

# UTF-8 (RFC 3629): a character is one byte, or a lead byte and one, two or three others, which are
# from 0x80 to 0xBF. Narrow characters are those below U+0800, as in European scripts; all others
# are wide.  0xFF is in no UTF-8.
_BEGUN = rb"[^\x80-\xbf\xff][\x80-\xbf]{0,3}"
_BEGUN_WIDE = rb"[\xe0-\xf4][\x80-\xbf]{0,3}"
#: The last bytes of a character with which a token begins, and what is right of the boundary.
_ENDED = re.compile(rb"\xff([\x80-\xbf]{1,3})(?=(%b))" % _BEGUN)
#: An ASCII character, and what is right of it.
_ASCII = re.compile(rb"[\x00-\x7f]%b" % _BEGUN_WIDE)

#: Bytes right of a boundary are bits, at most this many. If there are more, some share a bit, and
#: a few characters count as neighbours that are none.
_BITS = 4093
#: The bit of all narrow characters: any two of them count as neighbours.
_NARROW = 1


class Boundaries:
    """The neighbours of characters in tokens.

    Args:
        tokens: all tokens, perhaps in several parts.

    >>> found = Boundaries(["中国".encode()[:5], b"a", b"ab"])
    >>> found.joins("中", "国"), found.joins("国", "中"), found.joins("a", "中")
    (True, False, False)
    """

    def __init__(self, *tokens: Iterable[bytes]) -> None:
        # A token that has 0xFF inside is read as two tokens. The second may add neighbours that do
        # not exist; none is lost.
        wider = filterfalse(bytes.isascii, chain.from_iterable(tokens))
        self._joined = b"\xff".join([b"", *wider, b""])
        self._bits = {b"": _NARROW}
        #: For the last bytes of a character that tokens begin with, the bits of what comes next.
        self._after_end = self._grouped(_ENDED.findall(self._joined))
        #: The same for characters, by the bytes with which these begin (see ``_family``).
        self._after_family: dict[bytes, dict[bytes, int]] = shareable()
        #: The first bytes of wide characters that are somewhere in a token, but where it begins.
        self._begun_family: dict[bytes, frozenset[bytes]] = shareable()

    def joins(self, left: str, right: str) -> bool:
        """Return True if a token may reach over the boundary between two characters."""
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
        """Return the bit of some bytes: always the same, also if two threads ask for the first."""
        bits = self._bits
        if data not in bits:
            bits.setdefault(data, 1 << len(bits) % _BITS)
        return bits[data]

    def _search(self, family: bytes, length: int) -> dict[bytes, int]:
        """Return the bits of what follows each character of a family, of a length in bytes."""
        if not family:
            # Each finding once, since most are a space and one of few first bytes.
            pairs = dict.fromkeys(_ASCII.findall(self._joined))
            return self._grouped((both[:1], both[1:]) for both in pairs)
        rest = length - len(family)
        # Narrow neighbours need not be found: all are joined.
        right = _BEGUN if length > 2 else _BEGUN_WIDE
        pattern = rb"%b(?=([\x80-\xbf]{%d}%b))" % (family, rest, right)
        pairs = dict.fromkeys(re.findall(pattern, self._joined))
        return self._grouped((family + both[:rest], both[rest:]) for both in pairs)

    def _search_begun(self, family: bytes) -> frozenset[bytes]:
        """Return the first bytes of a family's characters that follow something in a token."""
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
    """Return the first bytes of a character, by which others are looked for at the same time.

    Those of ASCII are looked for together. Of others it is the lead byte; with those of Indian,
    Georgian and other scripts that share two lead bytes, the byte after it, too.
    """
    if data < b"\x80":
        return b""
    return data[:2] if b"\xe0" <= data < b"\xe2" else data[:1]
