r"""Added tokens: names in text that are tokens of their own, as in a ``tokenizer.json``.

They can do more than the special tokens of ``special``: some are always tokens, and some take the
white space around them.  They are found in two rounds:

1. tokens that are not ``normalized``, in the text as given;
2. ``normalized`` tokens by their normalized names, in the remaining text, once it is normalized.

In each round the leftmost name wins, and of several at one position the longest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from functools import cached_property
from typing import NamedTuple

from ..unicode.properties import white_space, word
from .normalizers import Normalizer


class AddedToken(NamedTuple):
    """An added token.

    Args:
        content: its name, as written in text.
        id: its id.
        special: True if it is a token only where that is allowed.
        normalized: True if it is looked for in normalized text.
        lstrip, rstrip: True if it takes the white space before it, and after it.
        single_word: True if it is a token only where no word character is beside it.
    """

    content: str
    id: int
    special: bool = False
    normalized: bool = False
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False


def normalized_content(token: AddedToken, normalize: Normalizer | None) -> str:
    """Return the text that a token is found by and decoded to.

    >>> normalized_content(AddedToken("A", 1, normalized=True), str.lower)
    'a'
    """
    return normalize(token.content) if token.normalized and normalize else token.content


class AddedTokens:
    """A finder of added tokens in text.

    Args:
        tokens: all added tokens.  Of two with the same normalized name, a special one wins over
            another, then the first (tokenizers defines no order there).
        normalize: the normalizer of the text between the tokens, or None.

    >>> tokens = AddedTokens([AddedToken("<a>", 1, special=True), AddedToken("b", 2, rstrip=True)])
    >>> list(tokens.split("<a>xb y<a>", allowed={"<a>"}))
    [('', 1), ('x', None), ('', 2), ('y', None), ('', 1)]
    >>> list(tokens.split("<a>xb y<a>", allowed=set()))
    [('<a>x', None), ('', 2), ('y<a>', None)]
    """

    def __init__(self, tokens: Sequence[AddedToken], normalize: Normalizer | None = None) -> None:
        self._normalize = normalize
        ordered = sorted(tokens, key=lambda token: not token.special)
        self._as_it_is = _Finder([(t.content, t) for t in ordered if not t.normalized])
        self._normalized = _Finder(
            [(normalized_content(t, normalize), t) for t in ordered if t.normalized]
        )

    def split(self, text: str, allowed: Set[str]) -> Iterator[tuple[str, int | None]]:
        """Yield the spans of normalized text between added tokens, and the tokens' ids.

        Args:
            text: without surrogates.
            allowed: the names of the special tokens that are tokens here.  Any other special
                name is plain text, and no token is found within it.
        """
        for span, token in self._as_it_is.split(text, allowed):
            if token is not None:
                yield "", token
                continue
            if self._normalize is not None:
                span = self._normalize(span)
            yield from self._normalized.split(span, allowed)


class _Finder:
    """A finder of tokens by their names; of two with one name, the first."""

    def __init__(self, tokens: list[tuple[str, AddedToken]]) -> None:
        self._tokens: dict[str, AddedToken] = {}
        for name, token in tokens:
            if name:
                self._tokens.setdefault(name, token)

    @cached_property
    def _names(self) -> re.Pattern[str]:
        # The longest name first, since the first branch that matches wins.
        names = sorted(self._tokens, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, names)))

    def split(self, text: str, allowed: Set[str]) -> Iterator[tuple[str, int | None]]:
        """Yield spans of text, each not empty, and ids."""
        at = 0
        for match in self._names.finditer(text) if self._tokens else ():
            token = self._tokens[match.group()]
            if token.special and token.content not in allowed:
                continue
            start, end = match.span()
            if token.single_word and (
                (start and _is_word(text[start - 1])) or _is_word(text[end : end + 1])
            ):
                continue
            if token.lstrip:
                # The token before may have taken the beginning of this one: take nothing twice.
                start = max(start, at)
                while start > at and _is_blank(text[start - 1]):
                    start -= 1
            if token.rstrip:
                while end < len(text) and _is_blank(text[end]):
                    end += 1
            if at < start:
                yield text[at:start], None
            # A token that has lost all of its text to the one before is dropped.
            if start < end:
                yield "", token.id
            # This may step back if the token before took blanks that this one has, too.
            at = end
        if at < len(text):
            yield text[at:] if at else text, None


def _is_word(char: str) -> bool:
    return bool(char) and ord(char) in word()


def _is_blank(char: str) -> bool:
    return ord(char) in white_space()
