"""A ``Sequence`` of post-processors."""

from __future__ import annotations

from collections.abc import Sequence

from ..tokenized.tokenized import Tokenized

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .base import Processor


class ProcessorSequence:
    """Post-processors, each of which takes the parts that the one before has made.

    Args:
        processors: the post-processors, the first one first.
    """

    def __init__(self, processors: Sequence[Processor]) -> None:
        self._processors = processors

    def added(self, is_pair: bool) -> int:
        """Return the number of tokens that each one by itself would add to the texts, in all."""
        return sum(processor.added(is_pair) for processor in self._processors)

    def process(self, parts: Sequence[Tokenized], add_special_tokens: bool) -> Sequence[Tokenized]:
        """Return what the last one makes."""
        for processor in self._processors:
            parts = processor.process(parts, add_special_tokens)
        return parts

    def process_ids(
        self, parts: Sequence[Sequence[int]], add_special_tokens: bool
    ) -> Sequence[Sequence[int]]:
        """Return the ids of the parts that ``process`` makes."""
        for processor in self._processors:
            parts = processor.process_ids(parts, add_special_tokens)
        return parts
