"""The step that writes a space as a visible character, and puts that before words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from ...parallel.lazy import cached_property
from ...pattern.ast import Chars
from ...unicode.code_points import CodePoints
from ..aligned import Aligned
from .base import PreTokenizerStep
from .plain import Across, PlainStep, prefixed
from .span_prefix import SpanPrefix
from .split import Split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .span_prefix import SpanStart

#: The pieces that get a prefix: all; those from the beginning of the original text; none.
Scheme = Literal["always", "first", "never"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)


class Metaspace(PlainStep):
    """A step that replaces spaces, puts the replacement before a piece, and cuts before each.

    Args:
        replacement: one character.
        scheme: the pieces that get a prefix, unless they begin with one.
        split: True to cut before each replacement.

    >>> Metaspace("_").pieces(["a b", "_c_"])
    ['_a', '_b', '_c', '_']
    """

    def __init__(self, replacement: str, scheme: Scheme = "always", split: bool = True) -> None:
        self.replacement = replacement
        self.scheme = scheme
        self.split = split
        self.needs_start = scheme == "first"

    def __repr__(self) -> str:
        return f"Metaspace({self.replacement!r}, {self.scheme!r}, {self.split})"

    @cached_property
    def _cutting(self) -> Split:
        return Split(Chars(CodePoints.of(self.replacement)), "MergedWithNext")

    def pieces(self, pieces: list[str]) -> list[str]:
        """Return what it makes of pieces that are not from the beginning of the text."""
        mark = self.replacement
        whole = "".join(pieces)
        if " " in whole:
            pieces = [piece.replace(" ", mark) for piece in pieces]
        elif mark not in whole:
            # Most often the words were cut before, and then each has its prefix alone.
            return [mark + piece for piece in pieces] if self.scheme == "always" else pieces
        if self.scheme == "always":
            pieces = [piece if piece[0] == mark else mark + piece for piece in pieces]
        if not self.split:
            return pieces
        marked = []
        for piece in pieces:
            first, *others = piece.split(mark)
            if first:
                marked.append(first)
            marked += [mark + other for other in others]
        return marked

    def align(self, pieces: list[Aligned]) -> list[Aligned]:
        """Return what it makes of some pieces, with places."""
        marked = []
        for piece in pieces:
            piece = piece._replace(text=piece.text.replace(" ", self.replacement))
            if piece.text[0] != self.replacement and (
                self.scheme == "always" or (self.scheme == "first" and piece.start == 0)
            ):
                piece = prefixed(piece, self.replacement)
            marked.append(piece)
        return self._cutting.align(marked) if self.split else marked

    def across(self, left: str, right: str) -> Across:
        """Return the answer for a cut; a right side that gets a prefix must begin with it."""
        left, right = (self.replacement if char == " " else char for char in (left, right))
        if right == self.replacement:
            return self.split or (left, right)
        return self.scheme != "always" and (left, right)

    def going_on(self, left: str, right: str) -> Across:
        """Return the characters as they are in the piece, or in the two that it is cut to."""
        left, right = (self.replacement if char == " " else char for char in (left, right))
        return left, right

    def on_spans(self) -> tuple[SpanStart, Sequence[PreTokenizerStep]]:
        """Return the prefix of the spans, and the cutting."""
        prefix = SpanPrefix(
            self.replacement,
            " ",
            only_first=self.scheme == "first",
            never=self.scheme == "never",
        )
        return prefix, [self._cutting] if self.split else []
