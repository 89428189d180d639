"""Longest tokens: the bytes of a text are cut into the longest tokens, from left to right.

At each place the longest token that matches the text is taken, and that choice is never
reconsidered. Each single byte is a token, so one always matches.

A token depends only on the place at which it begins, and on the text from there on. So a text may
be cut at each place that no token reaches across: the last token before it always ends there, and
the next one always begins there. No token reaches across a place between two characters if no token
has the two next to each other. (A token that is part of a character, or begins or ends within one,
is compared by its bytes.)
"""

from __future__ import annotations

from itertools import chain
from operator import add

from ...caches import cached_property, getter, shareable
from ..byte_level import encode_bytes
from .base import ChunkToken, Joints, TextModel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .base import Ids


class LongestTokens(TextModel):
    """The model that cuts the UTF-8 of a text into the longest tokens.

    Args:
        tokens: each token and its id; among them each single byte.

    >>> tokens = {bytes([byte]): byte for byte in range(256)}
    >>> LongestTokens({**tokens, b"an": 256, b"ana": 257, b"nas": 258}).encode("ananas")
    (257, 258)
    """

    is_complete = True
    #: Nothing is unknown.
    unknown_id = None

    def __init__(self, tokens: Mapping[bytes, int]) -> None:
        self.tokens = tokens
        self._id_of = getter(tokens)
        lengths: dict[bytes, list[int]] = shareable()
        for start, length in sorted({(token[:2], len(token)) for token in tokens}, reverse=True):
            lengths.setdefault(start, []).append(length)
        #: For each beginning of two bytes the lengths of its tokens, the greatest first.
        self._lengths = lengths

    def encode(self, chunk: str) -> Ids:
        """Return the ids of a chunk.

        At each place, only the lengths of tokens with the next two bytes are tried.
        """
        data = chunk.encode()
        id_of, lengths = self._id_of, getter(self._lengths)
        whole = id_of(data)
        if whole is not None:
            return (whole,)
        ids: list[int] = []
        start = 0
        while start < len(data):
            for length in lengths(data[start : start + 2], ()):
                end = start + length
                # Beyond the end, the slice would be shorter than a token of this length.
                token_id = id_of(data[start:end]) if end <= len(data) else None
                if token_id is not None:
                    break
            else:
                end = start + 1
                token_id = id_of(data[start:end])
            ids.append(token_id)
            start = end
        return tuple(ids)

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the tokens of a chunk with their places; each has its name in the byte alphabet.

        >>> tokens = {bytes([byte]): byte for byte in range(256)}
        >>> LongestTokens({**tokens, b" h": 256}).find(" hi")[0]
        ChunkToken(id=256, text='Ġh', start=0, end=2)
        """
        data = chunk.encode()
        tokens: list[ChunkToken] = []
        start = 0
        for token_id in self.encode(chunk):
            end = start + self._length_of[token_id]
            tokens.append(ChunkToken(token_id, encode_bytes(data[start:end]), start, end))
            start = end
        return tokens

    @property
    def joints(self) -> Joints:
        """The places between two characters that no token reaches across.

        >>> model = LongestTokens({**{bytes([byte]): byte for byte in range(256)}, b"an": 256})
        >>> model.joints.are_between("a", "n"), model.joints.are_between("n", "a")
        (False, True)
        """
        return Joints(self._are_apart)

    def _are_apart(self, left: str, right: str) -> bool:
        characters, bytes_ = self._neighbors
        return left + right not in characters and (
            left.encode()[-1:] + right.encode()[:1] not in bytes_
        )

    @cached_property
    def _length_of(self) -> dict[int, int]:
        return {token_id: len(token) for token, token_id in self.tokens.items()}

    @cached_property
    def _neighbors(self) -> tuple[frozenset[str], frozenset[bytes]]:
        """Pairs of characters next to each other in a token, and of bytes in the other tokens."""
        texts: list[str] = []
        parts: list[bytes] = []
        for token in self.tokens:
            try:
                texts.append(token.decode())
            except UnicodeDecodeError:
                parts.append(token)
        return (
            frozenset(chain.from_iterable(map(add, text, text[1:]) for text in texts)),
            frozenset(part[at : at + 2] for part in parts for at in range(len(part) - 1)),
        )
