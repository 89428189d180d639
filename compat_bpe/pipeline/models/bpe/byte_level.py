"""Byte-level BPE as a model: a chunk is its bytes, which are merged."""

from __future__ import annotations

from ...cache import getter
from .by_rank import BytePairEncoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..base import Ids
    from ..text_model import ChunkToken
    from .unspaced import UnspacedEncoder

#: Build the character-boundary encoder after this many bytes of Chinese and the like; merging
#: them costs about as much as building it and what it looks up when characters are first met.
_WORTH_UNSPACED = 1 << 15


class ByteLevelBPE:
    """The model that encodes a chunk by merging its bytes.

    Args:
        merges: the merges, by rank or by a list.
        whole: chunks that are a token before any merging.
        to_bytes: returns the bytes of a chunk.

    >>> ByteLevelBPE(BytePairEncoder({b"h": 0, b"i": 1, b"hi": 2}), {}).encode("hi")
    (2,)
    """

    #: Cuts of a chunk are left to ``fit.long_chunk``, which knows bytes.
    joints = None

    def __init__(
        self,
        merges: BytePairEncoder,
        whole: Mapping[bytes, int],
        to_bytes: Callable[[str], bytes] = str.encode,
    ) -> None:
        self.merges = merges
        self.whole = whole
        self._whole_id = getter(whole)
        self.to_bytes = to_bytes
        # The character-boundary encoder takes its parts as UTF-8 text, each on its own.
        self._may_be_unspaced = to_bytes is str.encode and merges.is_complete
        self._unspaced: UnspacedEncoder | None = None
        self._unspaced_bytes = 0

    @property
    def is_complete(self) -> bool:
        """True if every byte is a token."""
        return self.merges.is_complete

    @property
    def is_text(self) -> bool:
        """True if the bytes that are merged are the UTF-8 of a chunk, all of it."""
        return self.to_bytes is str.encode and not self.merges.drops_bytes

    @property
    def unknown_id(self) -> int | None:
        """The id of the token that stands for unknown bytes; None if there is none."""
        return self.merges.unknown_id

    def ids_of(self, chunk: bytes) -> list[int]:
        """Return the ids of a chunk, given its bytes.

        Raises:
            ValueError: a byte of it is no token.
        """
        whole = self._whole_id(chunk)
        return self.merges.merge(chunk) if whole is None else [whole]

    def merge(self, data: bytes) -> list[int]:
        """Return the ids that merging makes of some bytes, even if they are a token as a whole."""
        return self.merges.merge(data)

    def encode(self, chunk: str) -> Ids:
        """Return the ids of a chunk.

        Raises:
            ValueError: a byte of it is no token.
        """
        data = self.to_bytes(chunk)
        whole = self._whole_id(data)
        if whole is not None:
            return (whole,)
        if self._may_be_unspaced and _is_wide(chunk):
            if self._unspaced is None:
                self._unspaced_bytes += len(data)
                if self._unspaced_bytes > _WORTH_UNSPACED:
                    from .unspaced import UnspacedEncoder

                    self._unspaced = UnspacedEncoder(self.merges, self.whole)
            # Read once, since another thread may clear it.
            unspaced = self._unspaced
            if unspaced is not None:
                return unspaced.merge([chunk])
        return tuple(self.merges.merge(data))

    def find(self, chunk: str) -> list[ChunkToken]:
        """Return the tokens of a chunk with their places; each has its name in the byte alphabet.

        Raises:
            ValueError: a byte of it is no token.

        >>> model = ByteLevelBPE(BytePairEncoder({b"h": 0, b" ": 1, b" h": 2}), {})
        >>> model.find(" hh")
        [ChunkToken(id=2, text='Ġh', start=0, end=2), ChunkToken(id=0, text='h', start=2, end=3)]
        """
        from ...byte_level import encode_bytes
        from ..text_model import ChunkToken

        data = self.to_bytes(chunk)
        written = encode_bytes(data)
        whole = self.whole.get(data)
        if whole is not None:
            return [ChunkToken(whole, written, 0, len(chunk.encode()))]
        # Lengths are those of the bytes as written, in UTF-8, also if the chunk is plain text.
        place_of = list(range(len(written.encode())))
        if self.to_bytes is str.encode:
            place_of = [place for place, char in enumerate(written) for _ in char.encode()]
        tokens = []
        at = 0
        for token_id, name, length in self.merges.find(data):
            tokens.append(ChunkToken(token_id, name, place_of[at], place_of[at + length - 1] + 1))
            at += length
        return tokens

    def encode_segment(self, segment: str, chunks: Callable[[str], list[str]]) -> Ids | None:
        """Return the ids of a segment of Chinese or the like, merged character by character."""
        unspaced = self._unspaced
        if unspaced is None or not unspaced.merging_makes_tokens or not _is_wide(segment):
            return None
        ids = unspaced.merge(chunks(segment))
        # Else a chunk that is a token need not be what merging makes of it.
        return ids if unspaced.merging_makes_tokens else None

    def clear_cache(self) -> None:
        """Drop the character-boundary encoder, which has a cache of its own."""
        self._unspaced = None
        self._unspaced_bytes = 0


def _is_wide(text: str) -> bool:
    """Return True if a text is mostly of characters from U+0800 on, as Chinese is."""
    return not text.isascii() and len(text.encode()) > 2 * len(text)
