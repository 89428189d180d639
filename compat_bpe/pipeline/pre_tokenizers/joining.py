r"""Several splits, joined into one pattern.

Splits are joined if that gives the same pieces, since matching one pattern is several times as fast
as taking pieces from step to step. Splits can be joined on these conditions:

- The first ones cut out, or remove, single characters, or runs of characters, of some set.
- One last split may have any pattern P. It keeps the text that P does not match; or it removes all
  of it, and then none of the first ones cuts anything out.

The joined pattern has these branches:

- A split that joins characters of a set to the text before or after them has a pattern that
  matches the joined text. That is its P.
- The first splits take *every* character of their sets. So in the remaining pieces P sees no such
  character, and a piece ends before each of them. P' is P without those characters in its
  classes: for P', such a character is like the end of the text.
- The text between two matches of P is a piece, too. A *gap* is all characters from here on at
  which P' does not match.
- P sees the pieces of the first splits as well. If it surely leaves a run as it is, a branch takes
  the run. If not, and the run is as long as it can be, P and its gaps are branches again, with
  only the characters of the run in its classes.

No two of these branches begin at one position: the sets have no character in common, and a gap
begins where P' does not match.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...pattern.ast import (
    NEVER,
    Alternatives,
    Chars,
    Node,
    PatternError,
    Repeat,
    can_be_empty,
    looks_back,
)
from ...pattern.splitter import Splitter
from ...pattern.translation import Translation
from ...pattern.writer import project
from ...unicode.code_points import NONE, CodePoints
from .base import NAME
from .split import Split, any_of, matches, matches_and_gaps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .base import PreTokenizerStep

#: More splits than this are not joined, since each is compared with all before it.
MANY = 32


def joined(splits: Sequence[Split]) -> Splitter | None:
    """Return a splitter that does what some splits do, or None if they cannot be joined."""
    tree = join(splits)
    if tree is None:
        return None
    # Gaps are pieces, too.
    known = {"leaves_nothing_out": True} if all(one.leaves_nothing_out for one in splits) else {}
    try:
        return Splitter.of_translation(Translation(lambda: tree, NAME, known), NAME)
    except PatternError:
        return None  # what holds for each pattern need not hold for the joined one


def splits_of(steps: Sequence[PreTokenizerStep]) -> list[Split] | None:
    """Return some steps if all of them are splits, or None."""
    splits = [step for step in steps if isinstance(step, Split)]
    return splits if len(splits) == len(steps) else None


def join(splits: Sequence[Split]) -> Node | None:
    """Return the pattern that the splits are joined to, or None if they cannot be."""
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
    """Return True if a pattern surely leaves the pieces of a run as they are.

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
