"""Where a text may be cut, so that what is left reads well."""

from __future__ import annotations

from typing import Callable, Literal, get_args

from ..unicode.properties import word

#: Between any two characters; not within a word, that is, not between two letters, marks, digits
#: or underscores; only where a line has ended.
Boundary = Literal["char", "word", "line"]
BOUNDARIES: tuple[Boundary, ...] = get_args(Boundary)


def rule_of(boundary: Boundary) -> Callable[[str, int], bool]:
    """What says whether a text may be cut at a place inside of it.

    Raises:
        ValueError: there is no such boundary.

    >>> may_cut = rule_of("line")
    >>> [place for place in range(1, 8) if may_cut("ab\\r\\ncd\\re", place)]
    [4, 7]
    """
    try:
        return _RULES[boundary]
    except KeyError:
        raise ValueError(f"unknown boundary {boundary!r}; known: {', '.join(BOUNDARIES)}") from None


def _is_between_chars(text: str, place: int) -> bool:
    """Not between the halves of a character that is written as two surrogates."""
    return not ("\ud800" <= text[place - 1] <= "\udbff" and "\udc00" <= text[place] <= "\udfff")


def _is_between_words(text: str, place: int) -> bool:
    return _is_between_chars(text, place) and not (
        ord(text[place]) in word() and ord(text[place - 1]) in word()
    )


def _is_between_lines(text: str, place: int) -> bool:
    before = text[place - 1]
    return before == "\n" or (before == "\r" and text[place] != "\n")


_RULES: dict[str, Callable[[str, int], bool]] = {
    "char": _is_between_chars,
    "word": _is_between_words,
    "line": _is_between_lines,
}
