"""The base of the steps of a decoder, which turn pieces into text.

A decoder's steps work one after the other on the list of the tokens' pieces, which is joined in the
end. A piece is a token as the vocabulary writes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from .streams import Held, OneByOne

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .streams import StepStream

#: Keeps bytes that are no UTF-8 apart from everything else, so that they can be had back.
ESCAPED = "surrogateescape"


class DecoderStep:
    """A step of a decoder."""

    #: True if the result is one piece, whatever the pieces were.
    joins = False
    #: True if the step is ``ByteLevel``, which makes bytes of each piece by itself.
    is_byte_level = False

    def __call__(self, pieces: Sequence[str], errors: str) -> list[str]:
        """Return the pieces that the step makes of all pieces of a text.

        Args:
            pieces: the pieces.
            errors: as in ``bytes.decode``, for bytes that are no UTF-8.
        """
        raise NotImplementedError

    def stream(self, errors: str) -> StepStream:
        """Return the step for pieces that arrive one after another."""
        return Held(lambda pieces: self(pieces, errors), is_joined=False)

    def joined_stream(self, errors: str) -> StepStream:
        """Return the step for one piece that arrives in parts."""
        return Held(lambda pieces: self(pieces, errors), is_joined=True)

    def in_middle(self, piece: str) -> str:
        """Return the text of a piece that has others before and after it."""
        return "".join(self([piece], ESCAPED))

    def within(self, text: str) -> str:
        """Return what becomes of a text within a longer one, once the pieces have been joined."""
        return "".join(self([text], ESCAPED))


class PieceStep(DecoderStep):
    """A step that changes each piece by itself; only being first or last makes a difference."""

    def __call__(self, pieces: Sequence[str], errors: str) -> list[str]:
        """Return the changed pieces."""
        last = len(pieces) - 1
        return [
            self.change(piece, is_first=not index, is_last=index == last)
            for index, piece in enumerate(pieces)
        ]

    def stream(self, errors: str) -> StepStream:
        """Return the step for pieces that arrive one after another."""
        return OneByOne(self.change)

    def change(self, piece: str, *, is_first: bool, is_last: bool) -> str:
        """Return a piece, changed."""
        raise NotImplementedError

    def in_middle(self, piece: str) -> str:
        """Return the text of a piece that has others before and after it."""
        return self.change(piece, is_first=False, is_last=False)
