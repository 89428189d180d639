"""The first of some steps, done on the spans if that is possible."""

from __future__ import annotations

from collections.abc import Sequence

from .base import PreTokenizerStep
from .span_prefix import StartMark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .span_prefix import SpanStart


def split_off_first(
    steps: Sequence[PreTokenizerStep],
) -> tuple[SpanStart | None, Sequence[PreTokenizerStep]]:
    """Return what is done to the spans, and the steps that are left for the splitter.

    >>> from compat_bpe.pipeline.pre_tokenizers.fixed_length import FixedLength
    >>> from compat_bpe.pipeline.pre_tokenizers.prefix_space import PrefixSpace
    >>> prefix, steps = split_off_first([PrefixSpace(), FixedLength(5)])
    >>> prefix("a", 0), steps
    (' a', [FixedLength(5)])
    """
    first = steps[0].on_spans() if steps else None
    if first is None:
        prefix, left = None, steps
    else:
        prefix, left = first[0], [*first[1], *steps[1:]]
    if any(step.needs_start for step in left):
        return StartMark(), steps
    return prefix, left
