"""The tree that a pattern is parsed into, and what can be told from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Callable, NamedTuple, Union

from ..unicode.properties import ALL, NONE, CodePoints


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
    for child in children(node):
        yield from walk(child)


def children(node: Node) -> tuple[Node, ...]:
    """Return the nodes right below a node."""
    if isinstance(node, Sequence):
        return node.items
    if isinstance(node, Alternatives):
        return node.branches
    return (node.item,) if isinstance(node, (Repeat, Atomic, Look)) else ()


def changed(node: Node, change: Callable[[Node], Node]) -> Node:
    """Return a node with each of its children changed."""
    if isinstance(node, Sequence):
        return Sequence(tuple(map(change, node.items)))
    if isinstance(node, Alternatives):
        return Alternatives(tuple(map(change, node.branches)))
    if isinstance(node, (Repeat, Atomic, Look)):
        return node._replace(item=change(node.item))
    return node


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


#: Characters beside a position; True if the edge of the text will do, too.
Asked = tuple[CodePoints, bool]


def asked_of_next(node: Node) -> Asked | None:
    """Return the characters before which a node matches, and True if it matches at the end.

    None if that does not depend on the next character alone.
    """
    if isinstance(node, Chars):
        return node.points, False
    if isinstance(node, Anchor):
        return (NONE, True) if node.kind == "end" else None
    if isinstance(node, Look):
        asked = asked_of_next(node.item) if node.ahead else None
        if asked is None or not node.negative:
            return asked
        return ~asked[0], not asked[1]
    if isinstance(node, Alternatives):
        return asked_of_any(list(map(asked_of_next, node.branches)))
    if isinstance(node, Repeat) and node.low < 2:
        return asked_of_next(node.item) if node.low else (ALL, True)
    if isinstance(node, Sequence):
        items = list(node.items)
        while items and isinstance(items[-1], Repeat) and items[-1].low == 0:
            items.pop()  # it can do without
        if len(items) < 2:
            return asked_of_next(items[0]) if items else (ALL, True)
    return None


def asked_of_any(branches: list[Asked | None]) -> Asked | None:
    """Return what alternatives ask for, by what each one does; None if one asks for more."""
    known = [asked for asked in branches if asked is not None]
    if len(known) < len(branches):
        return None
    return CodePoints.union(*(points for points, _ in known)), any(edge for _, edge in known)


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
