r"""The bytes that tokens have on both sides of a boundary between two characters.

To look through a large vocabulary takes as long as to encode 100 KB of text.  So it is done in
steps: the tokens are joined to one byte string, and when a character is first met, this is searched
for the characters that begin like it.  Texts have the characters of few scripts, so most of the
vocabulary is never looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain, filterfalse

from ...lookup import shareable

# UTF-8 (RFC 3629): a character is one byte, or a lead byte and one, two or three others, which are
# from 0x80 to 0xBF.  Narrow characters are those below U+0800, as in European scripts; all others
# are wide.  0xFF is in no UTF-8.
_BEGUN = rb"[^\x80-\xbf\xff][\x80-\xbf]{0,3}"
_BEGUN_WIDE = rb"[\xe0-\xf4][\x80-\xbf]{0,3}"
#: The last bytes of a character with which a token begins, and what is right of the boundary.
_ENDED = re.compile(rb"\xff([\x80-\xbf]{1,3})(?=(%b))" % _BEGUN)
#: An ASCII character, and what is right of it.
_ASCII = re.compile(rb"([\x00-\x7f])(?=(%b))" % _BEGUN_WIDE)

#: In place of bytes: any two narrow characters count as neighbours in a token.
_NARROW = b""
_NOTHING: frozenset[bytes] = frozenset()


class Boundaries:
    """The neighbours of characters in tokens.

    Args:
        tokens: all tokens, perhaps in several parts.

    >>> found = Boundaries(["中国".encode()[:5], b"a", b"ab"])
    >>> found.joins("中", "国"), found.joins("国", "中"), found.joins("a", "中")
    (True, False, False)
    """

    def __init__(self, *tokens: Iterable[bytes]) -> None:
        # A token that has 0xFF inside is read as two tokens.  The second may add neighbours that do
        # not exist; none is lost.
        wider = filterfalse(bytes.isascii, chain.from_iterable(tokens))
        self._joined = b"\xff".join([b"", *wider, b""])
        #: For the last bytes of a character that tokens begin with, what they have next.
        self._after_end = _grouped(_ENDED.findall(self._joined))
        #: The same for characters, by the bytes with which these begin (see ``_family``).
        self._after_family: dict[bytes, dict[bytes, frozenset[bytes]]] = shareable()

    def joins(self, left: str, right: str) -> bool:
        """Return True if a token may reach over the boundary between two characters."""
        return not self.after(left).isdisjoint(self.begun(right))

    def after(self, char: str) -> frozenset[bytes]:
        """Return the bytes that a token may have right of a character.

        The token has the whole character, or its last bytes, left of the boundary.
        """
        data = char.encode()
        family = _family(data)
        members = self._after_family.get(family)
        if members is None:
            members = self._after_family[family] = self._search(family, len(data))
        found = members.get(data, _NOTHING)
        for start in range(1, len(data)):
            found = found | self._after_end.get(data[start:], _NOTHING)
        return found if len(data) > 2 else found | {_NARROW}

    def begun(self, char: str) -> tuple[bytes, ...]:
        """Return the first bytes that a token may have of a character, from one to all."""
        data = char.encode()
        found = tuple(data[:end] for end in range(1, len(data) + 1))
        return found if len(data) > 2 else (_NARROW, *found)

    def _search(self, family: bytes, length: int) -> dict[bytes, frozenset[bytes]]:
        """Return what follows each character of a family in some token; its length is in bytes."""
        if not family:
            return _grouped(_ASCII.findall(self._joined))
        rest = length - len(family)
        # Narrow neighbours need not be found: all are joined.
        right = _BEGUN if length > 2 else _BEGUN_WIDE
        pattern = rb"%b(?=([\x80-\xbf]{%d}%b))" % (family, rest, right)
        # Findings without groups of their own, and each once, since some are very frequent.
        found = set(re.findall(pattern, self._joined))
        return _grouped((family + both[:rest], both[rest:]) for both in found)


def _family(data: bytes) -> bytes:
    """Return the first bytes of a character, by which others are looked for at the same time.

    Those of ASCII are looked for together.  Of others it is the lead byte; with those of Indian,
    Georgian and other scripts that share two lead bytes, the byte after it, too.
    """
    if data < b"\x80":
        return b""
    return data[:2] if b"\xe0" <= data < b"\xe2" else data[:1]


def _grouped(pairs: Iterable[tuple[bytes, bytes]]) -> dict[bytes, frozenset[bytes]]:
    """Return all right sides of each left side."""
    found: dict[bytes, set[bytes]] = {}
    for left, right in pairs:
        if left in found:
            found[left].add(right)
        else:
            found[left] = {right}
    return shareable((left, frozenset(rights)) for left, rights in found.items())
