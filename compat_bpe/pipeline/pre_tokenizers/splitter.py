"""Splitters of text by steps: one pattern if the steps can be joined, else step by step.

``pre_tokenizers.split`` has the rules for joining.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from ...pattern.prepared import PREPARED
from ...pattern.splitter import LONGEST_SEGMENT, SHORTEST_SEGMENT, Splitter
from ...unicode.surrogates import START, has_surrogates
from ..aligned import Aligned
from .base import NAME, Across, PreTokenizerStep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...pattern.tree import Node


class Joined(PreTokenizerStep):
    """Several steps that are joined into one pattern: its matches are the pieces.

    Args:
        splitter: the pattern.
    """

    def __init__(self, splitter: Splitter) -> None:
        self.splitter = splitter

    @property
    def leaves_nothing_out(self) -> bool:  # type: ignore[override]
        """True if every character is certainly in a match."""
        return self.splitter.leaves_nothing_out

    def pieces(self, pieces: list[str]) -> list[str]:
        """Return the matches in the pieces."""
        chunks = self.splitter.chunks
        if len(pieces) == 1:
            return chunks(pieces[0])
        return [chunk for piece in pieces for chunk in chunks(piece)]

    def align(self, pieces: list[Aligned]) -> list[Aligned]:
        """Return the matches in the pieces, with places."""
        return [
            piece.part(start, end)
            for piece in pieces
            for start, end in self.splitter.spans(piece.text)
            if start < end
        ]

    def across(self, left: str, right: str) -> Across:
        """Return True at a cut point of the pattern."""
        return self.splitter.is_cut(left + right, fine=True)


def prepared_steps(
    key: str, make_steps: Callable[[], Sequence[PreTokenizerStep]]
) -> list[PreTokenizerStep] | None:
    """Return the prepared steps of a key, joined; None if there are none.

    Args:
        key: the steps as written in a file.
        make_steps: returns the single steps. The last one is ``ByteAlphabet``.
    """
    prepared = PREPARED.get(key)
    if prepared is None:
        return None

    def make_tree() -> Node:
        from .split import join, splits_of

        splits = splits_of(make_steps()[:-1])
        tree = None if splits is None else join(splits)
        assert tree is not None
        return tree

    splitter = Splitter.of_tree(make_tree, NAME, prepared)
    from .steps import ByteAlphabet

    return [Joined(splitter), ByteAlphabet()]


#: The number of pairs of characters beside a position that are kept.
_PAIRS = 1 << 14
#: The number of further characters that are searched for a cut point before a blank, before all
#: places are tried. In Chinese, nearly every cut point is between two other characters.
_FURTHER = 1 << 13
#: The characters that most cut points are before.
_BLANK = re.compile(r"[ \n\t]")


def make_splitter(steps: Sequence[PreTokenizerStep]) -> Splitter | StepSplitter:
    """Return a splitter of text by steps, with a single pattern if the steps can be joined.

    Raises:
        PatternError: a pattern cannot be used.

    >>> from compat_bpe.pattern.parser import parse
    >>> from compat_bpe.pipeline.pre_tokenizers.split import Split
    >>> steps = [Split(parse("[0-9]{1,3}")), Split(parse(r" ?[a-z]+|\\s+(?!\\S)|\\s"))]
    >>> make_splitter(steps).chunks("a  1234 b!?")
    ['a', '  ', '123', '4', ' b', '!?']
    """
    if len(steps) == 1 and isinstance(steps[0], Joined):
        return steps[0].splitter
    from .split import joined, splits_of

    splits = splits_of(steps)
    splitter = None if splits is None else joined(splits)
    return StepSplitter(steps) if splitter is None else splitter


class StepSplitter:
    """A splitter like ``Splitter``, but step by step.

    Steps that can be joined are one step in the fast way.

    A text may begin with ``START`` (see ``StartMark``), once for each of its characters that comes
    from the first character of the original text.

    Args:
        steps: the steps.

    Raises:
        PatternError: a pattern cannot be used.
    """

    #: There is no single pattern.
    tree: Node | None = None
    #: The patterns of cut points; None, since they are found by ``is_cut``.
    cut_points: re.Pattern[str] | None = None
    ascii_cut_points: re.Pattern[str] | None = None
    fine_cut_points: re.Pattern[str] | None = None
    #: There may be cut points.
    has_cuts = True

    def __init__(self, steps: Sequence[PreTokenizerStep]) -> None:
        self._steps = tuple(steps)
        self._fast = _grouped(steps)
        self._across = lru_cache(_PAIRS)(self._is_cut)

    def chunks(self, text: str) -> list[str]:
        """Return all chunks of a text, in order, each not empty."""
        if text[:1] == START:
            return [piece.text for piece in self.align(_marked(text))]
        pieces = [text] if text else []
        for step in self._fast:
            pieces = step.pieces(pieces)
        return pieces

    def align(self, text: Aligned) -> list[Aligned]:
        """Return all chunks of a text by the plain rule, with places."""
        pieces = [text] if text.text else []
        for step in self._steps:
            pieces = step.align(pieces)
        return pieces

    @property
    def leaves_nothing_out(self) -> bool:
        """True if every character of a text is certainly in a chunk."""
        return all(step.leaves_nothing_out for step in self._steps)

    def is_cut(self, beside: str, fine: bool) -> bool:
        """Return True if there is a cut point between two characters of any text.

        The property: one step makes the same pieces of the two sides as of the whole. So do the
        steps before it, except for the piece with the two characters. Since steps see pieces one by
        one, all later steps then make the same pieces, too.

        Args:
            beside: two characters.
            fine: ignored.
        """
        return self._across(beside)

    def _is_cut(self, beside: str) -> bool:
        if has_surrogates(beside):
            return False
        left, right = beside[0], beside[1]
        for step in self._steps:
            answer = step.across(left, right)
            if isinstance(answer, bool):
                return answer
            left, right = answer
        return False

    def segments(
        self, text: str, shortest: int = SHORTEST_SEGMENT, longest: int = LONGEST_SEGMENT
    ) -> Iterator[str]:
        """Yield the segments of a text; see ``Splitter.segments``."""
        start = 0
        # No cut is within the characters that come from the original text's first character.
        least = 2 * (len(text) - len(text.lstrip(START))) if text[:1] == START else 0
        while start + longest < len(text):
            first = max(start + max(shortest, 1), least)
            at = text.find("\n", first, start + longest)
            cut = self._next_cut(text, first if at < 0 else at, start + longest)
            if cut is None:
                break
            yield text[start:cut]
            start = cut
        yield text[start:] if start else text

    def _next_cut(self, text: str, start: int, soon: int) -> int | None:
        """Return a cut point of a text from ``start`` on, preferably one before a blank."""
        is_cut = self._across
        for blank in _BLANK.finditer(text, start, soon + _FURTHER):
            cut = blank.start()
            if is_cut(text[cut - 1 : cut + 1]):
                return cut
        for cut in range(max(start, soon), len(text)):
            if is_cut(text[cut - 1 : cut + 1]):
                return cut
        return None


def _marked(text: str) -> Aligned:
    """Return a text without ``START``; its places show which characters come from the first."""
    plain = text.lstrip(START)
    count = len(text) - len(plain)
    places = [(0, 1)] * count + [(index, index + 1) for index in range(1, len(plain) - count + 1)]
    return Aligned(plain, places, 0, len(plain))


def _grouped(steps: Sequence[PreTokenizerStep]) -> list[PreTokenizerStep]:
    """Return equivalent steps: as many as possible are joined into one."""
    from .split import MANY, joined, splits_of

    grouped: list[PreTokenizerStep] = []
    start = 0
    while start < len(steps):
        step, end = steps[start], start + 1
        for stop in range(min(len(steps), start + MANY), start, -1):
            splits = splits_of(steps[start:stop])
            splitter = None if splits is None else joined(splits)
            if splitter is not None:
                step, end = Joined(splitter), stop
                break
        grouped.append(step)
        start = end
    return grouped
