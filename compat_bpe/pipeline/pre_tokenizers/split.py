"""The step that cuts a piece at the matches of a pattern, and several such splits as one pattern.

Splits are joined if that gives the same pieces, since matching one pattern is several times as fast
as passing pieces from step to step. Splits can be joined on these conditions:

- The first splits cut out, or remove, single characters, or runs of characters, of some set.
- One last split may have any pattern P. It keeps the text that P does not match. Or it removes all
  of that text, and then the first splits cut nothing out.

The joined pattern has these branches:

- A split that joins characters of a set to the text before or after them has a pattern that
  matches the joined text. That is its P.
- The first splits take *every* character of their sets. So in the remaining pieces P sees no such
  character, and a piece ends before each of them. P' is P without those characters in its
  classes: for P', such a character is like the end of the text.
- The text between two matches of P is a piece, too. A *gap* is all characters from here on at
  which P' does not match.
- P sees the pieces of the first splits as well. If it surely leaves a run unchanged, a branch takes
  the run. If not, and the run is as long as possible, P and its gaps are branches again, with only
  the characters of the run in its classes.

No two of these branches begin at one position: the sets have no character in common, and a gap
begins where P' does not match.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, get_args

from ...caches import cached_property
from ...pattern.splitter import Splitter
from ...pattern.tree import (
    NEVER,
    Alternatives,
    Anchor,
    Chars,
    Look,
    Node,
    PatternError,
    Repeat,
    can_be_empty,
    changed,
    looks_back,
    project,
    surely_begins,
)
from ...pattern.tree import Sequence as NodeSequence
from ...unicode.properties import ALL, NONE, CodePoints
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

    # For joining

    @cached_property
    def unit(self) -> Repeat | None:
        """The characters of one set that the pattern matches, one by one or in runs.

        None if it is another pattern.
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

        None if there is no such pattern.
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
            # A cut beside a removed character is a cut between pieces.
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
    """Return the parts of a piece that a split keeps, as offsets in it; some may be empty."""
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
    """Return parts joined to the part before.

    With ``contiguous``, a part joins a part of its kind. Otherwise a match joins a part that is not
    a match.
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
    """Return the pattern of some branches; the first branch that matches counts."""
    if len(branches) == 1:
        return branches[0]
    return Alternatives(tuple(branches)) if branches else NEVER


def _ending_before(node: Node, left: CodePoints) -> Node:
    r"""Return a pattern in which ``\z`` also matches before any character not in ``left``."""
    if isinstance(node, Anchor):
        return Look(Chars(left), ahead=True, negative=True)
    return changed(node, lambda child: _ending_before(child, left))


#: The most splits that are joined, since each is compared with all before it.
MANY = 32


def joined(splits: Sequence[Split]) -> Splitter | None:
    """Return a splitter with the result of some splits, or None if they cannot be joined."""
    tree = join(splits)
    if tree is None:
        return None
    # Gaps are pieces, too.
    known = {"leaves_nothing_out": True} if all(one.leaves_nothing_out for one in splits) else {}
    try:
        return Splitter.of_tree(tree, NAME, known)
    except PatternError:
        return None  # each pattern can be used, but the joined pattern cannot


def splits_of(steps: Sequence[PreTokenizerStep]) -> list[Split] | None:
    """Return some steps if all of them are splits, or None."""
    splits = [step for step in steps if isinstance(step, Split)]
    return splits if len(splits) == len(steps) else None


def join(splits: Sequence[Split]) -> Node | None:
    """Return the joined pattern of the splits, or None if they cannot be joined."""
    if len(splits) > MANY:
        return None
    runs: list[tuple[Repeat, CodePoints]] = []
    taken = NONE
    last: Node = NEVER
    gaps_are_pieces = True
    for index, split in enumerate(splits):
        run = _run_of_chars(split)
        if run is None:
            as_matches = split.as_matches()
            if as_matches is None or index < len(splits) - 1:
                return None
            last, gaps_are_pieces = as_matches
            break
        points = split.points
        removed = split.behavior == "Removed"
        for other, others in runs:
            if points & others and (removed or other.high != 1):
                return None  # This step would change the pieces of that run again.
        points -= taken
        if points and not removed:
            runs.append((run._replace(item=Chars(points)), points))
        taken |= points
    if can_be_empty(last) or (taken and looks_back(last)) or (runs and not gaps_are_pieces):
        return None
    branches = (matches_and_gaps if gaps_are_pieces else matches)(last, ~taken)
    for run, points in runs:
        if _keeps(run, points, last):
            branches.append(run)
        elif run.high is None:
            branches += matches_and_gaps(last, points)
        else:
            return None
    return any_of(branches)


def _run_of_chars(split: Split) -> Repeat | None:
    """Return the run of characters of one set that a split always cuts out, or None."""
    run = split.unit
    if run is not None and split.behavior == "Contiguous":
        return run._replace(high=None)
    is_run = split.behavior == "Isolated" or (split.behavior == "Removed" and not split.invert)
    return run if is_run else None


def _keeps(run: Repeat, points: CodePoints, tree: Node) -> bool:
    """Return True if a pattern surely leaves the pieces of a run unchanged.

    It does if the pieces are single characters, if it matches nothing in them, or if the first
    branch that matches there takes the whole run.
    """
    inside = project(tree, lambda other: other & points)
    first = inside.branches[0] if isinstance(inside, Alternatives) else inside
    if run.high == 1 or inside == NEVER:
        return True
    return (
        isinstance(first, Repeat)
        and first.item == Chars(points)
        and first.low == 1
        and first.mode != "?"
        and (first.high is None or (run.high is not None and first.high >= run.high))
    )
