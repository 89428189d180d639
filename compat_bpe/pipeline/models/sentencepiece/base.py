"""The base of the models of SentencePiece, each of which cuts text into pieces in its own way."""

from __future__ import annotations

from ..text_model import ChunkToken, TextModel
from .splitter import WholeSplitter
from .vocabulary import SentencePieceVocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..base import Ids


class SentencePieceBase(TextModel):
    """A model over characters, with a vocabulary of pieces.

    Args:
        pieces: the vocabulary.
    """

    def __init__(self, pieces: SentencePieceVocabulary) -> None:
        self.pieces = pieces
        #: True if every text has ids, and no piece stands for any text.
        self.is_complete = pieces.byte_fallback
        #: The splitter whose chunks it takes.
        self.splitter = WholeSplitter()

    @property
    def unknown_id(self) -> int | None:
        """The id of the token that stands for what is unknown; None if there is none."""
        return self.pieces.unk_id if self.pieces.unk_id >= 0 else None

    def encode(self, chunk: str) -> Ids:
        """Return the ids of one chunk."""
        return tuple(self.pieces.ids_of(self.split(chunk)))

    def split(self, chunk: str) -> list[tuple[str, int]]:
        """Return the pieces of one chunk, and their ids, by the plain rule.

        An unknown piece has the id of the unknown piece.
        """
        raise NotImplementedError

    def quick_split(self, chunk: str) -> list[tuple[str, int]]:
        """Return what ``split`` returns, in about n log n time."""
        return self.split(chunk)

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the tokens of one chunk with their places.

        Bytes have their own places. Unknown pieces that follow each other are one token, which
        shows their text.
        """
        pieces = self.pieces
        tokens: list[ChunkToken] = []
        at = 0
        for text, token_id in self.quick_split(chunk):
            data = text.encode()
            if token_id != pieces.unk_id:
                tokens.append(ChunkToken(token_id, text, at, at + len(data)))
            elif pieces.byte_fallback:
                for place, byte in enumerate(data, at):
                    one = pieces.byte_ids[byte]
                    tokens.append(ChunkToken(one, pieces.texts[one], place, place + 1))
            elif tokens and tokens[-1].id == token_id:
                last = tokens[-1]
                tokens[-1] = ChunkToken(token_id, last.text + text, last.start, at + len(data))
            else:
                tokens.append(ChunkToken(token_id, text, at, at + len(data)))
            at += len(data)
        return tokens
