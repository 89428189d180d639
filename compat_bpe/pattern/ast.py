"""The tree that a pattern is parsed into."""

from __future__ import annotations

from typing import NamedTuple, Union

from ..unicode.code_points import CodePoints


class PatternError(ValueError):
    """An error in a pattern; the message says what is wrong, at which character, and what to do."""

    def __init__(self, pattern: str, position: int, reason: str, hint: str = "") -> None:
        self.pattern = pattern
        self.position = position
        self.reason = reason
        super().__init__(f"pattern {_shorten(pattern)!r}, character {position}: {reason}{hint}")


class PatternTooLarge(PatternError):
    """A pattern beyond the limits (see ``limits``), whatever it means."""


def _shorten(pattern: str) -> str:
    return pattern if len(pattern) <= 60 else pattern[:57] + "..."


class Chars(NamedTuple):
    """One code point out of a set."""

    points: CodePoints


class Sequence(NamedTuple):
    """Items one after another; without items, the empty match."""

    items: tuple[Node, ...]


class Alternatives(NamedTuple):
    """Branches, of which the first that leads to a match counts."""

    branches: tuple[Node, ...]


class Repeat(NamedTuple):
    """An item repeated ``low`` to ``high`` times (None: without limit).

    ``mode`` is ``""`` for greedy, ``"?"`` for lazy, ``"+"`` for possessive.
    """

    item: Node
    low: int
    high: int | None
    mode: str


class Atomic(NamedTuple):
    """An item that matches in its first way only: the match is never reconsidered."""

    item: Node


class Look(NamedTuple):
    """A condition on the text after this position (``ahead``) or before it."""

    item: Node
    ahead: bool
    negative: bool


class Anchor(NamedTuple):
    r"""The start (``\A``) or end (``\z``) of the text."""

    kind: str


Node = Union[Chars, Sequence, Alternatives, Repeat, Atomic, Look, Anchor]

EMPTY = Sequence(())
