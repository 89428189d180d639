r"""A character map of SentencePiece, as tokenizers applies it: cluster by cluster.

SentencePiece itself takes the longest key at each position. tokenizers takes the shortest, and
replaces a whole grapheme cluster by what is meant for its beginning.
"""

from __future__ import annotations

import re

from ...parallel.lazy import cached_property
from ...unicode.clusters import long_clusters, prepended, stands_alone
from ..aligned import Aligned
from ..cache import Memo
from .base import CharacterTable, Normalizer, beside
from .charsmap import Charsmap

#: Longer clusters, in bytes, are not looked up as a whole.
_LONGEST_CLUSTER = 5
#: The number of clusters that are remembered.
_CLUSTERS = 1 << 14


class Precompiled(Normalizer):
    """The normalizer for a precompiled character map.

    Args:
        charsmap: the map.
    """

    def __init__(self, charsmap: Charsmap) -> None:
        self._charsmap = charsmap
        self._table = CharacterTable(self._of_character)
        #: What replaces a whole cluster; None if its characters are changed one by one.
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

        The places are odd, as in tokenizers. What is removed counts for the character before it,
        even if that was inserted; if there is none, it is not counted at all.
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
        """Return the parts that are replaced, and what by; None if by nothing in the map."""
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
        from far away, as jamo and flags do. The left one is the last of its cluster, and is
        changed by itself if no key begins with what may be joined before it. The right one is the
        first of its cluster, and what it becomes is known if no key begins with it and goes on.
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
        """True if a key begins with a character that joins the one after it in a cluster."""
        charsmap = self._charsmap
        return any(charsmap.shortest(c, 0) or charsmap.goes_on(c) for c in prepended())
