"""Splitting of normalized text into words at ``▁`` where no piece of SentencePiece reaches over.

``splitter_by_merges`` does the same for BPE in a ``tokenizer.json``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

from ....pattern.splitter import LONGEST_SEGMENT, SHORTEST_SEGMENT
from .vocabulary import SPACE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ....pattern.ast import Node
    from ...aligned import Aligned


class WholeSplitter:
    """A splitter that leaves a text whole.

    >>> WholeSplitter().chunks("a▁b")
    ['a▁b']
    """

    #: There is no single pattern.
    tree: Node | None = None
    #: The patterns of cut points; None, since there are none.
    cut_points: re.Pattern[str] | None = None
    ascii_cut_points: re.Pattern[str] | None = None
    fine_cut_points: re.Pattern[str] | None = None
    leaves_nothing_out = True

    @property
    def has_cuts(self) -> bool:
        """True if there are cut points."""
        return self.cut_points is not None

    def chunks(self, text: str) -> list[str]:
        """Return the text as the only chunk, if it is not empty."""
        return [text] if text else []

    def is_cut(self, beside: str, fine: bool) -> bool:
        """Return True if there is a cut point between two characters of any text."""
        return self.cut_points is not None and self.cut_points.search(beside, 0, 2) is not None

    def segments(self, text: str) -> Iterator[str]:
        """Yield the whole text, since it has no known cut points."""
        yield text

    def align(self, text: Aligned) -> list[Aligned]:
        """Return all chunks of a text, with their places in the original."""
        pieces: list[Aligned] = []
        at = 0
        for chunk in self.chunks(text.text):
            pieces.append(text.part(at, at + len(chunk)))
            at += len(chunk)
        return pieces


class WordSplitter(WholeSplitter):
    """A splitter that cuts a text where no piece reaches over: before most ``▁``.

    Args:
        before: the characters after which a ``▁`` does not begin a word.

    >>> WordSplitter({"▁"}).chunks("a▁b▁▁c")
    ['a', '▁b', '▁▁c']
    >>> WordSplitter({"b"}).chunks("a▁b▁▁c")
    ['a', '▁b▁', '▁c']
    """

    def __init__(self, before: Set[str]) -> None:
        escaped = "".join(map(re.escape, sorted(before)))
        if before <= {SPACE}:
            pattern = f"{SPACE}{'+' if before else ''}[^{SPACE}]*|[^{SPACE}]+"
        else:
            pattern = rf"[\s\S][^{SPACE}]*(?:(?<=[{escaped}]){SPACE}[^{SPACE}]*)*"
        self._find = re.compile(pattern).findall
        #: A text without this can be cut before each space, which takes a third of the time.
        self._seldom = "" if before - {SPACE} else SPACE * 2 if before else "\0"
        left = f"[^{escaped}]" if before else r"[\s\S]"
        #: A character with a cut point after it.
        self.cut_points = re.compile(f"{left}(?={SPACE})")
        self.ascii_cut_points = self.fine_cut_points = self.cut_points

    def chunks(self, text: str) -> list[str]:
        """Return all words of a text, in order."""
        parts: list[str]
        if self._seldom in text or "\0" in text:
            parts = self._find(text)
            return parts
        parts = text.replace(SPACE, "\0" + SPACE).split("\0")
        if not parts[0]:
            del parts[0]
        return parts

    def segments(self, text: str) -> Iterator[str]:
        """Yield parts of some hundred characters that end at cut points, lines if they can be."""
        assert self.cut_points is not None
        search, find = self.cut_points.search, text.find
        start = 0
        while start + LONGEST_SEGMENT < len(text):
            first = start + SHORTEST_SEGMENT
            line = find("\n", first, start + LONGEST_SEGMENT)
            match = search(text, first if line < 0 else line)
            if match is None:
                break
            yield text[start : match.end()]
            start = match.end()
        yield text[start:] if start else text


class SuffixSplitter(WholeSplitter):
    """A splitter for models in which ``▁`` ends a word.

    Args:
        runs: True if several ``▁`` stay together.

    >>> SuffixSplitter(runs=True).chunks("a▁b▁▁c")
    ['a▁', 'b▁▁', 'c']
    """

    def __init__(self, runs: bool) -> None:
        pattern = f"[^{SPACE}]*{SPACE}{'+' if runs else ''}|[^{SPACE}]+"
        self._find = re.compile(pattern).findall

    def chunks(self, text: str) -> list[str]:
        """Return all words of a text, in order."""
        parts: list[str] = self._find(text)
        return parts


def splitter_by_pieces(before: Set[str], after: Set[str]) -> WholeSplitter:
    """Return a splitter whose cut points are within no piece.

    Args:
        before: the characters before a ``▁`` in a piece.
        after: the characters after one.

    >>> splitter_by_pieces({"▁"}, {"a", "b"}).chunks("a▁b▁▁c")
    ['a', '▁b', '▁▁c']
    """
    if before <= {SPACE}:
        return WordSplitter(before)
    if after <= {SPACE}:
        return SuffixSplitter(runs=bool(after))
    return WordSplitter(before) if len(before) < 64 else WholeSplitter()
