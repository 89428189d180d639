r"""The tree that a pattern is parsed into, facts about it, and its share of a smaller alphabet.

``uncertain_parts`` returns the parts that ``re`` might try in too many ways. ``re`` tries the ways
through a pattern one after another, until one succeeds. For a run of *n* letters, ``(?:a+)+b`` has
2ⁿ ways, ``a*a*a*b`` some n³, and ``a*b`` only *n*, and no two of these are at the same character at
once. Most patterns clearly have few ways. For all others, ``states`` counts the ways; it is
imported only then.

The property: if no part has too many ways (``states.is_bounded``), ``re`` takes each character in
at most as many ways as the pattern has instructions (or ``FEW``), for each position from which it
searches.

The argument:

1. A part that cannot fail is never tried again: after ``a+`` at the end of the pattern, one way
   leads to the match. So two parts must be examined (``_core``): the part before, and one round of
   the repeat by itself, since the last round fails.
2. All ways through a part are taken at once, as in ``states``, but two ways that meet are still
   counted as two. The counts are followed for all texts, until there are no new ones (then they are
   bounded), one is too great, or it takes too long.
3. Conditions, atomic groups and the limits of long repeats only ever forbid ways, so they may be
   left out. The ways through a lookahead count in addition to the others.
4. A lookbehind may be read backwards, so it must be so small that no counts are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Callable, NamedTuple, Union

from ..unicode.properties import ALL, NONE, CodePoints


class PatternError(ValueError):
    """An error in a pattern; the message gives the reason, the character and some advice."""

    def __init__(self, pattern: str, position: int, reason: str, hint: str = "") -> None:
        self.pattern = pattern
        self.position = position
        self.reason = reason
        super().__init__(f"pattern {_shorten(pattern)!r}, character {position}: {reason}{hint}")


class PatternTooLarge(PatternError):
    """The error for a pattern beyond the limits (see ``parser.check_limits``)."""


def _shorten(pattern: str) -> str:
    return pattern if len(pattern) <= 60 else pattern[:57] + "..."


class Chars(NamedTuple):
    """One code point out of a set."""

    points: CodePoints


class Sequence(NamedTuple):
    """Items one after another; without items, the empty match."""

    items: tuple[Node, ...]


class Alternatives(NamedTuple):
    """Branches; the first branch that leads to a match counts."""

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
    """Return characters at which a pattern certainly matches; it may match at others, too.

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


#: A condition on one side of a position: the characters that satisfy it, and True if the edge of
#: the text satisfies it.
Asked = tuple[CodePoints, bool]


