"""The core on PyPy: spans are encoded by compiled loops where there are any for the tokenizer.

On CPython, a loop in Python takes many times as long as ``re`` or ``map``. On PyPy it is the other
way round. A tokenizer without compiled loops encodes as on CPython.
"""

from __future__ import annotations

from ...pattern.splitter import Splitter
from ..core import CHUNKS_TO_A_SEGMENT, Core
from ..models.bpe.by_rank import ByteLevelBPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..core import Definition
    from .encoder import PyPyEncoder
    from .pairs import CompiledMerger

#: Build the tables after this many characters of text, and those for merging after this many merged
#: bytes. Up to there, CPython's way takes about as long as building them.
_WORTH_TABLE = 1 << 16
_WORTH_PAIRS = 1 << 18


class PyPyCore(Core):
    """The encoder and decoder of one tokenizer, for an interpreter that compiles loops.

    Args:
        definition: the parts of the tokenizer.
    """

    def __init__(self, definition: Definition) -> None:
        self._loops = CompiledLoops(definition)
        super().__init__(definition)

    def _encode_span(self, span: str, ids: list[int]) -> None:
        encoder = self._loops.encoder_for(span)
        if encoder is None:
            super()._encode_span(span, ids)
        else:
            ids += encoder.encode(span)

    def _count_span(self, span: str) -> int:
        encoder = self._loops.encoder_for(span)
        return super()._count_span(span) if encoder is None else encoder.count(span)

    def set_cache_limit(self, limit: int) -> None:
        """Set the largest number of chunks in the cache, of segments in proportion; clear it."""
        super().set_cache_limit(limit)
        self._loops.set_limits(limit, limit // CHUNKS_TO_A_SEGMENT)

    def clear_cache(self) -> None:
        """Clear the cache, including that of the model; compiled tables stay."""
        super().clear_cache()
        self._loops.clear_cache()


class CompiledLoops:
    """The compiled loops of one tokenizer, built once enough text has been encoded.

    Args:
        definition: the parts of the tokenizer.
    """

    def __init__(self, definition: Definition) -> None:
        self._splitter = definition.splitter
        self._model = definition.model
        #: True if spans may begin with ``START``, which is not text.
        self._is_marked = definition.added.prefix is not None
        self._characters_left = _WORTH_TABLE
        self._bytes_left = _WORTH_PAIRS
        self._limits = 0, 0
        self._encoder: PyPyEncoder | None = None
        self._merger: CompiledMerger | None = None

    def encoder_for(self, span: str) -> PyPyEncoder | None:
        """Return the encoder for a span, or None if it is encoded as on CPython."""
        if self._encoder is None and self._characters_left >= 0:
            self._characters_left -= len(span)
            if self._characters_left < 0:
                self._encoder = self._build()
        return self._encoder

    def _build(self) -> PyPyEncoder | None:
        splitter, model = self._splitter, self._model
        if not isinstance(splitter, Splitter) or not isinstance(model, ByteLevelBPE):
            return None
        from .encoder import table_of

        table = table_of(splitter)
        if table is None or model.to_bytes is not str.encode or self._is_marked:
            return None
        from .encoder import PyPyEncoder

        encoder = PyPyEncoder(table, model.whole, self._merge)
        encoder.set_limits(*self._limits)
        return encoder

    def _merge(self, chunk: bytes) -> list[int]:
        assert isinstance(self._model, ByteLevelBPE)
        merges = self._model.merges
        if self._merger is not None:
            return self._merger.merge(chunk)
        if self._bytes_left >= 0:
            self._bytes_left -= len(chunk)
            if self._bytes_left < 0:
                from .pairs import CompiledMerger

                self._merger = CompiledMerger.of(merges)
        return merges.merge(chunk)

    def set_limits(self, chunks: int, segments: int) -> None:
        """Set the largest number of chunks and of segments in the caches, and clear them."""
        self._limits = chunks, segments
        if self._encoder is not None:
            self._encoder.set_limits(chunks, segments)

    def clear_cache(self) -> None:
        """Clear the caches; the tables stay."""
        if self._encoder is not None:
            self._encoder.clear()
        if self._merger is not None:
            self._merger.clear_cache()
