r"""All ways through a pattern at once, in bounded time; imported for patterns unfit for ``re``.

``(?:a+)+b`` matches a run of *n* letters in 2ⁿ ways, and ``re`` tries them all where no ``b``
follows. ``tree.uncertain_parts`` finds the parts of a pattern that may be of that kind, and
``is_bounded`` counts the ways through their instructions. ``States`` takes all ways at once. It
makes a state when a text first needs it, and drops all states when there are many. So it takes
little time and memory for any number of states.

The property: states find the same matches as a search by backtracking. The argument:

1. Backtracking tries the ways through a pattern in an order, and takes the first that succeeds. A
   state is the list of all ways that are still open, in this order (so in Thompson's and Pike's
   machines; RE2 and Rust's ``regex`` do the same).
2. When a way of the list has succeeded, the ways after it can no longer win, and are dropped. The
   ways before it continue, and win if they succeed later. So the last success is that of the first
   way that succeeds.
3. Two ways at the same place of the pattern have the same future, so the later one is dropped.
4. A condition is decided when the next character is known, before that character is taken. It may
   depend only on the kinds of this character and of the character before (``\b``, ``^``), or on an
   edge of the text.

The property: a search for a match at one position takes at most as many steps as the text has
characters, and a step takes at most as long as the pattern has instructions.

``(?!P)[set]`` depends on more than the next character if P takes several. But that character can be
taken first, and the rest of P tested after it: ``(?![0-9]?[a-z])[0-9X]`` is ``X|[0-9](?![a-z])``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..caches import Memo
from ..unicode.properties import ALL, NONE, CodePoints, kinds_of
from .tree import (
    EMPTY,
    FEW,
    MOST_ROUNDS,
    NEVER,
    Alternatives,
    Anchor,
    Asked,
    Atomic,
    Chars,
    Look,
    Node,
    Repeat,
    Sequence,
    asked_of_any,
    asked_of_next,
    can_be_empty,
    changed,
    is_long,
    read_by,
    size_of,
    uncertain_parts,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


#: The most steps into a condition, and the most ways that it may begin.
_MOST_STEPS = 200
_MOST_WAYS = 8


class NoTable(ValueError):
    """The error for a pattern that states cannot express."""


def asked_after(look: Look, chars: Chars) -> Node:
    """Return a pattern equivalent to a negative lookahead and a class: the class comes first.

    Raises:
        NoTable: the condition would depend on more than one character.

    >>> from compat_bpe.pattern.parser import parse
    >>> from compat_bpe.pattern.translation import to_re
    >>> look, chars = parse("(?![0-9]?[a-z])[0-9X]").items
    >>> to_re(asked_after(look, chars))
    'X|[0-9](?![a-z])'
    """
    ways = list(_ways((look.item,), chars.points, _MOST_STEPS))
    if len(ways) > _MOST_WAYS:
        raise NoTable("a lookahead of many ways")
    # Characters, each in one of these sets, and the characters that must not follow them.
    parts = [(chars.points, NONE, False)]
    for first, following, end in ways:
        parts = [
            part
            for points, others, at_end in parts
            for part in (
                (points - first, others, at_end),
                (points & first, others | following, at_end or end),
            )
            if part[0]
        ]
    branches: list[Node] = []
    for points, following, end in parts:
        asked: list[Node] = [Chars(following)] if following else []
        asked += [Anchor("end")] if end else []
        refused = asked[0] if len(asked) == 1 else Alternatives(tuple(asked))
        if not asked:
            branches.append(Chars(points))
        elif following != ALL or not end:
            condition = Look(refused, ahead=True, negative=True)
            branches.append(Sequence((Chars(points), condition)))
    if len(branches) > 1:
        return Alternatives(tuple(branches))
    return branches[0] if branches else NEVER


def _ways(
    items: tuple[Node, ...], among: CodePoints, steps: int
) -> Iterator[tuple[CodePoints, CodePoints, bool]]:
    """Yield the ways in which items, one after another, may match at a character.

    A way is a set of such characters, and the set of characters that must follow them. If the flag
    is true, the end of the text may follow, too.

    Args:
        items: the items.
        among: the characters at which they may match.
        steps: the most steps.
    """
    waiting = [items]
    while waiting:
        steps -= 1
        if not steps:
            raise NoTable("a long lookahead")
        items = waiting.pop()
        if not items:
            yield among, ALL, True
            continue
        first, rest = items[0], items[1:]
        if isinstance(first, Chars):
            points = first.points & among
            if points:
                asked = asked_of_next(Sequence(rest))
                if asked is None:
                    raise NoTable("it looks far ahead")
                yield (points, *asked)
        elif isinstance(first, Sequence):
            waiting.append((*first.items, *rest))
        elif isinstance(first, Alternatives):
            waiting += [(branch, *rest) for branch in first.branches]
        elif isinstance(first, Repeat) and first.mode != "+" and not can_be_empty(first.item):
            high = None if first.high is None else first.high - 1
            again = Repeat(first.item, max(first.low - 1, 0), high, "")
            if first.high != 0:
                waiting.append((first.item, *([] if high == 0 else [again]), *rest))
            if first.low == 0:
                waiting.append(rest)
        else:
            raise NoTable("a condition within a lookahead")


#: The most instructions. Those that ship need some fifty.
_MOST_INSTRUCTIONS = 1000


class Program:
    """A pattern as a list of instructions, each a tuple that begins with its kind.

    - ``("char", bit, next)`` takes a character of a set;
    - ``("if", bit, end, next)`` continues if the next character is in a set, or, if ``end`` is
      true, at the end of the text;
    - ``("behind", bit, start, next)`` continues if the character before is in a set, or, if
      ``start`` is true, at the start of the text;
    - ``("try", next, …)`` continues in several ways, the first preferred;
    - ``("match",)`` is the end of the pattern.

    Args:
        tree: the parsed pattern, relaxed.
        most_rounds: the most rounds of a repeat, all of which are written out.

    Attributes:
        code: the instructions.
        start: the number of the first one.
        sets: the sets of characters that the instructions test. The bit of a set is 1 shifted by
            its index here. The kind of a character is the sum of the bits of its sets.
        looks_back: True if an instruction depends on the character before.

    Raises:
        NoTable: the pattern needs other instructions.
    """

    def __init__(self, tree: Node, most_rounds: int = _MOST_INSTRUCTIONS) -> None:
        self._most_rounds = most_rounds
        self.code: list[tuple[Any, ...]] = [("match",)]
        self.start = self.add(tree, 0)
        asking = [step for step in self.code if step[0] not in ("match", "try")]
        self.sets: list[CodePoints] = list(dict.fromkeys(step[1] for step in asking))
        self.looks_back = any(step[0] == "behind" for step in asking)
        bit_of = {points: 1 << index for index, points in enumerate(self.sets)}
        self.code = [
            step if step[0] in ("match", "try") else (step[0], bit_of[step[1]], *step[2:])
            for step in self.code
        ]

    def step(
        self, state: tuple[int, ...], kind: int | None, before: int | None = None
    ) -> tuple[tuple[int, ...], bool]:
        """Return the state after a character, and True if a match ends before it.

        Args:
            state: the instructions where the open ways are, the preferred first.
            kind: the kind of the character; None at the end of the text.
            before: the kind of the character before it; None at the start of the text.
        """
        following: dict[int, None] = {}
        seen = set()
        waiting = list(reversed(state))
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            what, *rest = self.code[number]
            if what == "match":
                return tuple(following), True
            if what == "try":
                waiting += reversed(rest)
            elif what == "char":
                if kind is not None and kind & rest[0]:
                    following[rest[1]] = None
            else:
                bit, at_edge, after = rest
                beside = kind if what == "if" else before
                if at_edge if beside is None else beside & bit:
                    waiting.append(after)
        return tuple(following), False

    def put(self, *instruction: object) -> int:
        """Add an instruction, and return its number."""
        if len(self.code) == _MOST_INSTRUCTIONS:
            raise NoTable(
                f"it has more than {_MOST_INSTRUCTIONS:,} parts if its repeats are written out"
            )
        self.code.append(instruction)
        return len(self.code) - 1

    def add(self, node: Node, after: int) -> int:
        """Add the instructions of a node, and return the first; ``after`` is the next one."""
        if isinstance(node, Chars):
            return self.put("char", node.points, after)
        if isinstance(node, Sequence):
            for item in reversed(self.in_time(node.items)):
                after = self.add(item, after)
            return after
        if isinstance(node, Alternatives):
            return self.put("try", *(self.add(branch, after) for branch in node.branches))
        if isinstance(node, Repeat) and (node.mode != "+" or isinstance(node.item, Chars)):
            return self._repeat(node, after)
        if isinstance(node, Atomic):
            return self.atomic(node, after)
        if isinstance(node, Repeat):
            raise NoTable("it has a possessive group")
        return self.condition(node, after)

    def in_time(self, items: tuple[Node, ...]) -> list[Node]:
        """Return items in which conditions on two characters come after the first.

        Raises:
            NoTable: a condition depends on more than two; see ``asked_after``.
        """
        asked: list[Node] = []
        for item in items:
            look = asked[-1] if asked else None
            if (
                isinstance(item, Chars)
                and isinstance(look, Look)
                and look.ahead
                and look.negative
                and asked_of_next(look) is None
            ):
                asked[-1] = asked_after(look, item)
            else:
                asked.append(item)
        return asked

    def atomic(self, node: Atomic, after: int) -> int:
        """Add the instructions of an atomic group."""
        item = node.item
        if isinstance(item, Repeat) and isinstance(item.item, Chars) and item.mode != "?":
            return self._repeat(item._replace(mode="+"), after)
        if isinstance(item, Chars):
            return self.add(item, after)
        raise NoTable("it has an atomic group")

    def condition(self, node: Look | Anchor, after: int) -> int:
        """Add the instructions of a condition."""
        asked = asked_of_next(node)
        if asked is not None:
            return self.put("if", *asked, after)
        asked = _asked_of_last(node)
        if asked is not None:
            return self.put("behind", *asked, after)
        ahead = isinstance(node, Look) and node.ahead
        raise NoTable("it looks far ahead" if ahead else "it looks far back")

    def _repeat(self, node: Repeat, after: int) -> int:
        if node.low > self._most_rounds or (node.high or 0) > self._most_rounds:
            raise NoTable("it repeats a part in many rounds")
        if node.high is None:
            first = self.put("try")  # completed when the item has its number
            again = self.add(node.item, first)
            self.code[first] = ("try", *self._choice(node, again, after))
        else:
            # The rounds are nested. As a sequence, lazy rounds would come in another order.
            first = after
            for _ in range(node.high - node.low):
                first = self.put("try", *self._choice(node, self.add(node.item, first), after))
        for _ in range(node.low):
            first = self.add(node.item, first)
        return first

    def _choice(self, node: Repeat, again: int, after: int) -> tuple[int, int]:
        """Return the choice between one more round and none, the preferred first."""
        if node.mode == "+":
            assert isinstance(node.item, Chars)
            # It stops early only where no round is possible.
            return again, self.put("if", ~node.item.points, True, after)
        return (after, again) if node.mode else (again, after)


def _asked_of_last(node: Node) -> Asked | None:
    """Return the characters after which a node matches, and True if it matches at the start.

    None if that depends on more than the character before.
    """
    if isinstance(node, Anchor):
        return (NONE, True) if node.kind == "start" else None
    if isinstance(node, Chars):
        return node.points, False
    if node == EMPTY:
        return ALL, True
    if isinstance(node, Alternatives):
        return asked_of_any(list(map(_asked_of_last, node.branches)))
    if not isinstance(node, Look) or node.ahead:
        return None
    asked = _asked_of_last(node.item)
    if asked is None or not node.negative:
        return asked
    return ~asked[0], not asked[1]


#: The most steps to follow the counts of ways. A published pattern needs none.
_MOST_COUNTED = 30_000

#: The most ways and steps of all kept states, and the most characters whose kind is kept.
_MOST_KEPT = 2_000_000
_MOST_CHARACTERS = 1 << 14


def is_bounded(tree: Node) -> bool:
    r"""Return True if ``re`` certainly tries few ways at a time; ``tree`` has the argument.

    Args:
        tree: the parsed pattern, relaxed.

    >>> from compat_bpe.pattern.parser import parse
    >>> [is_bounded(parse(one)) for one in (r"(?:a+)+b", "a*a*a*b", "a*b|a*", r"(?:a+b)+c|(?:a+)+")]
    [False, False, True, True]
    """
    parts = uncertain_parts(tree)
    return parts is not None and all(_Counts(part).are_few() for part in parts)


class _AllWays(Program):
    """A program that takes all ways of a pattern, and perhaps more."""

    def in_time(self, items: tuple[Node, ...]) -> list[Node]:
        return list(items)

    def atomic(self, node: Atomic, after: int) -> int:
        return self.add(node.item, after)

    def condition(self, node: Look | Anchor, after: int) -> int:
        asked = asked_of_next(node)
        if isinstance(node, Look) and node.ahead and (asked is None or read_by(node) != EMPTY):
            # Its ways go beside those of the pattern.
            after = self.put("try", self.add(read_by(node), 0), after)
        if asked is not None:
            return self.put("if", *asked, after)
        if isinstance(node, Look) and node.ahead:
            return after
        if isinstance(node, Look) and size_of(node.item)[1]:
            raise NoTable("it looks far back")
        return after


def _without_limits(node: Node) -> Node:
    """Return a pattern with at least the ways of another one, and without long repeats."""
    if isinstance(node, Atomic):
        return _without_limits(node.item)
    node = changed(node, _without_limits)
    if not isinstance(node, Repeat):
        return node
    high = None if is_long(node) else node.high
    # Only for a class is the end of a possessive repeat known.
    is_clear = node.mode == "+" and isinstance(node.item, Chars) and high == node.high
    return Repeat(node.item, min(node.low, MOST_ROUNDS), high, "+" if is_clear else "")


class _Counts:
    """The counts of the ways of a part that are open at once."""

    def __init__(self, core: Node) -> None:
        self._core = core
        self._steps_left = _MOST_COUNTED
        self._takers: dict[int, Counter[tuple[int, int]]] = {}

    def are_few(self) -> bool:
        """Return True if they are certainly few for every text."""
        try:
            self._program = _AllWays(_without_limits(self._core), MOST_ROUNDS)
            return self._are_few()
        except NoTable:
            return False

    def _are_few(self) -> bool:
        most = max(FEW, len(self._program.code))
        bits = {points: 1 << index for index, points in enumerate(self._program.sets)}
        kinds = {kind for _, kind in kinds_of(bits)}
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
        """Return the ways to take the next character from an instruction on, each with its count.

        A way is the bits of the sets that the character must be in, and the instruction after it.
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


