"""The protocol of a post-processor, and how it is applied.

A post-processor turns a list of parts into a list of parts, which are joined in the end. At first
the parts are the text, or the two texts of a pair. In a sequence each post-processor takes the
parts that the one before has made.
"""

from __future__ import annotations

from itertools import chain

from ..tokenized.tokenized import Tokenized

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    class Processor(Protocol):
        """A post-processor."""

        def added(self, is_pair: bool) -> int:
            """Return the number of tokens that it adds, as truncation counts them."""

        def process(
            self, parts: Sequence[Tokenized], add_special_tokens: bool
        ) -> Sequence[Tokenized]:
            """Return the parts that it makes of some parts.

            Raises:
                ValueError: it cannot take these parts.
            """

        def process_ids(
            self, parts: Sequence[Sequence[int]], add_special_tokens: bool
        ) -> Sequence[Sequence[int]]:
            """Return the ids of the parts that ``process`` makes."""


def process(
    processor: Processor | None,
    first: Tokenized,
    second: Tokenized | None = None,
    *,
    add_special_tokens: bool = False,
) -> Tokenized:
    """Return a text, or a pair of texts, as a post-processor makes it.

    Raises:
        ValueError: the post-processor cannot take it.

    >>> text = Tokenized([5], ["a"], [(0, 1)], [0])
    >>> process(None, text, text).sequence_ids
    [0, 1]
    """
    if processor is None and second is None:
        return first
    given = [first] if second is None else [first, second]
    parts: Sequence[Tokenized] = [_numbered(part, index) for index, part in enumerate(given)]
    if processor is None:
        # Here tokenizers does not say of which text an overflowing part is.
        for part in parts:
            part.overflowing = [other.changed(sequence_ranges={}) for other in part.overflowing]
    else:
        parts = processor.process(parts, add_special_tokens)
    return Tokenized.joined(parts)


def _numbered(part: Tokenized, number: int) -> Tokenized:
    """Return a part as the text of that number, and what overflows from it, too."""
    return part.changed(
        type_ids=[number] * len(part),
        sequence_ranges={number: (0, len(part))},
        overflowing=[_numbered(other, number) for other in part.overflowing],
    )


def process_ids(
    processor: Processor | None, given: Sequence[Sequence[int]], add_special_tokens: bool
) -> list[int]:
    """Return the ids of a text, or of a pair of texts, as a post-processor makes them.

    Raises:
        ValueError: the post-processor cannot take them.
    """
    if processor is not None:
        given = processor.process_ids(given, add_special_tokens)
    return list(chain.from_iterable(given))


def keeps_text(processor: Processor) -> bool:
    """Return True if a post-processor that adds nothing leaves a text as it is."""
    try:
        return process_ids(processor, [[0]], False) == [0]
    except ValueError:  # without special tokens it leaves too few parts for the next one
        return False
