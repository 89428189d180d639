"""``Replace``: the matches of a pattern in each piece become another text."""

from __future__ import annotations

from collections.abc import Callable

from .steps import PieceStep


class Replace(PieceStep):
    """The decoder ``Replace``.

    Args:
        replace: returns a text in which the matches are replaced.
    """

    def __init__(self, replace: Callable[[str], str]) -> None:
        self._replace = replace

    def change(self, piece: str, *, is_first: bool, is_last: bool) -> str:
        """Return a piece with other texts in it."""
        return self._replace(piece)
