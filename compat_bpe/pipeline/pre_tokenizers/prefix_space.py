"""The step that puts a space before a piece."""

from __future__ import annotations

from collections.abc import Sequence

from ..aligned import Aligned
from .base import PreTokenizerStep
from .plain import Across, PlainStep, prefixed
from .span_prefix import SpanPrefix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .span_prefix import SpanStart


class PrefixSpace(PlainStep):
    """A step that puts a space before a piece that does not begin with one.

    >>> PrefixSpace().pieces(["a", " b"])
    [' a', ' b']
    """

    def __repr__(self) -> str:
        return "PrefixSpace()"

    def pieces(self, pieces: list[str]) -> list[str]:
        """Return the pieces with a space before them."""
        return [piece if piece[0] == " " else " " + piece for piece in pieces]

    def align(self, pieces: list[Aligned]) -> list[Aligned]:
        """Return the pieces with a space before them, which has the first character's place."""
        return [piece if piece.text[0] == " " else prefixed(piece, " ") for piece in pieces]

    def across(self, left: str, right: str) -> Across:
        """Return the characters as they are if the right side gets no space."""
        return right == " " and (left, right)

    def going_on(self, left: str, right: str) -> Across:
        """Return the characters as they are."""
        return left, right

    def on_spans(self) -> tuple[SpanStart, Sequence[PreTokenizerStep]]:
        """Return the prefix of the spans, and no steps."""
        return SpanPrefix(" "), ()
