"""``Metaspace``: the sign for a space becomes a space."""

from __future__ import annotations

from .steps import PieceStep


class Metaspace(PieceStep):
    """The decoder of Metaspace.

    Args:
        sign: the character that stands for a space.
        drop_first: leave it out of the first piece, wherever it stands there.

    >>> Metaspace("▁", True)(["▁a", "▁b"], "strict")
    ['a', ' b']
    """

    def __init__(self, sign: str = "▁", drop_first: bool = True) -> None:
        self._sign = sign
        self._drop_first = drop_first

    def change(self, piece: str, *, is_first: bool, is_last: bool) -> str:
        """Return a piece with spaces."""
        return piece.replace(self._sign, "" if is_first and self._drop_first else " ")