class States:
    r"""The states of one pattern that were needed so far.

    Args:
        tree: the parsed pattern, relaxed.

    Attributes:
        kept: the number of ways in all kept states, and of their steps.

    Raises:
        NoTable: states cannot express the pattern; the message gives the reason.

    >>> from compat_bpe.pattern.parser import parse
    >>> states = States(parse(r"(?:a+)+b|\b\w"))
    >>> states.end("aaab", 0), states.end("aaaa", 0), states.end("aaaa", 1)
    (4, 1, -1)
    """

    def __init__(self, tree: Node) -> None:
        self._program = Program(tree)
        #: The kind of each character (see ``Program``).
        self._kinds = Memo(self._kind, _MOST_CHARACTERS)
        self._clear()

    def _clear(self) -> None:
        self._states: dict[tuple[tuple[int, ...], int | None], _State] = {}
        self.kept = 0

    def end(self, text: str, start: int) -> int:
        """Return the end of the match that begins at a position; -1 if there is none."""
        kinds = self._kinds
        before = kinds[text[start - 1]] if start and self._program.looks_back else None
        state = self._state((self._program.start,), before)
        end = -1
        for at in range(start, len(text)):
            kind = kinds[text[at]]
            following, ends = state.get(kind) or self._follow(state, kind)
            if ends:
                end = at
            if following is None:
                return end
            state = following
        _, ends = state.get(None) or self._follow(state, None)
        return len(text) if ends else end

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Return the start and end of each match in a text; see ``Splitter.spans``."""
        at, last = 0, -1
        while at <= len(text):
            end = self.end(text, at)
            if end > at:
                yield at, end
                at = last = end
                continue
            if end == at != last:
                yield at, at
            at += 1

    def _kind(self, char: str) -> int:
        point = ord(char)
        return sum(1 << i for i, points in enumerate(self._program.sets) if point in points)

    def _state(self, ways: tuple[int, ...], before: int | None) -> _State:
        state = self._states.get((ways, before))
        if state is None:
            if self.kept > _MOST_KEPT:
                self._clear()
            state = self._states[ways, before] = _State(ways, before)
            self.kept += len(ways)
        return state

    def _follow(self, state: _State, kind: int | None) -> tuple[_State | None, bool]:
        """Return the state after a character, and True if a match ends before it."""
        ways, ends = self._program.step(state.ways, kind, state.before)
        before = kind if self._program.looks_back else None
        following = self._state(ways, before) if ways else None
        state[kind] = following, ends
        self.kept += 1
        return following, ends


class _State(dict["int | None", "tuple[_State | None, bool]"]):
    """The steps from a state, by the kind of the next character.

    Attributes:
        ways: the instructions where the open ways are, the preferred first.
        before: the kind of the character before.
    """

    __slots__ = ("before", "ways")

    def __init__(self, ways: tuple[int, ...], before: int | None) -> None:
        super().__init__()
        self.ways = ways
        self.before = before
