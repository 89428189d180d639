"""The step that cuts a piece at the matches of a pattern."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from ...parallel.lazy import cached_property
from ...pattern.ast import (
    NEVER,
    Alternatives,
    Anchor,
    Chars,
    Look,
    Node,
    PatternError,
    Repeat,
    can_be_empty,
    surely_begins,
)
from ...pattern.ast import Sequence as NodeSequence
from ...pattern.splitter import Splitter
from ...pattern.writer import project
from ...unicode.code_points import ALL, CodePoints
from ..aligned import Aligned
from .base import NAME, Across, PreTokenizerStep

#: The treatment of a match: a piece of its own; removed; joined to the piece before or after it;
#: joined to the matches before and after it.
Behavior = Literal["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
BEHAVIORS: tuple[Behavior, ...] = get_args(Behavior)

#: The behavior of an inverted step, in which the text between matches is joined to the other side.
_OPPOSITE: dict[Behavior, Behavior] = {
    "MergedWithNext": "MergedWithPrevious",
    "MergedWithPrevious": "MergedWithNext",
}


class Split(PreTokenizerStep):
    """A step that cuts a piece at the matches of a pattern.

    Args:
        tree: the pattern.
        behavior: the treatment of a match.
        invert: True to treat the text between the matches as the matches.

    >>> from compat_bpe.pattern.parser import parse
    >>> Split(parse("[0-9]"), "MergedWithNext").pieces(["ab12c"])
    ['ab', '1', '2c']
    """

    def __init__(self, tree: Node, behavior: Behavior = "Isolated", invert: bool = False) -> None:
        self.tree = tree
        self.behavior = behavior
        self.invert = invert
        self.leaves_nothing_out = behavior != "Removed"

    def __repr__(self) -> str:
        return f"Split({self.tree}, {self.behavior!r}, {self.invert})"

    @cached_property
    def _splitter(self) -> Splitter:
        return Splitter.of_tree(self.tree, NAME)

    def _parts(self, text: str) -> list[tuple[int, int]]:
        spans = _kept(self, self._splitter.spans(text), len(text))
        return [(start, end) for start, end in spans if start < end]

    def pieces(self, pieces: list[str]) -> list[str]:
        """Return the pieces, cut."""
        return [piece[start:end] for piece in pieces for start, end in self._parts(piece)]

    def align(self, pieces: list[Aligned]) -> list[Aligned]:
        """Return the pieces, cut, with places."""
        return [piece.part(*span) for piece in pieces for span in self._parts(piece.text)]

    # The same as another pattern

    @cached_property
    def unit(self) -> Repeat | None:
        """The characters of one set that it looks for, one by one or in runs.

        None if the pattern is another one.
        """
        unit = self.tree
        if isinstance(unit, Chars):
            unit = Repeat(unit, 1, 1, "")
        if not isinstance(unit, Repeat) or not isinstance(unit.item, Chars):
            return None
        return unit if unit.low == 1 and unit.mode == "" else None

    @property
    def points(self) -> CodePoints:
        """The set of characters of ``unit``, which is not None."""
        assert self.unit is not None
        assert isinstance(self.unit.item, Chars)
        return self.unit.item.points

    def as_matches(self) -> tuple[Node, bool] | None:
        """Return a pattern whose matches are the pieces, and True if its gaps are pieces, too.

        None if there is none.
        """
        if self.behavior == "Isolated":
            return self.tree, True
        if self.behavior == "Removed" and self.invert:
            return self.tree, False
        unit = self.unit
        if unit is None or unit.high not in (1, None) or self.points == ALL:
            return None
        others = Chars(~self.points)
        if self._merged_with == "MergedWithNext":
            after = NodeSequence((unit, Repeat(others, 0, None, "")))
            return Alternatives((after, Repeat(others, 1, None, ""))), True
        if self._merged_with == "MergedWithPrevious":
            before = NodeSequence((Repeat(others, 1, None, ""), unit._replace(low=0)))
            return Alternatives((before, unit)), True
        return None

    @property
    def _merged_with(self) -> Behavior:
        """The behavior towards the characters of the set, ``invert`` taken into account."""
        return _OPPOSITE.get(self.behavior, self.behavior) if self.invert else self.behavior

    # Cuts

    def across(self, left: str, right: str) -> Across:
        """Return the answer for a cut; for a set of characters it is exact."""
        if self.unit is not None:
            return self._across_unit(left, right)
        cuts = self._cuts
        return cuts is not None and cuts.is_cut(left + right, fine=True)

    @cached_property
    def _cuts(self) -> Splitter | None:
        """A splitter into matches and gaps, whose cut points are those of the step."""
        if self.behavior not in ("Isolated", "Removed") or can_be_empty(self.tree):
            return None
        try:
            return Splitter.of_tree(any_of(matches_and_gaps(self.tree, ALL)), NAME)
        except PatternError:
            return None

    def _across_unit(self, left: str, right: str) -> Across:
        assert self.unit is not None
        high = self.unit.high
        before, after = ord(left) in self.points, ord(right) in self.points
        behavior = self._merged_with
        if behavior == "Removed":
            # A cut beside a character that is removed is one between pieces.
            if not (before and after if self.invert else not before and not after):
                return True
            if not self.invert:
                return left, right
        if behavior == "Contiguous":
            return before != after or (left, right)
        if behavior in ("MergedWithNext", "MergedWithPrevious"):
            if high not in (1, None):
                return False
            here, there = (after, before) if behavior == "MergedWithNext" else (before, after)
            return (here and (high == 1 or not there)) or (left, right)
        if before and after:
            return high == 1 or (high is None and (left, right))
        return before != after or (left, right)


def _kept(split: Split, spans: Iterable[tuple[int, int]], length: int) -> Iterable[tuple[int, int]]:
    """Return the pieces that a split makes of a piece, as offsets in it; some may be empty."""
    #: The whole piece in parts; True for a match.
    parts: list[tuple[int, int, bool]] = []
    at = 0
    for start, end in spans:
        if at < start:
            parts.append((at, start, split.invert))
        parts.append((start, end, not split.invert))
        at = end
    if at < length:
        parts.append((at, length, split.invert))
    if split.behavior == "Isolated":
        return [(start, end) for start, end, _ in parts]
    if split.behavior == "Removed":
        return [(start, end) for start, end, is_match in parts if not is_match]
    if split.behavior == "MergedWithNext":
        backwards = [(-end, -start, is_match) for start, end, is_match in reversed(parts)]
        return [(-end, -start) for start, end in reversed(_merged(backwards, contiguous=False))]
    return _merged(parts, contiguous=split.behavior == "Contiguous")


def _merged(parts: list[tuple[int, int, bool]], contiguous: bool) -> list[tuple[int, int]]:
    """Return parts joined to the one before.

    ``contiguous`` joins a part to one of its kind. Otherwise a match joins a part that is none.
    """
    spans: list[tuple[int, int]] = []
    before = False
    for start, end, is_match in parts:
        joins = is_match == before if contiguous else is_match and not before
        if joins and spans:
            spans[-1] = spans[-1][0], end
        else:
            spans.append((start, end))
        before = is_match
    return spans


def matches(tree: Node, alphabet: CodePoints) -> list[Node]:
    """Return branches for the matches of a pattern in runs of an alphabet."""
    if alphabet != ALL:
        tree = _ending_before(project(tree, lambda points: points & alphabet), alphabet)
    if tree == NEVER:
        return []
    return list(tree.branches) if isinstance(tree, Alternatives) else [tree]


def matches_and_gaps(tree: Node, alphabet: CodePoints) -> list[Node]:
    """Return branches for the matches of a pattern in runs of an alphabet, and for its gaps."""
    branches = matches(tree, alphabet)
    if not branches:
        return [Repeat(Chars(alphabet), 1, None, "")] if alphabet else []
    tree = any_of(branches)
    in_gap = alphabet - surely_begins(tree)
    if in_gap:
        here = NodeSequence((Look(tree, ahead=True, negative=True), Chars(in_gap)))
        branches.append(Repeat(here, 1, None, ""))
    return branches


def any_of(branches: list[Node]) -> Node:
    """Return the pattern of some branches, of which the first that matches counts."""
    if len(branches) == 1:
        return branches[0]
    return Alternatives(tuple(branches)) if branches else NEVER


def _ending_before(node: Node, left: CodePoints) -> Node:
    r"""Return a pattern in which ``\z`` also matches before any character not in ``left``."""
    if isinstance(node, Anchor):
        return Look(Chars(left), ahead=True, negative=True)
    if isinstance(node, NodeSequence):
        return NodeSequence(tuple(_ending_before(item, left) for item in node.items))
    if isinstance(node, Alternatives):
        return Alternatives(tuple(_ending_before(branch, left) for branch in node.branches))
    if isinstance(node, Chars):
        return node
    return node._replace(item=_ending_before(node.item, left))
