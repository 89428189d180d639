r"""Conditions on what follows, as questions about the next character alone.

A table of states (``pipeline.pypy.table``) takes one character after another. Before it takes one,
it can ask for the kind of that character, and for no more. ``(?!P)[set]`` asks for more if P takes
several characters. But the character can be taken first, and the rest of P asked for then:
``(?![0-9]?[a-z])[0-9X]`` is ``X|[0-9](?![a-z])``.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..unicode.code_points import ALL, NONE, CodePoints
from .ast import Alternatives, Anchor, Chars, Look, Node, Repeat, Sequence
from .writer import NEVER, can_be_empty

#: The most steps into a condition, and the most ways that it may begin.
_MOST_STEPS = 200
_MOST_WAYS = 8


class NoTable(ValueError):
    """The pattern needs more than a table has."""


def asked_of_next(node: Node) -> tuple[CodePoints, bool] | None:
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
        branches = list(map(asked_of_next, node.branches))
        known = [asked for asked in branches if asked is not None]
        if len(known) < len(branches):
            return None
        return CodePoints.union(*(points for points, _ in known)), any(end for _, end in known)
    if isinstance(node, Repeat) and node.low < 2:
        return asked_of_next(node.item) if node.low else (ALL, True)
    if isinstance(node, Sequence):
        items = list(node.items)
        while items and isinstance(items[-1], Repeat) and items[-1].low == 0:
            items.pop()  # it can do without
        if len(items) < 2:
            return asked_of_next(items[0]) if items else (ALL, True)
    return None


def asked_after(look: Look, chars: Chars) -> Node:
    """Return a pattern equivalent to a negative lookahead and a class: the class comes first.

    Raises:
        NoTable: that would ask for more than one character.

    >>> from compat_bpe.pattern.parser import parse
    >>> from compat_bpe.pattern.writer import to_re
    >>> look, chars = parse("(?![0-9]?[a-z])[0-9X]").items
    >>> to_re(asked_after(look, chars))
    'X|[0-9](?![a-z])'
    """
    ways = list(_ways((look.item,), chars.points, _MOST_STEPS))
    if len(ways) > _MOST_WAYS:
        raise NoTable("a lookahead of many ways")
    # Characters, each in one of these sets, and what must not follow them.
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

    Each is a set of such characters, and what must follow them: characters, or, if the flag is
    true, the end of the text.

    Args:
        items: the items.
        among: the characters that are asked for.
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
