"""``WordPiece``: a space before each piece that begins a word."""

from __future__ import annotations

from .steps import PieceStep

#: Spaces that English text does not have there, in the order in which they are removed.
_ARTIFACTS = (
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
)


class WordPiece(PieceStep):
    """The decoder of WordPiece.

    Args:
        prefix: the beginning of a piece that goes on with a word.
        cleanup: remove some spaces, as before a full stop.

    >>> WordPiece("##", True)(["it", "'", "##s", "so", "!"], "strict")
    ['it', " '", 's', ' so', '!']
    """

    def __init__(self, prefix: str = "##", cleanup: bool = True) -> None:
        self._prefix = prefix
        self._cleanup = cleanup

    def change(self, piece: str, *, is_first: bool, is_last: bool) -> str:
        """Return a piece without the prefix, or after a space."""
        if not is_first:
            goes_on = piece.startswith(self._prefix)
            piece = piece[len(self._prefix) :] if goes_on else " " + piece
        return cleaned_up(piece) if self._cleanup else piece


def cleaned_up(text: str) -> str:
    """Return a text without some spaces.

    >>> cleaned_up("do not , please")
    'do not, please'
    """
    for old, new in _ARTIFACTS:
        text = text.replace(old, new)
    return text
