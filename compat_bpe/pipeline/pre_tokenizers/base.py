"""The base class of a pre-tokenizer's steps, and the changes of whole spans by a first step.

The pieces that a first step sees are the spans between added tokens. So a prefix can be put before
the spans. Then the splitter does not need the prefix, and may be a single pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Union

from ...caches import cached_property
from ...unicode.surrogates import START
from ..aligned import Aligned

#: The name of the pattern of a step in messages.
NAME = "of the pre-tokenizer"

#: The answer of ``PreTokenizerStep.across``.
Across = Union[bool, tuple[str, str]]


class PreTokenizerStep:
    """A step, which turns pieces into pieces; it sees each piece alone, without the text around it.

    No piece is empty before or after the step.
    """

    #: True if a piece from the beginning of the original text is treated differently. ``pieces``
    #: then gets only other pieces.
    needs_start = False
    #: True if every character of a piece is certainly in the pieces that it becomes.
    leaves_nothing_out = True

    def pieces(self, pieces: list[str]) -> list[str]:
        """Return the pieces after the step, in the fast way."""
        raise NotImplementedError

    def align(self, pieces: list[Aligned]) -> list[Aligned]:
        """Return the pieces after the step, with places, by the plain rule."""
        raise NotImplementedError

    def across(self, left: str, right: str) -> Across:
        """Return the meaning of a cut between two characters of a piece for the step.

        True: a clean cut; the pieces of the two sides are those of the whole. A pair: a later step
        must decide, given these characters beside the cut, because the two pieces at the cut are
        one in the whole. False: unknown. The answer holds for any text on the two sides.
        """
        return False

    def going_on(self, left: str, right: str) -> Across:
        """Return the answer of ``across`` for a right side that continues the left one.

        The step then puts no prefix before the right side.
        """
        return self.across(left, right)

    def on_spans(self) -> tuple[SpanStart, Sequence[PreTokenizerStep]] | None:
        """Return this step as a change of spans, if it is first, and the remaining steps.

        None if that would not be faster.
        """
        return None


def prefixed(piece: Aligned, prefix: str) -> Aligned:
    """Return a piece with a character before it, which has the place of the first character.

    >>> prefixed(Aligned.of("ab"), "_").places
    [(0, 1), (0, 1), (1, 2)]
    """
    return piece._replace(text=prefix + piece.text, places=[piece.places[0], *piece.places])


class SpanPrefix:
    """A character put before each span, or before the text, unless it begins with it.

    Args:
        prefix: the character, such as a space.
        replaces: a character that it replaces everywhere first; empty for none.
        only_first: True to put it only before the span that begins where the original text does.
        never: True to put it nowhere.

    >>> SpanPrefix("▁", " ")("a b", 0)
    '▁a▁b'
    """

    def __init__(
        self, prefix: str, replaces: str = "", *, only_first: bool = False, never: bool = False
    ) -> None:
        self.prefix = prefix
        self.replaces = replaces
        self.only_first = only_first
        self.never = never

    def __call__(self, span: str, at_start: int) -> str:
        """Return a span with its prefix.

        Args:
            span: the normalized text between two added tokens.
            at_start: the number of its first characters that come from the first character of the
                original text, usually 0 or 1. It matters only if ``only_first`` is True.
        """
        if self.replaces:
            span = span.replace(self.replaces, self.prefix)
        is_put = not self.never and (at_start or not self.only_first)
        return self.prefix + span if is_put and span and span[0] != self.prefix else span

    def align(self, span: Aligned) -> Aligned:
        """Return a span with its prefix, which has the place of its first character."""
        text = self(span.text, span.start == 0)
        return span._replace(
            text=text, places=span.places[:1] * (len(text) - len(span.text)) + span.places
        )

    @cached_property
    def continued(self) -> SpanPrefix | None:
        """The change of a span that continues after a cut, without a prefix; None if none."""
        if self.never:
            return self
        return SpanPrefix(self.prefix, self.replaces, never=True) if self.replaces else None

    def across(self, left: str, right: str) -> tuple[str, str]:
        """Return the characters beside a position after the change.

        In any text, the left side, changed by itself, and the right side, changed by ``continued``,
        join to the changed whole.
        """
        if self.replaces:
            left = self.prefix if left == self.replaces else left
            right = self.prefix if right == self.replaces else right
        return left, right


class StartMark:
    """A mark before the span that begins where the original text does, for steps that need it.

    It is ``START``, once for each character of the span that comes from the text's first character.
    As a part of the text, the mark is also a part of the keys of all caches. The methods are those
    of ``SpanPrefix``.

    >>> StartMark()("ab", 1) == START + "ab"
    True
    """

    only_first = True
    replaces = ""
    #: A text that continues does not begin where the original text does.
    continued = None

    def __call__(self, span: str, at_start: int) -> str:
        """Return a span with its mark."""
        return START * at_start + span

    def align(self, span: Aligned) -> Aligned:
        """Return a span unchanged: its places show where it begins."""
        return span

    def across(self, left: str, right: str) -> tuple[str, str]:
        """Return the characters unchanged."""
        return left, right


#: A change of spans, mainly at their beginning.
SpanStart = Union[SpanPrefix, StartMark]


def split_off_first(
    steps: Sequence[PreTokenizerStep],
) -> tuple[SpanStart | None, Sequence[PreTokenizerStep]]:
    """Return the change of the spans, and the remaining steps, for the splitter.

    >>> from compat_bpe.pipeline.pre_tokenizers.steps import FixedLength, PrefixSpace
    >>> prefix, steps = split_off_first([PrefixSpace(), FixedLength(5)])
    >>> prefix("a", 0), [step.length for step in steps]
    (' a', [5])
    """
    first = steps[0].on_spans() if steps else None
    if first is None:
        prefix, remaining = None, steps
    else:
        prefix, remaining = first[0], [*first[1], *steps[1:]]
    if any(step.needs_start for step in remaining):
        return StartMark(), steps
    return prefix, remaining
