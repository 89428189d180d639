"""Limits on superwords: tokens of several words, as SuperBPE has them.

SuperBPE (Liu et al., 2025) learns in two stages. The first one is BPE as usual: a pattern keeps
tokens within words. The second one goes on from these merges with another pattern, which leaves
words together, and learns tokens such as ``" by the way"``. Its limits are those of the trainer in
alisawuffles/tokenizers-superbpe, commit 757f2a5: a pair is passed over if its token would have more
than four words, or a colon before a space.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..options import check_least

#: The limits of the published tokenizers.
SUPERBPE_WORDS = 4
SUPERBPE_NOT_JOINED = (": ",)


class Limits:
    """The limits on tokens that are learned.

    Args:
        max_words: the most words of a token; None for any number. Words are what lies between
            spaces.
        not_joined: texts that no token contains.

    Raises:
        ValueError: a limit is impossible.

    >>> limits = Limits(2, [": "])
    >>> [limits.allow(token) for token in (b" by the", b" by the way", b"by the ", b"by: the")]
    [True, False, True, False]
    """

    def __init__(self, max_words: int | None = None, not_joined: Iterable[str] = ()) -> None:
        check_least("max_words", max_words, 1)
        self._max_words = max_words
        try:
            self._not_joined = [text.encode() for text in not_joined]
        except UnicodeEncodeError:
            raise ValueError("a text of not_joined has a lone surrogate") from None
        if b"" in self._not_joined:
            raise ValueError("a text of not_joined is empty: every token contains that")

    def allow(self, token: bytes) -> bool:
        """Return True if a token may be learned."""
        if (
            self._max_words is not None
            and len([*filter(None, token.split(b" "))]) > self._max_words
        ):
            return False
        return not any(text in token for text in self._not_joined)

    def __bool__(self) -> bool:
        return self._max_words is not None or bool(self._not_joined)
