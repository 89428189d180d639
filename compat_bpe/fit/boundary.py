"""The boundaries that a reader sees, at which a text may be cut: of characters, words and lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Callable, Literal, get_args

from ..unicode.properties import word
from ..unicode.surrogates import repair

#: The allowed positions: ``"char"``, between any two characters; ``"word"``, not between two
#: letters, marks, digits or underscores; ``"line"``, only after the end of a line.
Boundary = Literal["char", "word", "line"]
BOUNDARIES: tuple[Boundary, ...] = get_args(Boundary)


def rule_of(boundary: Boundary) -> Callable[[str, int], bool]:
    """Return the test for a boundary: True if a text may be cut at an offset inside it.

    Raises:
        ValueError: the boundary is not known.

    >>> may_cut = rule_of("line")
    >>> [at for at in range(1, 8) if may_cut("ab\\r\\ncd\\re", at)]
    [4, 7]
    """
    try:
        return _RULES[boundary]
    except KeyError:
        raise ValueError(f"unknown boundary {boundary!r}; known: {', '.join(BOUNDARIES)}") from None


def with_finer(boundary: Boundary) -> tuple[Boundary, ...]:
    """Return a boundary and the finer ones to fall back to if it allows no cut, the finest last.

    Raises:
        ValueError: the boundary is not known.

    >>> with_finer("line")
    ('line', 'word', 'char')
    """
    rule_of(boundary)
    return BOUNDARIES[BOUNDARIES.index(boundary) :: -1]


def boundary_at(text: str, at: int, boundaries: Iterable[Boundary]) -> Boundary:
    """Return the first of some boundaries that allows a cut at an offset inside the text.

    The last one is ``"char"``, and the offset is not within a character.

    >>> boundary_at("one two", 3, with_finer("line"))
    'word'
    """
    return next(name for name in boundaries if rule_of(name)(text, at))


def first_cut(text: str, boundary: Boundary, start: int, end: int) -> int:
    """Return the first place after ``start`` where a text may be cut, but at most ``end``.

    >>> first_cut("one two", "word", 0, 7)
    3
    """
    may_cut = rule_of(boundary)
    return next((place for place in range(start + 1, end) if may_cut(text, place)), end)


def _is_between_chars(text: str, at: int) -> bool:
    """Return True unless the offset is between the two surrogates of one character."""
    return not ("\ud800" <= text[at - 1] <= "\udbff" and "\udc00" <= text[at] <= "\udfff")


def _is_between_words(text: str, at: int) -> bool:
    if not _is_between_chars(text, at):
        return False
    before, after = text[at - 1], text[at]
    # A pair of surrogates is one character.
    if at > 1 and "\udc00" <= before <= "\udfff":
        before = repair(text[at - 2 : at])[-1]
    if "\ud800" <= after <= "\udbff":
        after = repair(text[at : at + 2])[0]
    return not (ord(after) in word() and ord(before) in word())


def _is_between_lines(text: str, at: int) -> bool:
    before = text[at - 1]
    return before == "\n" or (before == "\r" and text[at] != "\n")


_RULES: dict[str, Callable[[str, int], bool]] = {
    "char": _is_between_chars,
    "word": _is_between_words,
    "line": _is_between_lines,
}
