"""The protocol that all models share, a token at its place, and joints.

A *joint* is a place between two characters that no token reaches across. Only the two characters
decide. The tokens before a joint do not depend on the text after it.

A joint is *exact* if both sides have the ids of the whole. A model that reads a chunk from left to
right, such as Unigram, has joints with *slack*: sums of scores are rounded, and that may decide
between two ways of nearly the same score. So the tokens after a joint may change with the text
before it.
"""

from __future__ import annotations

from typing import Callable, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    #: The ids of a chunk, or of several.
    Ids = tuple[int, ...]

    class Model(Protocol):
        """A model. A chunk's ids depend only on the chunk, so they may be cached."""

        @property
        def is_complete(self) -> bool:
            """True if every text has ids, and no part of it is dropped."""

        @property
        def is_text(self) -> bool:
            """True if the bytes that are merged are the UTF-8 of a chunk, all of it."""

        @property
        def to_bytes(self) -> Callable[[str], bytes]:
            """The function that returns the bytes of a chunk."""

        @property
        def unknown_id(self) -> int | None:
            """The id of the unknown token; None if there is none."""

        @property
        def joints(self) -> Joints | None:
            """The promises about joints; None without joints."""

        def encode(self, chunk: str) -> Ids:
            """Return the ids of one chunk, in the fast way."""

        def find(self, chunk: str) -> list[ChunkToken]:
            """Return the tokens of one chunk with their places, by the plain rule.

            Their ids are those of ``encode``.
            """

        def merge(self, data: bytes) -> list[int]:
            """Return the ids that merging gives for some bytes; requires ``is_text``."""

        def encode_segment(self, segment: str, chunks: Callable[[str], list[str]]) -> Ids | None:
            """Return the ids of a segment if there is a faster way than chunk by chunk, else None.

            Args:
                segment: a text between two cut points.
                chunks: the function that splits it.
            """

        def clear_cache(self) -> None:
            """Clear the model's cache."""


class ChunkToken(NamedTuple):
    """A token in a chunk.

    Args:
        id: its id.
        text: the token as the reference shows it: the piece as in the vocabulary, or the text of
            the token.
        start, end: its place in the chunk, in bytes of UTF-8.
    """

    id: int
    text: str
    start: int
    end: int


class Joints(NamedTuple):
    """The promises of a model about its joints.

    Args:
        are_between: returns True if there is a joint between two characters of any chunk. The part
            of the chunk before it has at most as many tokens as the whole.
        slack: returns an upper bound on the tokens that the part of a chunk after a joint can lose
            when other text is before the joint; None if joints are exact.
        longest: the most characters that a token without unknown characters stands for; 0 if there
            is no limit.
        knows: returns True for a character that is never unknown.
    """

    are_between: Callable[[str, str], bool]
    slack: Callable[[str], int] | None = None
    longest: int = 0
    knows: Callable[[str], bool] = str.isascii  # not called if ``longest`` is 0

    @property
    def are_exact(self) -> bool:
        """True if both sides of a joint have the ids of the whole."""
        return self.slack is None


class TextModel:
    """A model over the text of a chunk, not over its bytes."""

    is_text = False

    @property
    def to_bytes(self) -> Callable[[str], bytes]:
        """The function that returns the bytes of a chunk."""
        return str.encode

    @property
    def joints(self) -> Joints | None:
        """The promises about joints; here there are none."""
        return None

    def merge(self, data: bytes) -> list[int]:
        """Raise ``ValueError``: bytes are not merged."""
        raise ValueError(f"{type(self).__name__} is not byte-level BPE: it has no ids for bytes")

    def encode_segment(
        self, segment: str, chunks: Callable[[str], list[str]]
    ) -> tuple[int, ...] | None:
        """Return None: there is no faster way than chunk by chunk."""
        return None

    def clear_cache(self) -> None:
        """Clear the model's cache; here there is none."""
