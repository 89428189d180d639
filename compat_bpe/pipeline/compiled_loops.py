"""Compiled loops for one tokenizer: built when they are worth it, and if it can be encoded so.

On CPython a loop in Python takes many times as long as ``re`` or ``map``; on PyPy it is the other
way round.  So ``Core`` asks here on PyPy, and goes the other way for what has no answer here.
"""

from __future__ import annotations

from ..pattern.splitter import Splitter
from .models.byte_level_bpe import ByteLevelBPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .by_bytes import ByBytes
    from .definition import Definition
    from .models.bpe.by_pairs import CompiledMerger

#: Build the tables after this many characters of text, and those for merging after this many merged
#: bytes.  Until then the other way takes about as long as building them does.
_WORTH_TABLE = 1 << 16
_WORTH_PAIRS = 1 << 18


class CompiledLoops:
    """The compiled loops of one tokenizer, built once enough text has been encoded.

    Args:
        definition: the parts of the tokenizer.
    """

    def __init__(self, definition: Definition) -> None:
        self._splitter = definition.splitter
        self._model = definition.model
        #: True if spans may begin with a mark, which is no text.
        self._is_marked = definition.added.prefix is not None
        self._characters_left = _WORTH_TABLE
        self._bytes_left = _WORTH_PAIRS
        self._limits = 0, 0
        self._by_bytes: ByBytes | None = None
        self._merger: CompiledMerger | None = None

    def encoder_for(self, span: str) -> ByBytes | None:
        """Return the encoder for a span, or None if it is encoded as on CPython."""
        if self._by_bytes is None and self._characters_left >= 0:
            self._characters_left -= len(span)
            if self._characters_left < 0:
                self._by_bytes = self._build()
        return self._by_bytes

    def _build(self) -> ByBytes | None:
        splitter, model = self._splitter, self._model
        if not isinstance(splitter, Splitter) or not isinstance(model, ByteLevelBPE):
            return None
        table = splitter.table
        if table is None or model.to_bytes is not str.encode or self._is_marked:
            return None
        from .by_bytes import ByBytes

        by_bytes = ByBytes(table, model.whole, self._merge)
        by_bytes.set_limits(*self._limits)
        return by_bytes

    def _merge(self, chunk: bytes) -> list[int]:
        assert isinstance(self._model, ByteLevelBPE)
        merges = self._model.merges
        if self._merger is not None:
            return self._merger.merge(chunk)
        if self._bytes_left >= 0:
            self._bytes_left -= len(chunk)
            if self._bytes_left < 0:
                from .models.bpe.by_pairs import CompiledMerger

                self._merger = CompiledMerger.of(merges)
        return merges.merge(chunk)

    def set_limits(self, chunks: int, segments: int) -> None:
        """Set the largest number of chunks and of segments in the caches, and clear them."""
        self._limits = chunks, segments
        if self._by_bytes is not None:
            self._by_bytes.set_limits(chunks, segments)

    def clear_cache(self) -> None:
        """Clear the caches; the tables stay."""
        if self._by_bytes is not None:
            self._by_bytes.clear()
        if self._merger is not None:
            self._merger.clear_cache()
