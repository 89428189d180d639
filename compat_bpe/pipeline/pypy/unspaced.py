"""Merging of chunks in scripts without spaces, for an interpreter that compiles loops.

As in ``by_character``, a chunk is cut at each boundary between two characters that cannot take part
in one token; the property and its argument are there. Here the answer for two characters is found
by a few comparisons of integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .generations import Generations

#: The number of slots for characters, and for pairs of characters; powers of 2.
_CHARS = 1 << 15
_PAIRS = 1 << 15
#: Characters are narrow below this code point, and below this first byte in UTF-8.
_WIDE, WIDE_LEAD = 0x800, 0xE0
#: Bytes that tokens have right of a boundary share this many bits; another is of narrow characters.
_BITS = 60
_NARROW_BIT = 1 << _BITS
#: The most runs of characters in the cache, and the length in bytes from which none is.
_KEPT = 1 << 15
_LONG = 128


class RunMerger:
    """A merger of chunks that are mostly of characters from U+0800 on.

    Args:
        tokens: all tokens that merging can make.
        merge: returns the ids of a part of a chunk, merged by itself.

    >>> merger = RunMerger([b"a", "中国".encode()[2:4]], lambda part: [len(part)])
    >>> merger.merge("中国人a".encode())
    [6, 3, 1]
    """

    def __init__(self, tokens: Iterable[bytes], merge: Callable[[bytes], list[int]]) -> None:
        self._merge = merge
        #: For the bytes that tokens have left of a boundary, those that they have right of it.
        self._right_of: dict[bytes, dict[bytes, int]] = {}
        self._bit_of: dict[bytes, int] = {}
        for token in tokens:
            if not token.isascii():
                self._collect(token)
        self._chars = [_Char(-1, [], [], 0, 0, [])] * _CHARS
        #: In a slot, two code points as a number, times 2, plus 1 if a merge may join them.
        self._joined = [-1] * _PAIRS
        self._runs = Generations()
        self._runs.set_limit(_KEPT)

    def _collect(self, token: bytes) -> None:
        """Remember what is around each boundary between two characters of a token."""
        starts = [at for at in range(len(token)) if at == 0 or token[at] & 0xC0 != 0x80]
        ends = [*starts[1:], len(token)]
        for i in range(len(starts) - 1):
            left, right = token[starts[i] : ends[i]], token[ends[i] : ends[i + 1]]
            if left[0] & 0xC0 == 0x80 or left[0] >= WIDE_LEAD or right[0] >= WIDE_LEAD:
                bit = self._bit_of.setdefault(right, 1 << len(self._bit_of) % _BITS)
                self._right_of.setdefault(left, {})[right] = bit

    def clear_cache(self) -> None:
        """Clear the cache of runs."""
        self._runs.clear()

    def merge(self, chunk: bytes) -> list[int]:
        """Return the ids of a chunk, which must be UTF-8."""
        chars = self._chars
        ids: list[int] = []
        size = len(chunk)
        at = start = alone = 0
        before = None
        while at < size:
            point = chunk[at]
            after = at + 1
            if point >= 0xF0:
                point = (point & 0x07) << 18 | (chunk[at + 1] & 0x3F) << 12
                point |= (chunk[at + 2] & 0x3F) << 6 | chunk[at + 3] & 0x3F
                after = at + 4
            elif point >= 0xE0:
                point = (point & 0x0F) << 12 | (chunk[at + 1] & 0x3F) << 6 | chunk[at + 2] & 0x3F
                after = at + 3
            elif point >= 0x80:
                point = (point & 0x1F) << 6 | chunk[at + 1] & 0x3F
                after = at + 2
            char = chars[point & _CHARS - 1]
            if char.point != point:
                char = self._find(point)
            if before is not None and not (before.after & char.begun and self._join(before, char)):
                # A boundary: the run before it is one character, or several.
                if start != alone:
                    ids += self._run(chunk[start:at])
                elif before.only >= 0:
                    ids.append(before.only)
                else:
                    ids += before.ids
                start = at
            before = char
            alone = at
            at = after
        if before is not None:
            ids += before.ids if start == alone else self._run(chunk[start:at])
        return ids

    def _run(self, run: bytes) -> list[int]:
        ids = self._runs.get(run)
        if ids is None:
            ids = self._merge(run)
            if len(run) < _LONG:
                self._runs.put(run, ids)
        return ids

    def _find(self, point: int) -> _Char:
        data = chr(point).encode()
        rights = [self._right_of.get(data[at:], {}) for at in range(len(data))]
        after = begun = _NARROW_BIT if point < _WIDE else 0
        for right in rights:
            for bit in right.values():
                after |= bit
        heads = [data[:end] for end in range(1, len(data) + 1)]
        for head in heads:
            begun |= self._bit_of.get(head, 0)
        ids = self._merge(data)
        char = _Char(point, [right for right in rights if right], heads, after, begun, ids)
        self._chars[point & _CHARS - 1] = char
        return char

    def _join(self, left: _Char, right: _Char) -> bool:
        """Return True if a merge may cross the boundary between two characters."""
        pair = left.point << 21 | right.point
        slot = (right.point ^ left.point << 7 ^ left.point >> 8) & _PAIRS - 1
        kept = self._joined[slot]
        if kept >> 1 != pair:
            kept = self._joined[slot] = pair << 1 | _may_join(left, right)
        return kept & 1 == 1


class _Char:
    """A character.

    Args:
        point: its code point.
        rights: for its last bytes, those that tokens have right of a boundary after them.
        heads: its first bytes: one, two and so on.
        after, begun: the bits of the rights and of the heads.
        ids: its ids when it is merged alone.

    Attributes:
        only: its id if it is only one, else -1.
    """

    __slots__ = ("after", "begun", "heads", "ids", "only", "point", "rights")

    def __init__(
        self,
        point: int,
        rights: list[dict[bytes, int]],
        heads: list[bytes],
        after: int,
        begun: int,
        ids: list[int],
    ) -> None:
        self.point = point
        self.rights = rights
        self.heads = heads
        self.after = after
        self.begun = begun
        self.ids = ids
        self.only = ids[0] if len(ids) == 1 else -1


def _may_join(left: _Char, right: _Char) -> bool:
    if left.point < _WIDE and right.point < _WIDE:
        return True
    for rights in left.rights:
        for head in right.heads:
            if head in rights:
                return True
    return False
