"""Splitting of text that no pre-tokenizer splits, at places that no token reaches across.

Without a pre-tokenizer each span is one chunk. Such long chunks never recur, so their ids would
never come from the cache. But a vocabulary may show places at which a chunk may be cut without
changing its ids: before each ``▁``, which stands for a space, beside the end of a line, and after
most full stops of Chinese. Then the parts are sentences, or words, which recur all the time. Texts
have cut points at the same places.

``splitter_by_pieces`` is for SentencePiece models, ``TokenSplitter`` for ``LongestTokens``, and
``splitter_by_merges`` for BPE over characters in a ``tokenizer.json`` (see ``CharacterCuts``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set

from ...pattern.splitter import Splitter, parse, segments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...pattern.tree import Node
    from ..aligned import Aligned

#: The character that begins a word, the character that ends a line, and the character that ends a
#: sentence where no spaces are written.
MARK, LINE_END, STOP = "▁", "\n", "。"
#: The name of the pattern in messages.
_NAME = "of the words"
#: The characters above the Basic Multilingual Plane.
_ABOVE = r"\U00010000-\U0010ffff"
#: Characters that must not be on the left of a cut point, and on the right (see
#: ``pattern.splitter._without_surrogates``).
_NOT_LEFT = rf"\ud800-\udfff{_ABOVE}"
_NOT_RIGHT = r"\ud800-\udfff"


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
        """Return the segments of a text; the whole text if there are no cut points."""
        return segments(text, self.cut_points, text)

    def align(self, text: Aligned) -> list[Aligned]:
        """Return all chunks of a text, with their places in the original."""
        pieces: list[Aligned] = []
        at = 0
        for chunk in self.chunks(text.text):
            pieces.append(text.part(at, at + len(chunk)))
            at += len(chunk)
        return pieces


class WordSplitter(WholeSplitter):
    """A splitter that cuts a text at places that no piece reaches across: before most ``▁``.

    Args:
        before: the characters after which a ``▁`` does not begin a word.

    >>> WordSplitter({"▁"}).chunks("a▁b▁▁c")
    ['a', '▁b', '▁▁c']
    >>> WordSplitter({"b"}).chunks("a▁b▁▁c")
    ['a', '▁b▁', '▁c']
    """

    def __init__(self, before: Set[str]) -> None:
        escaped = "".join(map(re.escape, sorted(before)))
        if before <= {MARK}:
            pattern = f"{MARK}{'+' if before else ''}[^{MARK}]*|[^{MARK}]+"
        else:
            pattern = rf"[\s\S][^{MARK}]*(?:(?<=[{escaped}]){MARK}[^{MARK}]*)*"
        self._find = re.compile(pattern).findall
        #: A text that does not match this can be cut before each ``▁``, in a third of the time.
        self._seldom = "" if before - {MARK} else MARK * 2 if before else "\0"
        left = f"[^{escaped}]" if before else r"[\s\S]"
        #: A character with a cut point after it.
        self.cut_points = re.compile(f"{left}(?={MARK})")
        self.ascii_cut_points = self.fine_cut_points = self.cut_points

    def chunks(self, text: str) -> list[str]:
        """Return all words of a text, in order."""
        parts: list[str]
        if self._seldom in text or "\0" in text:
            parts = self._find(text)
            return parts
        parts = text.replace(MARK, "\0" + MARK).split("\0")
        if not parts[0]:
            del parts[0]
        return parts


class SuffixSplitter(WholeSplitter):
    """A splitter for models in which ``▁`` ends a word.

    Args:
        runs: True if several ``▁`` stay together.

    >>> SuffixSplitter(runs=True).chunks("a▁b▁▁c")
    ['a▁', 'b▁▁', 'c']
    """

    def __init__(self, runs: bool) -> None:
        pattern = f"[^{MARK}]*{MARK}{'+' if runs else ''}|[^{MARK}]+"
        self._find = re.compile(pattern).findall

    def chunks(self, text: str) -> list[str]:
        """Return all words of a text, in order."""
        parts: list[str] = self._find(text)
        return parts


def splitter_by_pieces(before: Set[str], after: Set[str]) -> WholeSplitter:
    """Return a splitter whose cut points are within no piece.

    Args:
        before: the characters before a ``▁`` in a piece.
        after: the characters after a ``▁`` in a piece.

    >>> splitter_by_pieces({"▁"}, {"a", "b"}).chunks("a▁b▁▁c")
    ['a', '▁b', '▁▁c']
    """
    if before <= {MARK}:
        return WordSplitter(before)
    if after <= {MARK}:
        return SuffixSplitter(runs=bool(after))
    return WordSplitter(before) if len(before) < 64 else WholeSplitter()


class TokenSplitter(WordSplitter):
    """A splitter that cuts a text before spaces and after line feeds, but within no token.

    Args:
        tokens: all tokens.

    >>> TokenSplitter([b" ", b"  ", b" a", b"\\n", b".\\n"]).chunks("a b  c.\\nd")
    ['a', ' b', '  c.\\n', 'd']
    """

    def __init__(self, tokens: Iterable[bytes]) -> None:
        before: set[int] = set()
        after: set[int] = set()
        for token in tokens:
            if b" " in token[1:]:
                before.update(left for left, right in zip(token, token[1:]) if right == 0x20)
            if b"\n" in token[:-1]:
                after.update(right for left, right in zip(token, token[1:]) if left == 0x0A)
        left, right = f"[^{_characters(before)}]", f"(?=[^{_characters(after)}])"
        self._split = re.compile(rf"(?<={left})(?= )|(?<=\n){right}").split
        #: A character with a cut point after it.
        self.cut_points = re.compile(rf"{left}(?= )|\n{right}")
        self.ascii_cut_points = self.fine_cut_points = self.cut_points

    def chunks(self, text: str) -> list[str]:
        """Return all parts of a text, in order."""
        return self._split(text) if text else []


def _characters(values: Set[int]) -> str:
    """Return the inside of a class with the characters that begin or end with one of some bytes.

    If one of the bytes is not ASCII, the class has all characters that are not ASCII. If there are
    no bytes, it has U+0000, since a class cannot be empty. Then U+0000 has no cut point beside it.
    """
    ascii_ = "".join(f"\\x{value:02x}" for value in sorted(values) if value < 0x80)
    return (ascii_ + ("" if max(values, default=0) < 0x80 else "\\x80-\U0010ffff")) or "\\x00"


def splitter_by_merges(
    *, marks: bool, lines: bool, after_stops: frozenset[str] | None, before_spaces: bool = False
) -> Splitter | None:
    r"""Return a splitter at places that no merge crosses; None if there are no such places.

    Args:
        marks: True if no merge joins a mark to another character before it.
        lines: True if no merge joins the end of a line to another character.
        after_stops: the characters that a merge may join to a full stop before them; None if a text
            must not be cut after full stops.
        before_spaces: True if each space ends a chunk.

    >>> splitter = splitter_by_merges(marks=True, lines=True, after_stops=frozenset("”"))
    >>> splitter.chunks("▁a▁▁b\n\n▁c中。”文。。")
    ['▁a', '▁▁b', '\n\n', '▁c中。”文。', '。']
    """
    if not marks and not lines:
        return None
    space = " " if before_spaces else ""
    stop = "" if after_stops is None else STOP
    mark, end = MARK if marks else "", r"\n" if lines else ""
    inside = f"[^{mark}{end}{stop}{space}]"
    # The rest of a chunk: a full stop ends it unless a character after it may be joined.
    joined = "".join(re.escape(char) for char in sorted(after_stops or ()) if char <= "\uffff")
    if any(char > "\uffff" for char in after_stops or ()):
        joined += _ABOVE  # characters above have one stand-in, so all of them count as joined
    going_on = f"{stop}(?=[{joined}]){inside}*" if stop and joined else ""
    rest = (f"(?:{going_on})*" if going_on else "") + (f"{stop}?" if stop else "")
    branches = [f"{inside}+{rest}"]
    cuts = []
    if marks:
        branches.insert(0, f"{mark}+{inside}*{rest}")
        cuts.append(f"[^{mark}{_NOT_LEFT}](?={mark})")
    if lines:
        branches.append(r"\n+")
        cuts += [rf"[^\n{_NOT_LEFT}](?=\n)", rf"\n(?=[^\n{space}{_NOT_RIGHT}])"]
    if stop:
        branches += [f"(?:{going_on})+{stop}?"] if going_on else []
        branches.append(stop)
        cuts.append(f"{stop}(?=[^{joined}{space}{_NOT_RIGHT}])")
    if before_spaces:
        branches = [f"{branch} ?" for branch in branches] + [" "]
    pattern, cut_points = "|".join(branches), "|".join(cuts)
    parts = {
        # One pattern for any text: its classes are small, so no stand-ins are needed.
        "ascii": pattern,
        "few": None,
        "most": (pattern, "\U00010000", "\ud800"),
        "ascii_cut_points": cut_points,
        "cut_points": cut_points,
        "fine_cut_points": cut_points,
        "can_be_empty": False,
        "leaves_nothing_out": True,
    }
    return Splitter.of_tree(lambda: parse(pattern), _NAME, parts)
