"""The precompiled character map of SentencePiece: replacements for sequences of characters.

It is stored as a *double array*, a trie over the bytes of UTF-8. Each unit of the array is 32 bits
wide. The children of a node are at its place xor its offset xor a byte. A leaf has the place of
the replacement in the text that follows the array, where each replacement ends with a NUL.

Sequences share their ends, so 60,000 units make 225,000 sequences. Therefore the trie over bytes
becomes a trie over characters, a table for each of its nodes, and not a table of all sequences.
That takes a tenth of a second, and checks the map, so that a small hostile map cannot fill the
memory. The maps that SentencePiece ships need no check, so their tables are built only when all
sequences are needed; single characters are followed byte by byte.

SentencePiece itself takes the longest sequence at each position (``Charsmap``). tokenizers takes
the shortest, and replaces a whole grapheme cluster by the replacement of its beginning
(``Precompiled``).
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from functools import lru_cache
from sys import byteorder

from ...caches import Memo, cached_property
from ...unicode.clusters import long_clusters, prepended, stands_alone
from ...unicode.properties import CodePoints
from ..aligned import Aligned
from .base import CharacterTable, Normalizer, beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


#: SentencePiece considers this many sequences at one place, the shortest ones.
_MOST_AT_ONE_PLACE = 32
#: The number of characters after a node that are kept.
_STEPS = 1 << 14
#: The sha256 of the maps of SentencePiece, by their size: they are not damaged.
_SHIPPED = {
    237484: "ec4a65fa10ad2a465f4f30ac3ee83a4ba4e9f507a4b092e07ff790c1c7c318af",  # nfkc, old
    237539: "0942789e0111452f1cc446f70036e26d24458c3c7858c53cc12ca4d87531279b",  # nmt_nfkc, old
    237561: "51d3684747b35ef99cd4802f37cc1ee0c6bec4d060814f774efb1066d3c167f2",  # nmt_nfkc
    240007: "1e2c7b43d3ee9755ceaa2ac335e253d8703604e0249ee1e81156c92b46423844",  # nmt_nfkc, 0.2.3
    240008: "7e46d9e08af4b6a37991b04fb8388644c1595a0abcd0f26d6a5d575e2a3663ea",  # nfkc, 0.2.3
    247164: "2c03512e62f9ed965ec90d85314211b63b5b8aa0395311ea2147eec9ff738907",  # nmt_nfkc_cf
    247165: "d8dfef3d6db0eef0742f8b55a73aee7fce6c1e21d26a09b8d3d4b52c42a791cb",  # nfkc_cf
}
#: The number of characters that are searched for sequences without a pattern. That takes a tenth of
#: the time of building the pattern.
_FEW = 1 << 12
#: The length in characters of the parts of a text that are replaced one after the other, and the
#: most characters of a part that are replaced kind by kind.
_PART, _MOST_REPLACED = 1 << 11, 16
#: The bit of a unit that is a leaf, and the bit of one that has a leaf.
LEAF, HAS_LEAF = 1 << 31, 1 << 8
#: The most steps to read a map, for each unit of it: visits of nodes, and characters after them.
#: The maps of SentencePiece take fewer than two.
_MOST_STEPS = 8
#: The longest replacement in bytes, and the longest sequence in characters. Those of SentencePiece
#: have at most 33 and 18.
_LONGEST_REPLACEMENT, _LONGEST_SEQUENCE = 1 << 10, 1 << 8


class Charsmap:
    """A precompiled character map.

    Args:
        blob: the map as in a model: the size of the array in bytes, the array, the replacements.

    Raises:
        ValueError: the map is damaged.
    """

    def __init__(self, blob: bytes) -> None:
        size = int.from_bytes(blob[:4], "little")
        if len(blob) <= 4 or size >= len(blob) - 4:
            raise ValueError("the character map is shorter than its size field")
        if size < 1024 or size % 1024:
            raise ValueError("the array of the character map is not made of blocks of 1024 bytes")
        if not blob.endswith(b"\0"):
            raise ValueError("the last replacement of the character map has no end")
        self._units = array("I", blob[4 : 4 + size])
        if byteorder == "big":
            self._units.byteswap()
        self._text = blob[4 + size :]
        self._after = lru_cache(_STEPS)(self._follow)
        self._candidates = lru_cache(2)(self._pattern)
        #: The number of characters to be looked at before the patterns for all text are built.
        self._few_left = _FEW
        if not _is_shipped(blob):
            _ = self._tables  # raises an error if the map is damaged

    @cached_property
    def _tables(self) -> tuple[dict[int, dict[str, int]], dict[int, str]]:
        """For each node, the nodes after it, by character; and the replacement at a node."""
        return read_tables(self._units, self._text)

    @property
    def _following(self) -> dict[int, dict[str, int]]:
        return self._tables[0]

    def _follow(self, node: int, char: str) -> int | None:
        """Return the node that is one character after a node, or None."""
        units = self._units
        for byte in char.encode("utf-8", "surrogatepass"):
            node ^= _offset(units[node]) ^ byte
            if not node or units[node] & (LEAF | 0xFF) != byte:
                return None
        return node

    def _written(self, node: int) -> str | None:
        """Return the replacement at a node, or None."""
        unit = self._units[node]
        if not unit & HAS_LEAF:
            return None
        start = self._units[node ^ _offset(unit)] & ~LEAF
        return self._text[start : self._text.index(0, start)].decode()

    def longest(self, text: str, start: int) -> tuple[int, str] | None:
        """Return the longest sequence that begins at ``start``: its length and replacement.

        The length is in characters. None if no sequence begins there.
        """
        longest = None
        for count, one in enumerate(self._all_at(text, start), 1):
            longest = one
            if count == _MOST_AT_ONE_PLACE:
                break
        return longest

    def shortest(self, text: str, start: int) -> tuple[int, str] | None:
        """Return the shortest sequence that begins at ``start``, as ``longest`` does."""
        return next(self._all_at(text, start), None)

    def goes_on(self, text: str) -> bool:
        """Return True if some sequence begins with a text and is longer."""
        node: int | None = 0
        for char in text:
            node = None if node is None else self._after(node, char)
        if node is None:
            return False
        units = self._units
        first = node ^ _offset(units[node])
        return any(
            units[first ^ byte] & (LEAF | 0xFF) == byte and first ^ byte for byte in range(256)
        )

    def _all_at(self, text: str, start: int) -> Iterator[tuple[int, str]]:
        node = 0
        for at in range(start, len(text)):
            following = self._after(node, text[at])
            if following is None:
                return
            node = following
            written = self._written(node)
            if written is not None:
                yield at - start + 1, written

    def candidates(self, text: str) -> str:
        """Return a pattern that matches one character wherever a sequence in ``text`` begins.

        It may match elsewhere, too.
        """
        return self._candidates(0x7F if text.isascii() else 0x10FFFF)

    def _pattern(self, last: int) -> str:
        """Return the pattern ``candidates`` for text without characters above ``last``."""
        first = self._after_node(0, last)
        alone = {char for char, node in first.items() if self._is_end(node)}
        longer = first.keys() - alone
        second = {
            char
            for node in {first[char] for char in longer}
            for char in self._after_node(node, last)
        }
        return f"{_one_of(alone)}|{_one_of(longer if second else set())}(?={_one_of(second)})"

    def _after_node(self, node: int, last: int) -> dict[str, int]:
        """Return the nodes that are one character after a node, for characters up to ``last``."""
        if last > 0x7F:
            return self._following[node]
        nodes = {char: self._follow(node, char) for char in map(chr, range(last + 1))}
        return {char: node for char, node in nodes.items() if node is not None}

    def _is_end(self, node: int) -> bool:
        """Return True if a sequence ends at a node."""
        return bool(self._units[node] & HAS_LEAF)

    @cached_property
    def _ascii_table(self) -> dict[int, str] | None:
        """The replacements of single ASCII characters; None if there are longer sequences."""
        first = self._after_node(0, 0x7F)
        if any(self._after_node(node, 0x7F) for node in first.values()):
            return None
        written = {ord(char): self._written(node) for char, node in first.items()}
        return {point: text for point, text in written.items() if text is not None}

    def may_write(self, text: str) -> bool:
        """Return True unless a text is in no replacement."""
        return text.encode() in self._text

    @cached_property
    def _later(self) -> frozenset[str]:
        """All characters that are in a sequence, but not as its first."""
        return frozenset(char for node, chars in self._following.items() if node for char in chars)

    @cached_property
    def characters(self) -> frozenset[str]:
        """All characters that are in a sequence."""
        return self._later.union(self._following[0])

    def keeps_before(self, left: str, right: str) -> bool:
        """Return True if a character is certainly kept before another one.

        It is if no sequence has the other character, and no sequence ends with the first character.
        """
        node = self._following[0].get(left)
        return (
            right not in self.characters
            and left not in self._later
            and (node is None or not self._is_end(node))
        )

    def spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Yield the start, end and replacement of each sequence, leftmost and longest."""
        find: Callable[[str, int], re.Match[str] | None] | None = None
        if not self._are_few(text):
            find = re.compile(self.candidates(text)).search
        at = 0
        while at < len(text):
            if find is not None:
                match = find(text, at)
                if match is None:
                    return
                at = match.start()
            entry = self.longest(text, at)
            if entry is None:
                at += 1
            else:
                yield at, at + entry[0], entry[1]
                at += entry[0]

    def _are_few(self, text: str) -> bool:
        """Return True if a text is searched for sequences at every place, without a pattern.

        That holds for the first ``_FEW`` characters.
        """
        if text.isascii() or self._few_left < 0:
            return False
        self._few_left -= len(text)
        return self._few_left >= 0

    def replace(self, text: str) -> str:
        """Return a text in which each sequence is replaced, leftmost and longest."""
        if text.isascii() and self._ascii_table is not None:
            return text.translate(self._ascii_table)
        if text.isascii() or len(text) <= self._few_left:
            return self._replace_spans(text)
        return "".join(map(self._replace_part, self._parts(text)))

    def _replace_spans(self, text: str) -> str:
        parts: list[str] = []
        last = 0
        for start, end, new in self.spans(text):
            parts += (text[last:start], new)
            last = end
        parts.append(text[last:])
        return "".join(parts)

    def _parts(self, text: str) -> Iterator[str]:
        """Yield parts of a text; no sequence reaches across their ends.

        Each part begins with a character that is in sequences only as the first one.
        """
        later = self._later
        start, end = 0, _PART
        while end < len(text):
            if text[end] in later:
                end += 1
            else:
                yield text[start:end]
                start, end = end, end + _PART
        yield text[start:]

    def _replace_part(self, part: str) -> str:
        """Return a part in which each sequence is replaced.

        If no character in it is a later character of a sequence, each sequence in it is one
        character. Then one kind of character after the other is replaced, unless a replacement
        contains a character to replace.
        """
        chars = set(part)
        if not chars.isdisjoint(self._later):
            return self._replace_spans(part)
        alone = self._alone
        changed = [char for char in chars if char in alone]
        written = "".join(map(alone.__getitem__, changed))
        if len(changed) > _MOST_REPLACED or not set(written).isdisjoint(changed):
            return part.translate({ord(char): alone[char] for char in changed})
        for char in changed:
            part = part.replace(char, alone[char])
        return part

    @cached_property
    def _alone(self) -> dict[str, str]:
        """The replacements of single characters."""
        following, written = self._tables
        return {char: written[node] for char, node in following[0].items() if node in written}


