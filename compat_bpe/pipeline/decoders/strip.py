"""``Strip``: a character left out at the ends of each piece."""

from __future__ import annotations

from .steps import PieceStep
from .streams import Ends

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .streams import StepStream


class Strip(PieceStep):
    """The decoder ``Strip``.

    Args:
        content: the character.
        start, stop: how many of it are left out at most at the beginning, and at the end.

    >>> Strip(" ", 1, 0)(["  a "], "strict")
    [' a ']
    """

    def __init__(self, content: str, start: int, stop: int) -> None:
        self._content = content
        self._start = start
        self._stop = stop

    def change(self, piece: str, *, is_first: bool, is_last: bool) -> str:
        """Return a piece without the character; nothing is left of one that has no other."""
        start = min(self._start, len(piece) - len(piece.lstrip(self._content)))
        stop = min(self._stop, len(piece) - len(piece.rstrip(self._content)))
        return piece[start : len(piece) - stop]

    def joined_stream(self, errors: str) -> StepStream:
        """Return the step for one piece that arrives in parts."""
        return Ends(self._content, self._start, self._stop)

    def within(self, text: str) -> str:
        """Return the text: only its ends would change."""
        return text
