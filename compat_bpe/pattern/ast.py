"""The tree that a pattern is parsed into: what it matches, part by part."""

from __future__ import annotations

from typing import NamedTuple, Union

from ..unicode.code_points import CodePoints


class PatternError(ValueError):
    """A pattern that cannot be read: what is wrong, at which character of it, what to do."""

    def __init__(self, pattern: str, position: int, reason: str, hint: str = "") -> None:
        self.pattern = pattern
        self.position = position
        self.reason = reason
        super().__init__(f"pattern {_shorten(pattern)!r}, character {position}: {reason}{hint}")


def _shorten(pattern: str) -> str:
    return pattern if len(pattern) <= 60 else pattern[:57] + "..."


class Chars(NamedTuple):
    """One code point out of a set."""

    points: CodePoints


class Sequence(NamedTuple):
    """Items one after the other; with none, the empty match."""

    items: tuple[Node, ...]


class Alternatives(NamedTuple):
    """The first branch that leads to a match."""

    branches: tuple[Node, ...]


class Repeat(NamedTuple):
    """An item ``low`` to ``high`` times (None: without end).

    ``mode`` is ``""`` for greedy, ``"?"`` for lazy, ``"+"`` for possessive.
    """

    item: Node
    low: int
    high: int | None
    mode: str


class Atomic(NamedTuple):
    """An item whose first way to match is its only one."""

    item: Node


class Look(NamedTuple):
    """A condition on the text after (``ahead``) or before this place."""

    item: Node
    ahead: bool
    negative: bool


class Anchor(NamedTuple):
    r"""The start (``\A``) or end (``\z``) of the text."""

    kind: str


Node = Union[Chars, Sequence, Alternatives, Repeat, Atomic, Look, Anchor]

EMPTY = Sequence(())
