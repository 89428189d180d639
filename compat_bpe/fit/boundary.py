"""The places where a text may be cut: boundaries that a reader sees, cut points of an encoding.

``TextEncoder`` is the protocol of encodings in ``fit``, which encodings themselves use.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence, Set
from functools import partial
from typing import Callable, Literal, Protocol, get_args

from ..pipeline.core import Core
from ..pipeline.special_tokens import AllowedSpecial, DisallowedSpecial
from ..unicode.properties import word
from ..unicode.surrogates import repair


class TextEncoder(Protocol):
    """The part of ``Encoding`` that fitting needs; ``Encoding`` documents each method."""

    name: str

    @property
    def core(self) -> Core: ...

    @property
    def continued(self) -> TextEncoder: ...

    @property
    def special_tokens_set(self) -> set[str]: ...

    def count(self, text: str) -> int: ...

    def encode_ordinary(self, text: str) -> list[int]: ...

    def encode(
        self,
        text: str,
        *,
        allowed_special: AllowedSpecial = ...,
        disallowed_special: DisallowedSpecial = ...,
    ) -> list[int]: ...

    def decode_bytes(self, tokens: Sequence[int]) -> bytes: ...

    def with_special(self, names: Set[str]) -> TextEncoder: ...


def check_encoding(encoding: object) -> None:
    """Raise ``TypeError`` if an encoding is a name: encodings by name are in a layer above.

    >>> check_encoding("gpt2")
    Traceback (most recent call last):
    TypeError: encoding must be an Encoding, not the name 'gpt2'; get_encoding or load returns it
    """
    if isinstance(encoding, (str, os.PathLike)):
        kind = "name" if isinstance(encoding, str) else "path"
        named = encoding if isinstance(encoding, str) else os.fspath(encoding)
        raise TypeError(
            f"encoding must be an Encoding, not the {kind} {named!r:.80}; "
            "get_encoding or load returns it"
        )


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


#: The number of characters without a cut point after which finer cut points are searched.
LONG = 1024
#: The number of characters at the end that are searched first for a cut point.
_WINDOW = 16


def last_cut_point(
    encoding: TextEncoder,
    text: str,
    end: int,
    *,
    names: frozenset[str] = frozenset(),
    fine: bool = False,
    whole_chunks: bool = False,
) -> int:
    """Return the last cut point before ``end`` in a text, or 0 if there is none.

    Args:
        encoding: the encoding that defines the cut points.
        text: any string.
        end: an offset in the text.
        names, fine, whole_chunks: as in ``Core.next_cut_point``.

    >>> from compat_bpe import get_encoding
    >>> last_cut_point(get_encoding("gpt2"), "one two three", 12)
    7
    """
    next_cut_point = partial(
        encoding.core.next_cut_point, names=names, fine=fine, whole_chunks=whole_chunks
    )
    # Search windows from the end backwards, each larger than the one before.
    start, width = end, _WINDOW
    while start:
        start = max(0, start - width)
        cut = next_cut_point(text, start, end)
        if cut is not None:
            following: int | None = cut
            while following is not None:
                cut = following
                following = next_cut_point(text, cut, end)
            return cut
        # Cut points are found after `start` and before `end`, so the windows overlap.
        end = start + 1
        width *= 2
    return 0
