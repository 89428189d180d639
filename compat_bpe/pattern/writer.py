r"""Translation of a parsed pattern for Python's ``re``.

There are three steps, from tree to tree or from tree to text:

1. ``relax`` turns possessive repeats and atomic groups into plain ones where that cannot change
   a match. In the published patterns it removes all of them, so they need nothing that
   Python 3.9 lacks. Any others are spelled ``(?=(…))\1``, which is atomic on every version.
2. ``project`` replaces each class by its share of a smaller alphabet (ASCII, say) and drops
   branches that can no longer match.
3. ``to_re`` writes the tree down, each class explicitly.
"""

from __future__ import annotations

from typing import Callable, NamedTuple

from ..unicode.properties import ALL, NONE, CodePoints
from .ast import EMPTY, NEVER, Alternatives, Anchor, Atomic, Chars, Look, Node, Repeat, Sequence


class After(NamedTuple):
    """A description of the rest of a match.

    ``first`` holds every next character with which the rest might succeed. ``sure`` is True if
    the rest cannot fail.
    """

    first: CodePoints
    sure: bool


#: The end of the pattern: no next character stops it.
_DONE = After(ALL, sure=True)
_UNKNOWN = After(ALL, sure=False)


def _before(node: Node, after: After) -> After:
    """Return the rest of a match that begins with ``node`` and goes on with ``after``."""
    if isinstance(node, Chars):
        return After(node.points, sure=False)
    if isinstance(node, Sequence):
        for item in reversed(node.items):
            after = _before(item, after)
        return after
    if isinstance(node, Alternatives):
        rests = [_before(branch, after) for branch in node.branches]
        first = CodePoints.union(*(rest.first for rest in rests))
        return After(first, any(rest.sure for rest in rests))
    if isinstance(node, Repeat):
        rest = _before(node.item, _UNKNOWN if node.high != 1 else after)
        if node.low == 0:
            return After(rest.first | after.first, after.sure)
        return After(rest.first, sure=False)
    if isinstance(node, Anchor) and node.kind == "end":
        return After(NONE, sure=False)
    if isinstance(node, Atomic):
        return After(_before(node.item, after).first, sure=False)
    return After(after.first, sure=False)


def relax(node: Node, after: After = _DONE) -> Node:
    """Return an equivalent pattern with fewer possessive repeats and atomic groups.

    The property: giving back characters can only help if the rest of the match then succeeds
    at a character that was given back. So a possessive repeat of one class equals the greedy
    one in two cases:

    - the rest cannot begin with a character of that class (``[^a]?+a``);
    - the rest cannot fail at all (``a++`` at the end of the pattern), so that nothing is ever
      given back.

    >>> from compat_bpe.pattern.parser import parse
    >>> to_re(relax(parse("[0-9]++[a-z]|[a-z]++")))
    '[0-9]+[a-z]|[a-z]+'
    """
    if isinstance(node, Sequence):
        items: list[Node] = []
        for item in reversed(node.items):
            items.append(relax(item, after))
            after = _before(item, after)
        return Sequence(tuple(reversed(items)))
    if isinstance(node, Alternatives):
        return Alternatives(tuple(relax(branch, after) for branch in node.branches))
    if isinstance(node, Repeat):
        if isinstance(node.item, Chars):
            free = after.sure or not node.item.points & after.first
        else:
            free = after.sure
        mode = "" if node.mode == "+" and free else node.mode
        item = relax(node.item, after if node.high == 1 and mode != "+" else _UNKNOWN)
        return Repeat(item, node.low, node.high, mode)
    if isinstance(node, Atomic):
        item = relax(node.item)
        return item if after.sure else Atomic(item)
    if isinstance(node, Look):
        return Look(relax(node.item), node.ahead, node.negative)
    return node


