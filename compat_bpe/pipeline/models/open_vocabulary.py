"""Models without a vocabulary of their own: each character, or each chunk, is a token."""

from __future__ import annotations

from .base import ChunkToken, TextModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .base import Ids


class _OpenVocabulary(TextModel):
    """The common part of both models."""

    #: The longest token is not known before the text is.
    is_complete = False
    unknown_id = None


class Characters(_OpenVocabulary):
    """The model in which each character is a token, and its code point is the id.

    >>> Characters().encode("né")
    (110, 233)
    """

    def encode(self, chunk: str) -> Ids:
        """Return the code points of a chunk."""
        return tuple(map(ord, chunk))

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the characters of a chunk, with their places."""
        tokens: list[ChunkToken] = []
        end = 0
        for char in chunk:
            start, end = end, end + len(char.encode())
            tokens.append(ChunkToken(ord(char), char, start, end))
        return tokens


class WholeChunks(_OpenVocabulary):
    """The model in which each chunk is a token, numbered in order of its first occurrence.

    Threads may share it without a lock: a chunk is first put at the end of ``words``, and its place
    there is its id. So no two chunks have one id, and an id that is given out can be decoded. Of
    two threads that meet a chunk at the same time both put it there; the place that is the first to
    get into ``tokens`` counts, and the other stays unused.

    >>> model = WholeChunks()
    >>> [*model.encode("to"), *model.encode("be"), *model.encode("to")]
    [0, 1, 0]
    >>> model.words
    [b'to', b'be']
    """

    def __init__(self) -> None:
        #: Each chunk that has occurred, as bytes, and its id; it grows.
        self.tokens: dict[bytes, int] = {}
        #: The chunk of each id; it grows.
        self.words: list[bytes] = []

    def encode(self, chunk: str) -> Ids:
        """Return the id of a chunk."""
        data = chunk.encode()
        tokens = self.tokens
        if data in tokens:
            return (tokens[data],)
        words = self.words
        token_id = len(words)
        words.append(data)
        if words[token_id] is not data:  # another thread has put one there meanwhile
            token_id = words.index(data, token_id)
        return (tokens.setdefault(data, token_id),)

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the one token of a chunk, with its place."""
        (token_id,) = self.encode(chunk)
        return [ChunkToken(token_id, chunk, 0, len(chunk.encode()))]