def _is_shipped(blob: bytes) -> bool:
    known = _SHIPPED.get(len(blob))
    if known is None:
        return False
    from hashlib import sha256  # imported here: other maps do not need it

    return sha256(blob).hexdigest() == known


def _one_of(chars: set[str]) -> str:
    """Return a pattern for one of some characters.

    A class of the Basic Multilingual Plane is a bitmap in ``re``. A class with characters above it
    is searched range by range, so these characters have a class of their own.
    """
    points = CodePoints.from_ranges((ord(char), ord(char)) for char in chars)
    low, high = points.clip(0, 0x10000), points.clip(0x10000, 0x110000)
    if not high:
        return low.to_re()
    return f"(?:{low.to_re()}|(?=[\U00010000-\U0010ffff]){high.to_re()})"


def read_tables(units: array[int], text: bytes) -> tuple[dict[int, dict[str, int]], dict[int, str]]:
    """Return the nodes after each node by character, and the replacement at a node.

    Raises:
        ValueError: a unit points outside the array or the text, or to an invalid place; the trie
            has a loop; a sequence or a replacement is not UTF-8, or is too long; nodes are shared
            so often that the tables would be many times as large as the map.
    """
    _check(units, len(text))
    # The units that may be the child of a node, by the node's place xor its offset.
    children: dict[int, list[int]] = {}
    for place, unit in enumerate(units):
        if unit < LEAF and place:
            children.setdefault(place ^ unit & 0xFF, []).append(place)
    following: dict[int, dict[str, int]] = {}
    leaves: dict[int, int] = {}
    left = [0]
    steps = [_MOST_STEPS * len(units)]
    try:
        while left:
            node = left.pop()
            if node not in following:
                following[node] = nodes = _characters(units, children, node, steps)
                left += nodes.values()
                if units[node] & HAS_LEAF:
                    leaves[node] = units[node ^ _offset(units[node])] & ~LEAF
        strings = {start: _replacement(text, start) for start in set(leaves.values())}
    except UnicodeDecodeError:
        raise ValueError("the character map has bytes that are not UTF-8") from None
    _check_loops(following)
    return following, {node: strings[start] for node, start in leaves.items()}


