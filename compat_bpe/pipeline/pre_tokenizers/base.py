"""The protocol of a step of a pre-tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..aligned import Aligned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .plain import Across
    from .span_prefix import SpanStart
    from .split import Split


class PreTokenizerStep(Protocol):
    """A step: it sees pieces one by one, and nothing around them.

    No piece is empty, neither one that it sees nor one that it makes.
    """

    @property
    def needs_start(self) -> bool:
        """True if it treats a piece from the beginning of the original text otherwise.

        ``pieces`` then sees only pieces that are not from there.
        """

    @property
    def leaves_nothing_out(self) -> bool:
        """True if every character of a piece is certainly in what it makes of it."""

    def pieces(self, pieces: list[str]) -> list[str]:
        """Return what it makes of some pieces, in the fast way."""

    def align(self, pieces: list[Aligned]) -> list[Aligned]:
        """Return what it makes of some pieces, by the plain rule, with places."""

    def across(self, left: str, right: str) -> Across:
        """Return what a cut between two characters of a piece means to the step.

        ``True``: a clean cut, since the step makes of the two sides what it makes of the whole. A
        pair: the two pieces at the cut are one in the whole, so a later step must decide, given
        these characters beside the cut. ``False``: unknown. The answer holds for any text on the
        two sides.
        """

    def going_on(self, left: str, right: str) -> Across:
        """Return what ``across`` does, if the right side goes on from the left one.

        What the step puts before a piece is then not put before the right side.
        """

    def as_splits(self) -> Sequence[Split] | None:
        """Return splits that do the same, for joining; None if there are none."""

    def on_spans(self) -> tuple[SpanStart, Sequence[PreTokenizerStep]] | None:
        """Return what it does to a span as the first step, and the steps left to do.

        None if there is nothing to gain.
        """
