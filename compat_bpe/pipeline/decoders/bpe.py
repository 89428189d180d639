"""``BPEDecoder``: the mark at the end of a word becomes a space."""

from __future__ import annotations

from .steps import PieceStep


class EndOfWord(PieceStep):
    """The decoder of BPE with a mark at the end of each word.

    Args:
        suffix: the mark; it becomes a space, and nothing in the last piece.

    >>> EndOfWord("</w>")(["a</w>", "b</w>"], "strict")
    ['a ', 'b']
    """

    def __init__(self, suffix: str = "</w>") -> None:
        self._suffix = suffix

    def change(self, piece: str, *, is_first: bool, is_last: bool) -> str:
        """Return a piece with another mark."""
        return piece.replace(self._suffix, "" if is_last else " ")
