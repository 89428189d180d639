"""The tree that a pattern is parsed into, and what can be told from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Union

from ..unicode.code_points import NONE, CodePoints


class PatternError(ValueError):
    """An error in a pattern; the message says what is wrong, at which character, and what to do."""

    def __init__(self, pattern: str, position: int, reason: str, hint: str = "") -> None:
        self.pattern = pattern
        self.position = position
        self.reason = reason
        super().__init__(f"pattern {_shorten(pattern)!r}, character {position}: {reason}{hint}")


class PatternTooLarge(PatternError):
    """A pattern beyond the limits (see ``parser.check_limits``), whatever it means."""


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
#: A node that never matches.
NEVER = Chars(NONE)


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all nodes below it."""
    yield node
    if isinstance(node, Sequence):
        children = node.items
    elif isinstance(node, Alternatives):
        children = node.branches
    elif isinstance(node, (Repeat, Atomic, Look)):
        children = (node.item,)
    else:
        children = ()
    for child in children:
        yield from walk(child)


def can_be_empty(node: Node) -> bool:
    """Return True if a node may match without taking a character.

    >>> from compat_bpe.pattern.parser import parse
    >>> can_be_empty(parse("a?(?!b)")), can_be_empty(parse("a|b+"))
    (True, False)
    """
    if isinstance(node, Chars):
        return False
    if isinstance(node, Sequence):
        return all(map(can_be_empty, node.items))
    if isinstance(node, Alternatives):
        return any(map(can_be_empty, node.branches))
    if isinstance(node, Repeat):
        return node.low == 0 or can_be_empty(node.item)
    return not isinstance(node, Atomic) or can_be_empty(node.item)


def surely_begins(node: Node) -> CodePoints:
    """Return characters at which a pattern matches, whatever follows; there may be others.

    >>> from compat_bpe.pattern.parser import parse
    >>> surely_begins(parse("a?b|c+|d(?=e)")) == CodePoints.of("bc")
    True
    """
    if isinstance(node, Chars):
        return node.points
    if isinstance(node, Alternatives):
        return CodePoints.union(*map(surely_begins, node.branches))
    if isinstance(node, Repeat):
        return surely_begins(node.item) if node.low == 1 else NONE
    if isinstance(node, Sequence):
        optional = NONE
        for number, item in enumerate(node.items):
            if isinstance(item, Repeat) and item.low == 0 and isinstance(item.item, Chars):
                optional |= item.item.points
                continue
            rest = node.items[number + 1 :]
            if all(isinstance(after, Repeat) and after.low == 0 for after in rest):
                # Without the characters that an optional item before it may take.
                return surely_begins(item) - optional
            break
    return NONE


def looks_back(node: Node) -> bool:
    r"""Return True if a match depends on the text before it.

    >>> from compat_bpe.pattern.parser import parse
    >>> looks_back(parse(r"a(?=b)$")), looks_back(parse(r"(?<=b)a")), looks_back(parse(r"\ba"))
    (False, True, True)
    """
    return any(
        (isinstance(below, Look) and not below.ahead)
        or (isinstance(below, Anchor) and below.kind == "start")
        for below in walk(node)
    )


def stays_whole(tree: Node) -> bool:
    r"""Return True if a chunk of a pattern certainly stays whole when it stands alone.

    Let a pattern split some text, and let *c* be one of the chunks. For most patterns, *c* as a
    text of its own is one chunk, too. So a text that such a pattern splits is never a chunk.

    The property holds if a pattern looks around only in these ways: ``(?!x)`` with a set of single
    characters ``x``, and ``$`` for the end of the text. The argument: both are true at the end of
    the text, and elsewhere they depend on the next character alone. So the way by which *c*
    matched in the text leads to a match of all of *c*. A way that comes before it and ends within
    *c* sees the same characters in the text, so it would have matched there, and *c* would be
    shorter. Hence the first way that matches, if it is another one, ends at the end of *c*, and
    gives all of it.

    Possessive repeats and atomic groups (``++``, ``(?>…)``) keep the property if they repeat a
    single character: such a repeat ends within *c*, as in the text, or at the end of *c*.

    >>> from compat_bpe.pattern.parser import parse
    >>> [stays_whole(parse(one)) for one in (r"\w++|\s+(?!\S)|\s+$", r"(?<=a)b|.", r"a+(?=!)|a")]
    [True, False, False]
    """
    return all(map(_is_harmless, walk(tree)))


def _is_harmless(node: Node) -> bool:
    if isinstance(node, Look):
        return node.ahead and node.negative and isinstance(node.item, Chars)
    if isinstance(node, Anchor):
        return node.kind != "start"
    if isinstance(node, Repeat) and node.mode == "+":
        return isinstance(node.item, Chars)
    return not isinstance(node, Atomic) or isinstance(node.item, Chars)
