"""The answers that most steps of a pre-tokenizer give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from ..aligned import Aligned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .span_prefix import SpanStart

#: The name of the pattern of a step in messages.
NAME = "of the pre-tokenizer"

#: The answer of ``PreTokenizerStep.across``.
Across = Union[bool, tuple[str, str]]


class PlainStep:
    """A step that is no split, leaves nothing out and has no cuts, unless it says otherwise."""

    needs_start = False
    leaves_nothing_out = True

    def across(self, left: str, right: str) -> Across:
        """Return False: nothing is known."""
        return False

    def going_on(self, left: str, right: str) -> Across:
        """Return what ``across`` does: it puts nothing before a piece."""
        return self.across(left, right)

    def as_splits(self) -> Sequence[Any] | None:
        """Return None: it is no split."""
        return None

    def on_spans(self) -> tuple[SpanStart, Sequence[Any]] | None:
        """Return None: it is a step like any other."""
        return None


def prefixed(piece: Aligned, prefix: str) -> Aligned:
    """Return a piece with a character before it, which has the place of the first one.

    >>> prefixed(Aligned.of("ab"), "_").places
    [(0, 1), (0, 1), (1, 2)]
    """
    return piece._replace(text=prefix + piece.text, places=[piece.places[0], *piece.places])
