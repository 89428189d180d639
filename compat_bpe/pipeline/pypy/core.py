"""The core on PyPy: spans are encoded by compiled loops where there are any for the tokenizer."""

from __future__ import annotations

from ..core import CHUNKS_TO_A_SEGMENT, Core
from .loops import CompiledLoops

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..definition import Definition


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
        """Clear the cache, that of the model included; compiled tables stay."""
        super().clear_cache()
        self._loops.clear_cache()