def asked_of_next(node: Node) -> Asked | None:
    """Return the characters before which a node matches, and True if it matches at the end.

    None if that depends on more than the next character.
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
            items.pop()  # it may be missing
        if len(items) < 2:
            return asked_of_next(items[0]) if items else (ALL, True)
    return None


def asked_of_any(branches: list[Asked | None]) -> Asked | None:
    """Return the condition that one of some is satisfied; None if one of them is not known."""
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
    matched in the text leads to a match of all of *c*. An earlier way that ends within *c* sees the
    same characters in the text, so it would have matched there, and *c* would be shorter. Hence the
    first way that matches, even if it is another way, ends at the end of *c* and matches all of it.

    Possessive repeats and atomic groups (``++``, ``(?>…)``) keep the property if they repeat a
    single character: such a repeat ends within *c*, as in the text, or at the end of *c*.

    >>> from compat_bpe.pattern.parser import parse
    >>> patterns = r"\w++|\s+(?!\S)|\s+$", r"(?<=a)b|.", r"a+(?=!)|a"
    >>> [stays_whole(parse(pattern)) for pattern in patterns]
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


def project(node: Node, share: Callable[[CodePoints], CodePoints]) -> Node:
    """Return the pattern over a smaller alphabet; ``share`` gives a class's part of it.

    The result matches a text of that alphabet just as ``node`` does. A branch with a class that
    has no share is dropped.

    >>> from compat_bpe.pattern.parser import parse
    >>> from compat_bpe.pattern.translation import to_re
    >>> to_re(project(parse("[a-zé]+|é|(?!é)b"), lambda points: points & CodePoints((0, 128))))
    '[a-z]+|b'
    """
    if isinstance(node, Chars):
        return Chars(share(node.points))
    if isinstance(node, Sequence):
        items = [project(item, share) for item in node.items]
        if NEVER in items:
            return NEVER
        items = [item for item in items if item != EMPTY]
        return items[0] if len(items) == 1 else Sequence(tuple(items))
    if isinstance(node, Alternatives):
        branches = [project(branch, share) for branch in node.branches]
        branches = [branch for branch in branches if branch != NEVER]
        if len(branches) > 1:
            return Alternatives(tuple(branches))
        return branches[0] if branches else NEVER
    if isinstance(node, Anchor):
        return node
    item = project(node.item, share)
    if isinstance(node, Repeat):
        if item == NEVER:
            return NEVER if node.low else EMPTY
        return node._replace(item=item)
    if isinstance(node, Look):
        if item == NEVER:
            return EMPTY if node.negative else NEVER
        return node._replace(item=item)
    return NEVER if item == NEVER else Atomic(item)


#: The most ways at once that count as few for a pattern of any size.
FEW = 64
#: The highest number of ways that is counted. More ways make no difference.
_MANY = 1_000_000
#: The most rounds of a repeat that are written out. A longer repeat counts as endless.
MOST_ROUNDS = 16
#: The most nodes of all parts that are examined.
_MOST_NODES = 200_000


def uncertain_parts(tree: Node) -> list[Node] | None:
    r"""Return the parts of a pattern whose ways must be counted; None if there are surely too many.

    Args:
        tree: the parsed pattern, relaxed.

    >>> from compat_bpe.pattern.parser import parse
    >>> [uncertain_parts(parse(one)) for one in ("a*b|a*", "(?<=a*a*)b")]
    [[], None]
    """
    nodes_left = _MOST_NODES
    behind = (node.item for node in walk(tree) if isinstance(node, Look) and not node.ahead)
    if not all(_is_small(item, 0) for item in behind):
        return None
    uncertain = []
    parts = [tree]
    seen = set()
    for part in parts:  # which grows
        if id(part) in seen:
            continue
        seen.add(id(part))
        core = _core(part, True, parts)
        nodes = sum(1 for _ in walk(core))
        nodes_left -= nodes
        if nodes_left < 0:
            return None
        if not _is_small(core, nodes):
            uncertain.append(core)
    return uncertain


def _core(node: Node, is_last: bool, parts: list[Node]) -> Node:
    """Return the part of a node that may fail after some of it has matched.

    Args:
        node: the node.
        is_last: True if nothing after the node can fail.
        parts: gets the nodes to examine by themselves.
    """
    if isinstance(node, Sequence):
        items: list[Node] = []
        for item in reversed(node.items):
            core = _core(item, is_last, parts)
            if core != EMPTY:
                is_last = False
                items.append(core)
        return Sequence(tuple(reversed(items))) if items else EMPTY
    if isinstance(node, Alternatives):
        branches = [_core(branch, is_last, parts) for branch in node.branches]
        if is_last and EMPTY in branches:
            parts += [branch for branch in branches if branch != EMPTY]
            return EMPTY
        return Alternatives(tuple(branches))
    if isinstance(node, Repeat):
        if not is_last:
            return node._replace(item=_core(node.item, False, parts))
        if node.low == 0:
            parts.append(node.item)
            return EMPTY
        if node.high != 1:
            parts.append(node.item)
        last = _core(node.item, True, parts)
        if node.low == 1:
            return last
        before = Repeat(_core(node.item, False, parts), node.low - 1, node.low - 1, "")
        return Sequence((before, last))
    if isinstance(node, Atomic):
        if isinstance(node.item, Repeat) and node.item.mode == "":
            return _core(node.item._replace(mode="+"), is_last, parts)
        parts.append(node.item)
        return _core(node.item, is_last, parts)
    if isinstance(node, Look) and node.ahead:
        parts.append(node.item)
    return node


def read_by(look: Look) -> Node:
    """Return the part of a condition that counts as ways of its own.

    The way ends where a negative lookahead matches, so only its part that may fail counts.
    """
    return _core(look.item, True, []) if look.negative and look.ahead else look.item


def is_long(node: Repeat) -> bool:
    """Return True if a repeat counts as endless."""
    return node.high is None or node.high > MOST_ROUNDS


def _is_small(core: Node, nodes: int) -> bool:
    """Return True if a part has few ways, for its size, besides one endless repeat of a class."""
    ways, endless = size_of(core)
    return endless < 2 and ways <= max(FEW, nodes)


def size_of(node: Node) -> tuple[int, int]:
    """Return the number of ways through a node, and of endless repeats, counted up to 2."""
    ways, endless = 1, 0
    if isinstance(node, Sequence):
        for item in node.items:
            item_ways, item_endless = size_of(item)
            ways, endless = min(ways * item_ways, _MANY), endless + item_endless
    elif isinstance(node, Alternatives):
        sizes = [size_of(branch) for branch in node.branches]
        ways, endless = sum(size[0] for size in sizes), max(size[1] for size in sizes)
    elif isinstance(node, Repeat):
        ways, endless = size_of(node.item)
        if is_long(node):
            endless += 1 if isinstance(node.item, Chars) else 2
        else:
            assert node.high is not None
            rounds = range(node.low, node.high + 1)
            ways, endless = sum(ways**count for count in rounds), endless * node.high
    elif isinstance(node, Atomic):
        return size_of(node.item)
    elif isinstance(node, Look):
        # A lookahead reads on in one way once it cannot fail.
        has_inner = any(isinstance(below, Look) for below in walk(node.item))
        is_read = has_inner or not node.ahead
        ways, endless = size_of(read_by(node) if is_read else _core(node.item, True, []))
        ways += 1
    return min(ways, _MANY), min(endless, 2)
