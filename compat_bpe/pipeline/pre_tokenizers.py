r"""Splitting in steps, as in the pre-tokenizers of a ``tokenizer.json``.

Each step sees the pieces of the step before, one by one, and nothing around them.  There are three
kinds of steps.  ``Split`` cuts a piece at the matches of a pattern.  ``PrefixSpace`` puts a space
before it.  ``ByteAlphabet`` writes its bytes as characters (see ``byte_level``), which later steps
then see.

Steps are joined into one pattern if that gives the same pieces, since matching one pattern is
several times as fast as taking pieces from step to step.  Steps can be joined on these conditions:

- The first steps cut out single characters, or runs of characters, of some set.
- One last step may have any pattern P.
- All of them keep the text that they do not match.

The joined pattern has these branches:

- The first steps take *every* character of their sets.  So in the remaining pieces P sees no such
  character, and a piece ends before each of them.  P' is P without those characters in its
  classes: for P', such a character is like the end of the text.
- The text between two matches of P is a piece, too.  A *gap* is all characters from here on at
  which P' does not match.
- P sees the pieces of the first steps as well.  If it surely leaves a run as it is, a branch takes
  the run.  If not, and the run is as long as it can be, P and its gaps are branches again, with
  only the characters of the run in its classes.

No two of these branches begin at one position: the sets have no character in common, and a gap
begins where P' does not match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Callable, Literal, NamedTuple, Union, get_args

from ..pattern.ast import Alternatives, Anchor, Chars, Look, Node, Repeat
from ..pattern.ast import Sequence as NodeSequence
from ..pattern.prepared import PREPARED
from ..pattern.splitter import Splitter
from ..pattern.translation import Translation
from ..pattern.writer import NEVER, can_be_empty, looks_back, project, surely_begins
from ..unicode.code_points import ALL, NONE, CodePoints
from .byte_level import decode_bytes, encode_bytes

#: The name of a joined pattern in messages.
NAME = "of the pre-tokenizer"

#: The treatment of a match: a piece of its own; removed; joined to the piece before or after it;
#: joined to the matches before and after it.
Behavior = Literal["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
BEHAVIORS: tuple[Behavior, ...] = get_args(Behavior)


class Split(NamedTuple):
    """A step that cuts a piece at the matches of a pattern.

    With ``invert``, the text between the matches is treated as the matches.
    """

    tree: Node
    behavior: Behavior = "Isolated"
    invert: bool = False


class PrefixSpace(NamedTuple):
    """A step that puts a space before a piece that does not begin with one."""


class ByteAlphabet(NamedTuple):
    """A step that writes the bytes of a piece as characters."""


class Joined(NamedTuple):
    """Several steps that are already joined into one pattern."""

    splitter: Splitter


Step = Union[Split, PrefixSpace, ByteAlphabet, Joined]


def make_splitter(steps: Sequence[Step]) -> Splitter | StepSplitter:
    """Return a splitter of text by steps, with a single pattern if the steps can be joined.

    Raises:
        PatternError: a pattern cannot be used.

    >>> from compat_bpe.pattern.parser import parse
    >>> steps = [Split(parse("[0-9]{1,3}")), Split(parse(r" ?[a-z]+|\\s+(?!\\S)|\\s"))]
    >>> make_splitter(steps).chunks("a  1234 b!?")
    ['a', '  ', '123', '4', ' b', '!?']
    """
    if len(steps) == 1 and isinstance(steps[0], Joined):
        return steps[0].splitter
    tree = _join(steps)
    if tree is not None:
        # Gaps are pieces, too, so nothing is left out.
        translation = Translation(lambda: tree, NAME, {"leaves_nothing_out": True})
        return Splitter.of_translation(translation, NAME)
    return StepSplitter(steps)


def prepared_steps(key: str, make_steps: Callable[[], Sequence[Step]]) -> list[Step] | None:
    """Return the prepared steps of a key, joined; None if there are none.

    Args:
        key: the steps as a file writes them.
        make_steps: returns the single steps, of which the last is ``ByteAlphabet``.
    """
    prepared = PREPARED.get(key)
    if prepared is None:
        return None

    def make_tree() -> Node:
        tree = _join(make_steps()[:-1])
        assert tree is not None
        return tree

    splitter = Splitter.of_translation(Translation(make_tree, NAME, prepared), NAME)
    return [Joined(splitter), ByteAlphabet()]


def to_bytes(steps: Sequence[Step]) -> Callable[[str], bytes]:
    """Return the function that gives the bytes of a chunk of ``make_splitter(steps)``."""
    written = any(isinstance(step, ByteAlphabet) for step in steps[:-1])
    return decode_bytes if written and not isinstance(steps[-1], ByteAlphabet) else str.encode


class StepSplitter:
    """A splitter like ``Splitter``, but step by step and without cut points."""

    #: There is no single pattern.
    tree: Node | None = None
    #: The patterns of cut points; None, since they are not known.
    cut_points: re.Pattern[str] | None = None
    ascii_cut_points: re.Pattern[str] | None = None
    fine_cut_points: re.Pattern[str] | None = None

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = [
            (step, Splitter.of_tree(step.tree, NAME)) if isinstance(step, Split) else (step, None)
            for step in steps
        ]

    def chunks(self, text: str) -> list[str]:
        """Return all chunks of a text, in order, each not empty."""
        pieces = [text] if text else []
        for step, splitter in self._steps:
            if isinstance(step, ByteAlphabet):
                pieces = [encode_bytes(piece.encode()) for piece in pieces]
            elif splitter is None:
                pieces = [piece if piece[:1] == " " else " " + piece for piece in pieces]
            else:
                assert isinstance(step, Split)
                pieces = [
                    piece[start:end]
                    for piece in pieces
                    for start, end in _kept(step, splitter.spans(piece), len(piece))
                    if start < end
                ]
        return pieces

    @property
    def leaves_nothing_out(self) -> bool:
        """True if every character of a text is certainly in a chunk."""
        return not any(
            isinstance(step, Split) and step.behavior == "Removed" for step, _ in self._steps
        )

    def segments(self, text: str) -> Iterator[str]:
        """Yield the whole text, since it has no known cut points."""
        yield text


def _kept(step: Split, spans: Iterable[tuple[int, int]], length: int) -> Iterable[tuple[int, int]]:
    """Return the pieces that a step makes of a piece, as offsets in it; some may be empty."""
    #: The whole piece in parts; True for a match.
    parts: list[tuple[int, int, bool]] = []
    at = 0
    for start, end in spans:
        if at < start:
            parts.append((at, start, step.invert))
        parts.append((start, end, not step.invert))
        at = end
    if at < length:
        parts.append((at, length, step.invert))
    if step.behavior == "Isolated":
        return [(start, end) for start, end, _ in parts]
    if step.behavior == "Removed":
        return [(start, end) for start, end, is_match in parts if not is_match]
    if step.behavior == "MergedWithNext":
        backwards = [(-end, -start, is_match) for start, end, is_match in reversed(parts)]
        return [(-end, -start) for start, end in reversed(_merged(backwards, contiguous=False))]
    return _merged(parts, contiguous=step.behavior == "Contiguous")


def _merged(parts: list[tuple[int, int, bool]], contiguous: bool) -> list[tuple[int, int]]:
    """Return parts joined to the one before.

    ``contiguous`` joins a part to one of its kind.  Otherwise a match joins a part that is none.
    """
    found: list[tuple[int, int]] = []
    before = False
    for start, end, is_match in parts:
        joins = is_match == before if contiguous else is_match and not before
        if joins and found:
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
        before = is_match
    return found


def _join(steps: Sequence[Step]) -> Node | None:
    """Return the pattern that the steps are joined to, or None if they cannot be."""
    runs: list[tuple[Repeat, CodePoints]] = []
    taken = NONE
    last: Node = NEVER
    for number, step in enumerate(steps):
        if not isinstance(step, Split) or step.invert:
            return None
        run = _run_of_chars(step)
        if run is None:
            if number < len(steps) - 1 or step.behavior != "Isolated":
                return None
            last = step.tree
            break
        assert isinstance(run.item, Chars)
        points = run.item.points
        for other, others in runs:
            if points & others and other.high != 1:
                return None  # This step would cut the pieces of that run again.
        points -= taken
        if points:
            runs.append((run._replace(item=Chars(points)), points))
        taken |= points
    if can_be_empty(last) or (taken and looks_back(last)):
        return None
    branches = _matches_and_gaps(last, ~taken)
    for run, points in runs:
        if _keeps(run, points, last):
            branches.append(run)
        elif run.high is None:
            branches += _matches_and_gaps(last, points)
        else:
            return None
    return branches[0] if len(branches) == 1 else Alternatives(tuple(branches))


def _run_of_chars(step: Split) -> Repeat | None:
    """Return the run of characters of one set that a step always cuts out, or None."""
    run = step.tree
    if isinstance(run, Chars):
        run = Repeat(run, 1, 1, "")
    if not isinstance(run, Repeat) or not isinstance(run.item, Chars) or run.low != 1:
        return None
    if step.behavior == "Contiguous":
        run = run._replace(high=None)
    elif step.behavior != "Isolated":
        return None
    return run if run.mode == "" else None


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


def _matches_and_gaps(tree: Node, alphabet: CodePoints) -> list[Node]:
    """Return branches for the matches of a pattern in runs of an alphabet, and for its gaps."""
    if alphabet != ALL:
        tree = _ending_before(project(tree, lambda points: points & alphabet), alphabet)
    if tree == NEVER:
        return [Repeat(Chars(alphabet), 1, None, "")] if alphabet else []
    branches: list[Node] = [tree]
    if isinstance(tree, Alternatives):
        branches = list(tree.branches)
    in_gap = alphabet - surely_begins(tree)
    if in_gap:
        here = NodeSequence((Look(tree, ahead=True, negative=True), Chars(in_gap)))
        branches.append(Repeat(here, 1, None, ""))
    return branches


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
