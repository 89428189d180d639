r"""Splitting in steps, as the pre-tokenizers of a ``tokenizer.json`` do.

Each step sees the pieces that the step before left, one by one, and nothing around them.  A step
``Split`` cuts a piece where a pattern matches, ``PrefixSpace`` puts a space in front of it, and
``ByteAlphabet`` writes its bytes as characters (see ``byte_alphabet``), which later steps then see.

Steps are joined into one pattern where that gives the same pieces, since one pattern is matched
several times as fast as pieces are taken from step to step.  That is so for steps that cut out
single characters, or runs of characters, of some set, and one last step of any pattern P, all of
them keeping what does not match.  The joined pattern has these branches:

- The first steps take *every* character of their sets, so that in what is left P sees no such
  character, and the end of a piece is where one stands.  P' is P with those characters taken from
  each of its classes: for it, such a character is like the end of the text.
- What P leaves over between two matches is a piece too: a *gap* is all characters from here on
  where P' does not match.
- P sees the pieces of the first steps as well.  Where it is sure to leave them as they are, there
  is a branch that takes such a run.  Where not, and the run is as long as it can be, there are P
  and its gaps again, with nothing but the characters of the run in its classes.

No two of these begin at one place: the sets are apart, and a gap begins where P' does not match.
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

#: What messages call a pattern that is joined of several.
NAME = "of the pre-tokenizer"

#: What becomes of a match.  Pieces are kept: each match for itself; none; joined to the piece
#: before or after; joined to the matches before and after.
Behavior = Literal["Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
BEHAVIORS: tuple[Behavior, ...] = get_args(Behavior)


class Split(NamedTuple):
    """Cuts where a pattern matches, or, ``invert``, where it does not."""

    tree: Node
    behavior: Behavior = "Isolated"
    invert: bool = False


class PrefixSpace(NamedTuple):
    """Puts a space before a piece that does not begin with one."""


class ByteAlphabet(NamedTuple):
    """Writes the bytes of a piece as characters."""


class Joined(NamedTuple):
    """Splits as several steps do, which are joined already."""

    splitter: Splitter


Step = Union[Split, PrefixSpace, ByteAlphabet, Joined]


def make_splitter(steps: Sequence[Step]) -> Splitter | StepSplitter:
    """What splits text by some steps; a single pattern, if the steps can be joined.

    A last step ``ByteAlphabet`` is left out: ``to_bytes`` has what a chunk stands for.

    Raises:
        PatternError: a pattern cannot be used.

    >>> from compat_bpe.pattern.parser import parse
    >>> steps = [Split(parse("[0-9]{1,3}")), Split(parse(r" ?[a-z]+|\\s+(?!\\S)|\\s"))]
    >>> make_splitter(steps).chunks("a  1234 b!?")
    ['a', '  ', '123', '4', ' b', '!?']
    """
    if steps and isinstance(steps[-1], ByteAlphabet):
        steps = steps[:-1]
    if len(steps) == 1 and isinstance(steps[0], Joined):
        return steps[0].splitter
    tree = _join(steps)
    if tree is not None:
        # Gaps are pieces, too.
        translation = Translation(lambda: tree, NAME, {"leaves_nothing_out": True})
        return Splitter.of_translation(translation, NAME)
    return StepSplitter(steps)


def prepared_steps(key: str, make_steps: Callable[[], Sequence[Step]]) -> list[Step] | None:
    """The steps that are prepared by a key, joined; None if there are none.

    Args:
        key: how they stand in a file.
        make_steps: what gives them one by one; they end with ``ByteAlphabet``.
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
    """What gives the bytes that a chunk of ``make_splitter(steps)`` stands for."""
    written = any(isinstance(step, ByteAlphabet) for step in steps[:-1])
    return decode_bytes if written and not isinstance(steps[-1], ByteAlphabet) else str.encode


class StepSplitter:
    """Takes each piece from step to step; as ``Splitter``, but without safe places to cut."""

    #: There is no single pattern.
    tree: Node | None = None
    #: No place where a text may be cut is known.
    breaks: re.Pattern[str] | None = None
    ascii_breaks: re.Pattern[str] | None = None
    fine_breaks: re.Pattern[str] | None = None

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = [
            (step, Splitter.of_tree(step.tree, NAME)) if isinstance(step, Split) else (step, None)
            for step in steps
        ]

    def chunks(self, text: str) -> list[str]:
        """All chunks of a text, in order; none of them is empty."""
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
        """Whether every character of a text is certainly in a chunk."""
        return not any(
            isinstance(step, Split) and step.behavior == "Removed" for step, _ in self._steps
        )

    def passages(self, text: str) -> Iterator[str]:
        """The whole text, since there are no places to cut."""
        yield text


def _kept(step: Split, spans: Iterable[tuple[int, int]], length: int) -> Iterable[tuple[int, int]]:
    """The pieces that a step leaves of a piece, as places in it; some may be empty."""
    #: All of the piece, and whether it is a match.
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
    """Parts joined to the one before: to one of their kind, or a match to what is none."""
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
    """The pattern that some steps are joined to, if they can be."""
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
                return None  # It would cut the pieces of that run again.
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
    """The run of characters of one set that a step cuts out wherever it stands, or None."""
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
    """Whether a pattern surely leaves the pieces of a run as they are.

    It does if they are single characters, if it matches nothing in them, or if its first branch
    that matches there takes all of them.
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
    """Branches that match what a pattern matches in runs of an alphabet, and what it leaves."""
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
    r"""A pattern with each ``\z`` made to match before any character that is not in ``left``."""
    if isinstance(node, Anchor):
        return Look(Chars(left), ahead=True, negative=True)
    if isinstance(node, NodeSequence):
        return NodeSequence(tuple(_ending_before(item, left) for item in node.items))
    if isinstance(node, Alternatives):
        return Alternatives(tuple(_ending_before(branch, left) for branch in node.branches))
    if isinstance(node, Chars):
        return node
    return node._replace(item=_ending_before(node.item, left))
