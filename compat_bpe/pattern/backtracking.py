r"""The parts of a pattern that ``re`` might try in too many ways.

``re`` tries the ways through a pattern one after another, until one succeeds. ``(?:a+)+b`` has 2ⁿ
of them for a run of *n* letters, ``a*a*a*b`` some n³, ``a*b`` only *n*, of which no two are at the
same character at once. Most patterns show at once that they have few; the ways of all others are
counted by ``states``, which is imported only then.

The property: if the ways of no part are too many (``states.is_bounded``), ``re`` takes each
character in at most as many ways as the pattern has instructions (or ``FEW``), for each position
from which it searches.

The argument:

1. What cannot fail is never tried again: after ``a+`` at the end of the pattern, one way leads to
   the match. So two things must be looked at (``_core``): what comes before, and one round of the
   repeat by itself, since the last round fails.
2. All ways through a part are taken at once, as in ``states``, but two ways that meet are still
   two. These counts are followed for all texts, until no new ones come (then they are bounded) or
   one is too great, or it takes too long.
3. Conditions, atomic groups and the limits of long repeats only ever forbid ways, so they may be
   left out. What a lookahead reads are ways beside the others.
4. A lookbehind may be read backwards, so it must be small enough for no counts to be needed.
"""

from __future__ import annotations

from .ast import EMPTY, Alternatives, Atomic, Chars, Look, Node, Repeat, Sequence, walk

#: The most ways at once that are few, however small the pattern is.
FEW = 64
#: The highest number of ways that is counted; more make no difference.
_MANY = 1_000_000
#: The most rounds of a repeat that are written out; a longer one counts as endless.
MOST_ROUNDS = 16
#: The most nodes of all parts that are looked at.
_MOST_NODES = 200_000


def uncertain_parts(tree: Node) -> list[Node] | None:
    r"""Return the parts of a pattern whose ways must be counted; None if there are surely too many.

    Args:
        tree: the parsed pattern, relaxed.

    >>> from compat_bpe.pattern.parser import parse
    >>> [uncertain_parts(parse(one)) for one in ("a*b|a*", "(?<=a*a*)b")]
    [[], None]
    """
    left = _MOST_NODES
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
        left -= nodes
        if left < 0:
            return None
        if not _is_small(core, nodes):
            uncertain.append(core)
    return uncertain


def _core(node: Node, is_last: bool, parts: list[Node]) -> Node:
    """Return what of a node may fail after some of it has matched.

    Args:
        node: the node.
        is_last: True if nothing after the node can fail.
        parts: takes the nodes that are to be looked at by themselves.
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
    """Return what a condition may read.

    Where a negative lookahead matches, the way ends, so only what may fail is read.
    """
    return _core(look.item, True, []) if look.negative and look.ahead else look.item


def is_long(node: Repeat) -> bool:
    return node.high is None or node.high > MOST_ROUNDS


def _is_small(core: Node, nodes: int) -> bool:
    """Return True if a part has few ways, for its size, besides one endless repeat of a class."""
    ways, endless = size_of(core)
    return endless < 2 and ways <= max(FEW, nodes)


def size_of(node: Node) -> tuple[int, int]:
    """Return the number of ways through a node, and of endless repeats; 2 stands for more."""
    ways, endless = 1, 0
    if isinstance(node, Sequence):
        for item in node.items:
            others, more = size_of(item)
            ways, endless = min(ways * others, _MANY), endless + more
    elif isinstance(node, Alternatives):
        sizes = [size_of(branch) for branch in node.branches]
        ways, endless = sum(one for one, _ in sizes), max(more for _, more in sizes)
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
        # Ahead, by itself, it reads on in one way once it cannot fail any more.
        has_inner = any(isinstance(below, Look) for below in walk(node.item))
        is_read = has_inner or not node.ahead
        ways, endless = size_of(read_by(node) if is_read else _core(node.item, True, []))
        ways += 1
    return min(ways, _MANY), min(endless, 2)