def _replacement(text: bytes, start: int) -> str:
    end = text.find(0, start, start + _LONGEST_REPLACEMENT + 1)
    if end < 0:
        raise ValueError(
            f"a replacement of the character map has more than {_LONGEST_REPLACEMENT} bytes"
        )
    return text[start:end].decode()


def _characters(
    units: array[int], children: dict[int, list[int]], node: int, steps: list[int]
) -> dict[str, int]:
    """Return the nodes that are one character below a node.

    Args:
        steps: the number of remaining steps, which is reduced.

    Raises:
        UnicodeDecodeError: a sequence below is not UTF-8.
        ValueError: no steps remain.
    """
    nodes: dict[str, int] = {}
    left = [(node, b"")]
    while left:
        above, begun = left.pop()
        steps[0] -= 1
        for place in children.get(above ^ _offset(units[above]), ()):
            data = begun + bytes((units[place] & 0xFF,))
            if len(data) == _length(data[0]):
                nodes[data.decode()] = place
            elif units[place] & HAS_LEAF or len(data) > 4:
                data.decode()  # raises an error
            else:
                left.append((place, data))
        if steps[0] < 0:
            raise ValueError("the trie of the character map shares its nodes too often")
    steps[0] -= len(nodes)
    return nodes


def _length(first: int) -> int:
    """Return the length of a character in bytes by its first byte; 1 for a wrong byte."""
    return 1 + (0xC2 <= first <= 0xF4) + (0xE0 <= first <= 0xF4) + (0xF0 <= first <= 0xF4)


