"""Word level: each chunk is one token, or unknown."""

from __future__ import annotations

from ..cache import getter
from .text_model import ChunkToken, TextModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import NoReturn

    from .base import Ids


class WordLevel(TextModel):
    """The model in which each chunk is a token.

    Args:
        vocabulary: each token and its id.
        unknown: the token for all chunks that are none.

    >>> WordLevel({"hi": 0, "[UNK]": 1}, "[UNK]").encode("hey")
    (1,)
    """

    #: An unknown chunk is one token, however long it is.
    is_complete = False

    def __init__(self, vocabulary: Mapping[str, int], unknown: str) -> None:
        self.vocabulary = vocabulary
        self._id_of = getter(vocabulary)
        self.unknown = unknown

    @property
    def unknown_id(self) -> int | None:
        """The id of the token that stands for what is unknown; None if there is none."""
        return self.vocabulary.get(self.unknown)

    def encode(self, chunk: str) -> Ids:
        """Return the id of a chunk.

        Raises:
            ValueError: the chunk is unknown, and the vocabulary has no token for that.
        """
        token_id = self._id_of(chunk)
        return (self._id_of_unknown(chunk) if token_id is None else token_id,)

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the token of a chunk, with its place; errors as in ``encode``."""
        (token_id,) = self.encode(chunk)
        text = chunk if chunk in self.vocabulary else self.unknown
        return [ChunkToken(token_id, text, 0, len(chunk.encode()))]

    def _id_of_unknown(self, chunk: str) -> int:
        token_id: int | None = self._id_of(self.unknown)
        return fail_unknown(chunk, self.unknown) if token_id is None else token_id


def fail_unknown(chunk: str, unknown: str) -> NoReturn:
    """Raise ``ValueError`` for an unknown chunk of a vocabulary without a token for that."""
    shown = chunk if len(chunk) <= 40 else chunk[:40] + "…"
    raise ValueError(
        f"{shown!r} is not in the vocabulary, and neither is {unknown!r}, its token for what is "
        "unknown"
    )
