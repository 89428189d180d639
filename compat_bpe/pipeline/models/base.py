"""The protocol of a model, the stage that turns a chunk into ids."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from .joints import Joints
    from .text_model import ChunkToken

    #: The ids of a chunk, or of several.
    Ids = tuple[int, ...]

    class Model(Protocol):
        """A model. A chunk's ids depend on nothing but the chunk, so they may be cached."""

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
            """The id of the token that stands for what is unknown; None if there is none."""

        @property
        def joints(self) -> Joints | None:
            """The promise of places where tokens stay; None if there is none."""

        def encode(self, chunk: str) -> Ids:
            """Return the ids of one chunk, in the fast way."""

        def find(self, chunk: str) -> list[ChunkToken]:
            """Return the tokens of one chunk with their places, by the plain rule.

            Their ids are those of ``encode``.
            """

        def merge(self, data: bytes) -> list[int]:
            """Return the ids that merging makes of some bytes; only if ``is_text``."""

        def encode_segment(self, segment: str, chunks: Callable[[str], list[str]]) -> Ids | None:
            """Return the ids of a segment if there is a faster way than chunk by chunk, else None.

            Args:
                segment: a text between two cut points.
                chunks: the function that splits it.
            """

        def clear_cache(self) -> None:
            """Clear the model's cache."""