def _offset(unit: int) -> int:
    """Return the offset of a unit, with which the places of its children are made."""
    return (unit >> 10) << ((unit & 1 << 9) >> 6)


def _check(units: array[int], length: int) -> None:
    """Raise ``ValueError`` if a unit points outside the array, or a leaf outside the text."""
    size = len(units)
    root = units[0]
    fine = not root & (LEAF | HAS_LEAF | 0xFF) and 0 < _offset(root) < size
    for place, unit in enumerate(units if fine else ()):
        if unit >= LEAF:
            fine = unit - LEAF < length
        else:
            # A block has 256 units: if this is inside, the child of any byte is.
            to = place ^ (unit >> 10) << ((unit & 512) >> 6)
            fine = to < size and (not unit & HAS_LEAF or units[to] >= LEAF)
        if not fine:
            break
    if not fine:
        raise ValueError("the trie of the character map points outside itself")


def _check_loops(following: dict[int, dict[str, int]]) -> None:
    """Raise ``ValueError`` if a sequence would have no end or is too long."""
    parents = dict.fromkeys(following, 0)
    for following_nodes in following.values():
        for node in following_nodes.values():
            parents[node] += 1
    # The nodes whose longest sequence is of one length, then of one more.
    nodes = [node for node, count in parents.items() if not count]
    done = length = 0
    while nodes:
        if length > _LONGEST_SEQUENCE:
            raise ValueError(
                f"a sequence of the character map has more than {_LONGEST_SEQUENCE} characters"
            )
        done += len(nodes)
        length += 1
        left, nodes = nodes, []
        for above in left:
            for node in following[above].values():
                parents[node] -= 1
                if not parents[node]:
                    nodes.append(node)
    if done < len(following):
        raise ValueError("the trie of the character map has a loop")


#: Clusters of more bytes are not looked up as a whole.
_LONGEST_CLUSTER = 5
#: The number of clusters that are kept.
_CLUSTERS = 1 << 14


