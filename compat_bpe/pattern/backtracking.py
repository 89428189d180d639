r"""The number of ways in which ``re`` may try to match, which says for which patterns it is fit.

``re`` tries the ways through a pattern one after another, until one succeeds. ``(?:a+)+b`` has 2ⁿ
of them for a run of *n* letters, ``a*a*a*b`` some n³, ``a*b`` only *n*, of which no two are at the
same character at once.

The property: if ``is_bounded`` returns True, ``re`` takes each character in at most as many ways as
the pattern has instructions (or ``_FEW``), for each position from which it searches.

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

from collections import Counter

from ..unicode.code_points import CodePoints
from .ast import EMPTY, Alternatives, Anchor, Atomic, Chars, Look, Node, Repeat, Sequence, walk
from .states import NoTable, Program, asked_of_next

#: The most ways at once that are few, however small the pattern is.
_FEW = 64
#: The highest number of ways that is counted; more make no difference.
_MANY = 1_000_000
#: The most rounds of a repeat that are written out; a longer one counts as endless.
_MOST_ROUNDS = 16
#: The most steps that are taken to follow the counts; a published pattern needs none.
_MOST_STEPS = 30_000
#: The most nodes of all parts that are looked at.
_MOST_NODES = 200_000


def is_bounded(tree: Node) -> bool:
    r"""Return True if ``re`` certainly tries few ways at a time; see the property above.

    Args:
        tree: the parsed pattern, relaxed.

    >>> from .parser import parse
    >>> [is_bounded(parse(one)) for one in (r"(?:a+)+b", "a*a*a*b", "a*b|a*", r"(?:a+b)+c|(?:a+)+")]
    [False, False, True, True]
    """
    left = _MOST_NODES
    behind = (node.item for node in walk(tree) if isinstance(node, Look) and not node.ahead)
    if not all(_is_small(item, 0) for item in behind):
        return False
    parts = [tree]
    seen = set()
    for part in parts:  # which grows
        if id(part) in seen:
            continue
        seen.add(id(part))
        core = _core(part, True, parts)
        nodes = sum(1 for _ in walk(core))
        left -= nodes
        if left < 0 or not (_is_small(core, nodes) or _Counts(core).are_few()):
            return False
    return True


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


def _read(look: Look) -> Node:
    """Return what a condition may read.

    Where a negative lookahead matches, the way ends, so only what may fail is read.
    """
    return _core(look.item, True, []) if look.negative and look.ahead else look.item


def _is_long(node: Repeat) -> bool:
    return node.high is None or node.high > _MOST_ROUNDS


def _is_small(core: Node, nodes: int) -> bool:
    """Return True if a part has few ways, for its size, besides one endless repeat of a class."""
    ways, endless = _size(core)
    return endless < 2 and ways <= max(_FEW, nodes)


def _size(node: Node) -> tuple[int, int]:
    """Return the number of ways through a node, and of endless repeats; 2 stands for more."""
    ways, endless = 1, 0
    if isinstance(node, Sequence):
        for item in node.items:
            others, more = _size(item)
            ways, endless = min(ways * others, _MANY), endless + more
    elif isinstance(node, Alternatives):
        sizes = [_size(branch) for branch in node.branches]
        ways, endless = sum(one for one, _ in sizes), max(more for _, more in sizes)
    elif isinstance(node, Repeat):
        ways, endless = _size(node.item)
        if _is_long(node):
            endless += 1 if isinstance(node.item, Chars) else 2
        else:
            assert node.high is not None
            rounds = range(node.low, node.high + 1)
            ways, endless = sum(ways**count for count in rounds), endless * node.high
    elif isinstance(node, Atomic):
        return _size(node.item)
    elif isinstance(node, Look):
        # Ahead, by itself, it reads on in one way once it cannot fail any more.
        has_inner = any(isinstance(below, Look) for below in walk(node.item))
        is_read = has_inner or not node.ahead
        ways, endless = _size(_read(node) if is_read else _core(node.item, True, []))
        ways += 1
    return min(ways, _MANY), min(endless, 2)


class _AllWays(Program):
    """A program that takes all ways of a pattern, and perhaps more."""

    def in_time(self, items: tuple[Node, ...]) -> list[Node]:
        return list(items)

    def atomic(self, node: Atomic, after: int) -> int:
        return self.add(node.item, after)

    def condition(self, node: Look | Anchor, after: int) -> int:
        asked = asked_of_next(node)
        if isinstance(node, Look) and node.ahead and (asked is None or _read(node) != EMPTY):
            # Its ways go beside those of the pattern.
            after = self.put("try", self.add(_read(node), 0), after)
        if asked is not None:
            return self.put("if", *asked, after)
        if isinstance(node, Look) and node.ahead:
            return after
        if isinstance(node, Look) and _size(node.item)[1]:
            raise NoTable("it looks far back")
        return after


def _without_limits(node: Node) -> Node:
    """Return a pattern with at least the ways of another; none of its repeats is long."""
    if isinstance(node, Sequence):
        return Sequence(tuple(map(_without_limits, node.items)))
    if isinstance(node, Alternatives):
        return Alternatives(tuple(map(_without_limits, node.branches)))
    if isinstance(node, Atomic):
        return _without_limits(node.item)
    if isinstance(node, Repeat):
        item = _without_limits(node.item)
        high = None if _is_long(node) else node.high
        # Only of a class is it clear where a possessive repeat ends.
        is_clear = node.mode == "+" and isinstance(item, Chars) and high == node.high
        return Repeat(item, min(node.low, _MOST_ROUNDS), high, "+" if is_clear else "")
    if isinstance(node, Look):
        return node._replace(item=_without_limits(node.item))
    return node


class _Counts:
    """The ways of a part that are open at once, counted."""

    def __init__(self, core: Node) -> None:
        self._core = core
        self._steps_left = _MOST_STEPS
        self._takers: dict[int, Counter[tuple[int, int]]] = {}

    def are_few(self) -> bool:
        """Return True if they are certainly few, whatever the text is."""
        try:
            self._program = _AllWays(_without_limits(self._core), _MOST_ROUNDS)
            return self._are_few()
        except NoTable:
            return False

    def _are_few(self) -> bool:
        most = max(_FEW, len(self._program.code))
        kinds = _kinds_of(self._program.sets)
        start = frozenset({(self._program.start, 1)})
        seen, waiting = {start}, [start]
        while waiting:
            open_ways: Counter[tuple[int, int]] = Counter()
            asked = 0
            for number, count in waiting.pop():
                for way, times in self._next_takers(number).items():
                    open_ways[way] += count * times
                    asked |= way[0]
            for kind in {kind & asked for kind in kinds}:
                self._spend(len(open_ways))
                following: Counter[int] = Counter()
                for (needed, after), count in open_ways.items():
                    if kind & needed == needed:
                        following[after] += count
                if sum(following.values()) > most:
                    return False
                state = frozenset(following.items())
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
        return True

    def _next_takers(self, start: int) -> Counter[tuple[int, int]]:
        """Return what is taken next from an instruction on, each with its number of ways.

        What is taken is the bits of the sets that the next character must be in, and the
        instruction after it.
        """
        takers = self._takers.get(start)
        if takers is not None:
            return takers
        takers = self._takers[start] = Counter()
        waiting = [(start, 0)]
        while waiting:
            self._spend(1)
            number, needed = waiting.pop()
            what, *rest = self._program.code[number]
            if what == "char":
                takers[needed | rest[0], rest[1]] += 1
            elif what == "if":
                waiting.append((rest[2], needed | rest[0]))
            elif what == "try":
                waiting += [(after, needed) for after in rest]
        return takers

    def _spend(self, steps: int) -> None:
        self._steps_left -= steps
        if self._steps_left < 0:
            raise NoTable("it takes too long to tell")


def _kinds_of(sets: list[CodePoints]) -> list[int]:
    """Return the kinds of characters that a pattern with these sets tells apart."""
    changes: dict[int, int] = {0: 0}
    for index, points in enumerate(sets):
        for bound in points.bounds:
            changes[bound] = changes.get(bound, 0) ^ 1 << index
    kinds = {0: None}
    kind = 0
    for bound in sorted(changes):
        kind ^= changes[bound]
        kinds[kind] = None
    return list(kinds)