def project(node: Node, share: Callable[[CodePoints], CodePoints]) -> Node:
    """Return the pattern over a smaller alphabet; ``share`` gives a class's part of it.

    The result matches a text of that alphabet just as ``node`` does. A branch with a class that
    has no share is dropped.

    >>> from compat_bpe.pattern.parser import parse
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


def join_runs(tree: Node) -> Node:
    """Return an equivalent pattern with the alternatives ``P?U*L+T`` and ``P?U+L*T`` joined.

    o200k_base describes words in this way, with U for capital and L for small letters: "ABcd" and
    "AB". The classes P, U and L must have no character in common. T must consist of optional
    items, so that it cannot fail.

    The property: ``P?(?:L+|U+L*)T`` then matches as the two alternatives do. The argument:

    1. Each alternative can match at a position in one way only: it takes all of P, U and L that
       follow.
    2. The first alternative fails where no L follows, the second where no U does.
    3. Where both match, they match the same text, and in each case so does the joined one.

    >>> from compat_bpe.pattern.parser import parse
    >>> to_re(join_runs(parse("[A-Z]*[a-z]+x?|[A-Z]+[a-z]*x?|[0-9]")))
    '(?:[a-z]+|[A-Z]+[a-z]*)x?|[0-9]'
    """
    if not isinstance(tree, Alternatives):
        return tree
    branches: list[Node] = []
    for branch in tree.branches:
        joined = _join(branches[-1], branch) if branches else None
        if joined is None:
            branches.append(branch)
        else:
            branches[-1] = joined
    return Alternatives(tuple(branches)) if len(branches) > 1 else branches[0]


def _join(first: Node, second: Node) -> Node | None:
    """Return two alternatives of ``join_runs`` as one, or None if they are not of that form."""
    if not isinstance(first, Sequence) or not isinstance(second, Sequence):
        return None
    head = tuple(
        item for item in first.items[:1] if isinstance(item, Repeat) and item[1:] == (0, 1, "")
    )
    runs, tail = first.items[len(head) : len(head) + 2], first.items[len(head) + 2 :]
    if len(runs) < 2 or not isinstance(runs[0], Repeat) or not isinstance(runs[1], Repeat):
        return None
    upper, lower = runs[0].item, runs[1].item
    expected = Repeat(upper, 1, None, ""), Repeat(lower, 0, None, "")
    if (
        runs != (Repeat(upper, 0, None, ""), Repeat(lower, 1, None, ""))
        or second.items != (*head, *expected, *tail)
        or not all(isinstance(item, Repeat) and item.low == 0 for item in tail)
    ):
        return None
    seen = NONE
    for item in (upper, lower, *(optional.item for optional in head)):
        if not isinstance(item, Chars) or item.points & seen:
            return None
        seen |= item.points
    # The more common one first; no character begins both.
    either = Alternatives((Repeat(lower, 1, None, ""), Sequence(expected)))
    return Sequence((*head, either, *tail))


def to_re(node: Node) -> str:
    r"""Return the pattern as text for ``re.compile``, without flags.

    >>> from compat_bpe.pattern.parser import parse
    >>> to_re(parse("(?i:k)?+a$"))
    '(?=(?P<a1>[Kk\u212a]?))(?P=a1)a\\Z'
    """
    return Writer().write(node)


class Writer:
    """A writer of patterns; dialects override its methods."""

    def __init__(self) -> None:
        self.atomics = 0

    def write(self, node: Node) -> str:
        if isinstance(node, Chars):
            return node.points.to_re()
        if isinstance(node, Sequence):
            return "".join(map(self.item, node.items))
        if isinstance(node, Alternatives):
            return "|".join(map(self.write, node.branches))
        if isinstance(node, Repeat):
            if node.mode == "+":
                return self.atomic(node._replace(mode=""))
            if node[1:] == (0, 1, "") and not isinstance(node.item, Chars):
                # The same as (?:…)?, which `re` matches more slowly.
                return f"(?:{self.item(node.item)}|)"
            if node[1:] == (0, 1, "?") and not isinstance(node.item, Chars):
                # The same as (?:…)??, which PyPy's `re` repeats if … may be empty.
                return f"(?:|{self.item(node.item)})"
            return self.item(node.item, repeated=True) + count(node) + node.mode
        if isinstance(node, Atomic):
            return self.atomic(node.item)
        if isinstance(node, Look):
            sign = ("?" if node.ahead else "?<") + "=!"[node.negative]
            return f"({sign}{self.write(node.item)})"
        # Not `$`, which in `re` also matches before a newline at the end.
        return "\\A" if node.kind == "start" else "\\Z"

    def item(self, node: Node, repeated: bool = False) -> str:
        text = self.write(node)
        bare = isinstance(node, Chars) and bool(node.points)
        return text if bare or not (repeated or isinstance(node, Alternatives)) else f"(?:{text})"

    def atomic(self, node: Node) -> str:
        # A lookahead is never re-entered, so the match of its group is fixed.
        self.atomics += 1
        name = f"a{self.atomics}"
        return f"(?=(?P<{name}>{self.write(node)}))(?P={name})"


def count(node: Repeat) -> str:
    """Return the sign or the braces for the rounds of a repeat."""
    signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    high = "" if node.high is None else node.high
    return signs.get((node.low, node.high), f"{{{node.low},{high}}}")