class Precompiled(Normalizer):
    """The normalizer for a precompiled character map.

    Args:
        charsmap: the map.
    """

    def __init__(self, charsmap: Charsmap) -> None:
        self._charsmap = charsmap
        self._table = CharacterTable(self._of_character)
        #: The replacement of a whole cluster; None if its characters are changed one by one.
        self._clusters: Memo[str, str | None] = Memo(self._find_cluster, _CLUSTERS)

    def _of_character(self, char: str) -> str:
        entry = self._charsmap.shortest(char, 0)
        return char if entry is None else entry[1]

    def _of_cluster(self, cluster: str) -> str | None:
        return None if len(cluster) > _LONGEST_CLUSTER else self._clusters[cluster]

    def _find_cluster(self, cluster: str) -> str | None:
        entry = None
        if len(cluster.encode()) <= _LONGEST_CLUSTER:
            entry = self._charsmap.shortest(cluster, 0)
        return None if entry is None else entry[1]

    def __call__(self, text: str) -> str:
        """Return the normalized text."""
        if text.isascii():
            # The only cluster of several ASCII characters.
            replacement = self._clusters["\r\n"]
            if replacement is None or "\r\n" not in text:
                return text if self._unchanged.fullmatch(text) else text.translate(self._table)
        parts = []
        at = 0
        for start, end in long_clusters(text):
            replacement = self._of_cluster(text[start:end])
            if replacement is not None:
                parts += [text[at:start].translate(self._table), replacement]
                at = end
        parts.append((text[at:] if at else text).translate(self._table))
        return "".join(parts)

    @cached_property
    def _unchanged(self) -> re.Pattern[str]:
        """A pattern for text of the ASCII characters that are not changed."""
        kept = [char for char in map(chr, range(0x80)) if self._of_character(char) == char]
        return re.compile(f"[{re.escape(''.join(kept))}]*" if kept else "")

    def align(self, text: Aligned) -> Aligned:
        """Return the normalized text, with the places in the original.

        The places are odd, as in tokenizers. A removed character counts for the character before
        it, even for an inserted one. If there is no such character, it does not count at all.
        """
        changes: list[tuple[str, int]] = []
        is_changed = False
        for old, new in self._replaced(text.text):
            if new is None:
                changes.append((old, 0))
                continue
            is_changed = True
            more = len(new) - len(old)
            changes += [(char, int(index >= len(old))) for index, char in enumerate(new)]
            if more < 0 and changes:
                char, change = changes[-1]
                changes[-1] = char, change + more
        return text.changed(changes) if is_changed else text

    def _replaced(self, text: str) -> list[tuple[str, str | None]]:
        """Return the parts to replace, with replacements; None if the map has no replacement."""
        parts: list[tuple[str, str | None]] = []

        def one_by_one(start: int, end: int) -> None:
            for char in text[start:end]:
                known = self._charsmap.shortest(char, 0)
                parts.append((char, None if known is None else known[1]))

        at = 0
        for start, end in long_clusters(text):
            replacement = self._of_cluster(text[start:end])
            if replacement is not None:
                one_by_one(at, start)
                parts.append((text[start:end], replacement))
                at = end
        one_by_one(at, len(text))
        return parts

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        r"""Return the characters beside a position between two clusters.

        A cluster ends between two such characters in any text, unless one of them joins others
        from far away, as jamo and flags do. The left character is the last of its cluster, and is
        changed by itself if no key begins with a character that may join before it. The right
        character is the first of its cluster, and its result is known if no longer key begins with
        it.
        """
        if not (stands_alone(left) and stands_alone(right)) or left + right == "\r\n":
            return None
        if self._begins_prepended:
            return None
        if left == "\n":
            # It may be the end of a cluster that is changed as a whole.
            whole = self._of_cluster("\r\n")
            if whole is not None and whole[-1:] != self._table[ord("\n")][-1:]:
                return None
        if self._charsmap.shortest(right, 0) is None and self._charsmap.goes_on(right):
            return None
        return beside(self._table[ord(left)], self._table[ord(right)])

    @cached_property
    def _begins_prepended(self) -> bool:
        """True if a key begins with a character that joins the next one in a cluster."""
        charsmap = self._charsmap
        return any(charsmap.shortest(c, 0) or charsmap.goes_on(c) for c in prepended())
