"""The first step of a pre-tokenizer, done on the spans between added tokens.

The pieces that a first step sees are these spans, so what it does can be done to them. The
splitter then need not know of it, and may be a single pattern.
"""

from __future__ import annotations

from ...parallel.lazy import cached_property
from ...unicode.surrogates import START

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from ..aligned import Aligned

    class SpanStart(Protocol):
        """A change of spans, before all at their beginning."""

        @property
        def only_first(self) -> bool:
            """True if ``at_start`` matters."""

        @property
        def replaces(self) -> str:
            """A character that is replaced everywhere; empty for none."""

        def __call__(self, span: str, at_start: int) -> str:
            """Return a span, changed.

            Args:
                span: the normalized text between two added tokens.
                at_start: the number of its first characters that are made of the first character
                    of the original text; most often it is 0, or 1.
            """

        def align(self, span: Aligned) -> Aligned:
            """Return a span, changed as the splitter's ``align`` expects it, with places."""

        @property
        def continued(self) -> SpanStart | None:
            """The change of a span that goes on after a cut; None if it is not changed."""

        def across(self, left: str, right: str) -> tuple[str, str]:
            """Return the characters beside a position afterwards.

            The left side, changed by itself, and the right side, changed by ``continued``, are the
            changed whole, whatever text they stand in.
            """


class SpanPrefix:
    """A character put before each span, or before the text, unless it begins with it.

    Args:
        prefix: the character, a space for instance.
        replaces: a character that is replaced by it everywhere before that; empty for none.
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
        """Return a span with its prefix."""
        if self.replaces:
            span = span.replace(self.replaces, self.prefix)
        if not span or span[0] == self.prefix or not self._is_put(bool(at_start)):
            return span
        return self.prefix + span

    def _is_put(self, at_start: bool) -> bool:
        return not self.never and (at_start or not self.only_first)

    def align(self, span: Aligned) -> Aligned:
        """Return a span with its prefix, which has the place of its first character."""
        text = self(span.text, span.start == 0)
        return span._replace(
            text=text, places=span.places[:1] * (len(text) - len(span.text)) + span.places
        )

    @cached_property
    def continued(self) -> SpanPrefix | None:
        """The change of a span that goes on after a cut, which gets no prefix."""
        if self.never:
            return self
        return SpanPrefix(self.prefix, self.replaces, never=True) if self.replaces else None

    def across(self, left: str, right: str) -> tuple[str, str]:
        """Return the characters beside a position afterwards."""
        if self.replaces:
            left = self.prefix if left == self.replaces else left
            right = self.prefix if right == self.replaces else right
        return left, right


class StartMark:
    """A mark before the span that begins where the original text does, for steps that ask.

    It is ``START``, as often as characters of the span are made of the first one of the text. As
    a part of the text, the mark is also a part of the keys of all caches.

    >>> StartMark()("ab", 1) == START + "ab"
    True
    """

    only_first = True
    replaces = ""
    #: A text that goes on does not begin where the original text does.
    continued = None

    def __call__(self, span: str, at_start: int) -> str:
        """Return a span with its mark."""
        return START * at_start + span

    def align(self, span: Aligned) -> Aligned:
        """Return a span as it is: its places say where it begins."""
        return span

    def across(self, left: str, right: str) -> tuple[str, str]:
        """Return the characters as they are."""
        return left, right
