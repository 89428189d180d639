"""A character put before each span, or before the text, unless it begins with it."""

from __future__ import annotations


class SpanPrefix:
    """The first step of a pre-tokenizer that puts a character before what it sees.

    The pieces that a first step sees are the spans between added tokens, so the spans get the
    prefix, and the splitter need not know of it.

    Args:
        prefix: the character, a space for instance.
        replaces: a character that is replaced by it everywhere before that; empty for none.
        only_first: True to put it only before the span that begins where the original text does.

    >>> SpanPrefix("▁", " ")("a b", is_first=False)
    '▁a▁b'
    """

    def __init__(self, prefix: str, replaces: str = "", *, only_first: bool = False) -> None:
        self.prefix = prefix
        self.replaces = replaces
        self.only_first = only_first

    def __call__(self, span: str, is_first: bool) -> str:
        """Return a span with its prefix.

        Args:
            span: the normalized text between two added tokens.
            is_first: True if its first character comes from the first one of the original text.
        """
        if self.replaces:
            span = span.replace(self.replaces, self.prefix)
        if not span or span[0] == self.prefix or (self.only_first and not is_first):
            return span
        return self.prefix + span

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the characters beside a position afterwards, if the right side gets no prefix."""
        if self.replaces:
            left = self.prefix if left == self.replaces else left
            right = self.prefix if right == self.replaces else right
        return (left, right) if right == self.prefix else None
