r"""The translation of a pattern for ``re``, over the alphabets that ``splitter`` describes.

It has three steps, from tree to tree or from tree to text:

1. ``relax`` turns possessive repeats and atomic groups into plain ones where that cannot change
   a match. In the published patterns it removes all of them, so these run on Python 3.9. The
   others are spelled ``(?=(…))\1``, which is atomic on every version.
2. ``project`` replaces each class by its share of a smaller alphabet (ASCII, say) and drops
   branches that can no longer match.
3. ``to_re`` writes the tree down, each class explicitly.

``Translation`` takes these steps. For the patterns that ship, ``prepared`` has the parts that most
texts need, and ``prepared_large`` the larger parts that long texts need. So a ``Splitter`` of such
a pattern seldom needs this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from ..caches import cached_property
from ..unicode.properties import ALL, NONE, CodePoints, kinds_of
from .tree import (
    Alternatives,
    Anchor,
    Atomic,
    Chars,
    Look,
    Node,
    PatternError,
    Repeat,
    Sequence,
    can_be_empty,
    changed,
    project,
    surely_begins,
    uncertain_parts,
    walk,
)

if TYPE_CHECKING:
    from .states import States


#: A pattern for ``re``; the first code point of each range of one kind, as a character; and the
#: stand-in of each of these ranges.
WithStandIns = tuple[str, str, str]

#: The parts of a translation that are kept for the patterns that ship, and are not large.
PREPARED_PARTS = (
    "ascii",
    "few",
    "ascii_cut_points",
    "few_cut_points",
    "can_be_empty",
    "leaves_nothing_out",
)

#: The first stand-in below U+0100. From here on the characters are printable.
FIRST_STAND_IN = "\xc0"


class Translation:
    """A pattern, translated for ``re``.

    Args:
        tree: the parsed pattern.
        pattern: its name in messages.
        known: the parts that are already known, by their names.

    Raises:
        PatternError: the pattern repeats something that may be empty.

    >>> from compat_bpe.pattern.parser import parse
    >>> translation = Translation(parse("[a-zé]+|é|(?!é)b"), "a pattern")
    >>> translation.ascii
    '[a-z]+|b'
    >>> translation.few[0]
    '[a-zÁ]+|Á|(?!Á)b'
    """

    def __init__(self, tree: Node, pattern: str, known: Mapping[str, Any] | None = None) -> None:
        self._pattern = pattern
        # A cached property is looked up here first.
        self.__dict__.update(known or {})
        for node in walk(tree):
            # Engines differ after a round of a repeat that takes no character.
            if isinstance(node, Repeat) and node.high != 1 and can_be_empty(node.item):
                raise PatternError(pattern, 0, "it repeats something that may be empty")
        #: The parsed pattern, with possessive repeats replaced as far as possible.
        self.tree = relax(tree)

    @cached_property
    def states(self) -> States | None:
        """The pattern as states, if ``re`` might try too many ways; None if ``re`` is fit for it.

        Raises:
            PatternError: the pattern fits neither ``re`` nor states.
        """
        if uncertain_parts(self.tree) == []:
            return None
        from .states import NoTable, States, is_bounded

        if is_bounded(self.tree):
            return None
        try:
            return States(self.tree)
        except NoTable as error:
            reason = f"it may match a text in too many ways to try them all, and {error}"
            hint = "; write it so that no two repeats match the same text"
            raise PatternError(self._pattern, 0, reason, hint) from None

    @cached_property
    def can_be_empty(self) -> bool:
        """True if the pattern may match without taking a character."""
        return can_be_empty(self.tree)

    @cached_property
    def leaves_nothing_out(self) -> bool:
        """True if every character of a text is certainly in a match."""
        return surely_begins(self.tree) == ALL

    @cached_property
    def ascii(self) -> str:
        """The pattern for ASCII text."""
        return self._for_re(lambda points: points.clip(0, 0x80))

    @cached_property
    def few(self) -> WithStandIns | None:
        """The pattern for a small amount of text that is not ASCII.

        None if the pattern has too many kinds of characters.
        """
        kinds = self._few_kinds
        if kinds is None:
            return None
        return self._for_re(kinds.share), kinds.starts, kinds.stand_ins

    @cached_property
    def most(self) -> WithStandIns:
        """The pattern for any text.

        Raises:
            ValueError: the pattern has too many kinds of characters above U+FFFF.
        """
        kinds = _Kinds(self._classes(), ((0, 0xD800), (0xE000, 0x10000)), 0xD800, 0x800)
        return self._for_re(kinds.share), kinds.starts, kinds.stand_ins

    @cached_property
    def ascii_cut_points(self) -> str | None:
        """``cut_points`` for ASCII text."""
        return _cut_point_pattern(
            (left.clip(0, 0x80), right.clip(0, 0x80)) for left, right in self._cut_point_pairs
        )

    @cached_property
    def few_cut_points(self) -> str | None:
        """``cut_points`` for text with the stand-ins of ``few``, which must not be None."""
        assert self._few_kinds is not None
        share = self._few_kinds.share
        return _cut_point_pattern(
            (share(left), share(right)) for left, right in self._cut_point_pairs
        )

    @cached_property
    def cut_points(self) -> str | None:
        """A pattern for a character with a cut point after it in any text; None if there is none.

        ``pattern.cut_points`` defines a cut point.
        """
        return _cut_point_pattern(self._cut_point_pairs)

    @cached_property
    def fine_cut_points(self) -> str | None:
        """A pattern that finds more cut points than ``cut_points``."""
        return _cut_point_pattern(self._pairs(fine=True))

    def _for_re(self, share: Callable[[CodePoints], CodePoints]) -> str:
        return to_re(join_runs(project(self.tree, share)))

    @cached_property
    def _cut_point_pairs(self) -> list[tuple[CodePoints, CodePoints]]:
        return self._pairs(fine=False)

    def _pairs(self, *, fine: bool) -> list[tuple[CodePoints, CodePoints]]:
        from .cut_points import cut_point_pairs  # few texts are long enough to be cut

        return list(map(_without_surrogates, cut_point_pairs(self.tree, fine)))

    @cached_property
    def _few_kinds(self) -> _Kinds | None:
        sets = self._classes().union(*self._cut_point_pairs)
        try:
            return _Kinds(sets, ((0, 0x80),), ord(FIRST_STAND_IN), 0x40)
        except ValueError:
            return None

    def _classes(self) -> set[CodePoints]:
        return {node.points for node in walk(self.tree) if isinstance(node, Chars)}


class _Kinds:
    """The kinds of characters above an alphabet; characters of one kind are in the same sets.

    Args:
        sets: the sets.
        alphabet: ranges of code points without stand-ins. All code points from the end of the last
            range on have stand-ins.
        first: the code point of the first stand-in.
        limit: the largest number of kinds.

    Raises:
        ValueError: there are more kinds.
    """

    def __init__(
        self,
        sets: set[CodePoints],
        alphabet: tuple[tuple[int, int], ...],
        first: int,
        limit: int,
    ) -> None:
        self._alphabet = alphabet
        end = alphabet[-1][1]
        # A kind is a number with one bit for each set that its characters are in.
        self._bits = {points: 1 << number for number, points in enumerate(sets)}
        by_start: dict[int, int] = {}
        for start, kind in kinds_of(self._bits):
            by_start[max(start, end)] = kind
        starts, kinds = list(by_start), list(by_start.values())
        self._points = {kind: first + i for i, kind in enumerate(dict.fromkeys(kinds))}
        if len(self._points) > limit:
            above = f"above U+{end - 1:04X}"
            raise ValueError(f"a pattern with more than {limit:,} kinds of characters {above}")
        self.starts = "".join(map(chr, starts))
        self.stand_ins = "".join(chr(self._points[kind]) for kind in kinds)

    def share(self, points: CodePoints) -> CodePoints:
        """Return a set's characters in the alphabet, and the stand-ins of its other characters."""
        bit = self._bits[points]
        inside = [stand_in for kind, stand_in in self._points.items() if kind & bit]
        return CodePoints.union(
            *(points.clip(start, end) for start, end in self._alphabet),
            CodePoints.from_ranges(zip(inside, inside)),
        )


def _without_surrogates(
    pair: tuple[CodePoints, CodePoints],
) -> tuple[CodePoints, CodePoints]:
    """Return a pair of sets with a cut point between them, the first without surrogates.

    The first set keeps only characters below U+10000. The characters beside a cut point are not
    surrogates, so a text can be cut before it is repaired.
    """
    left, right = pair
    return left.clip(0, 0xD800) | left.clip(0xE000, 0x10000), right


def _cut_point_pattern(pairs: Iterable[tuple[CodePoints, CodePoints]]) -> str | None:
    """Return a pattern for a character of a pair's first set, followed by one of the second.

    None if a set of each pair is empty.
    """
    cuts = [f"{left.to_re()}(?={right.to_re()})" for left, right in pairs if left and right]
    return "|".join(cuts) or None


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
    """Return the rest of a match that begins with ``node`` and continues with ``after``."""
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
    repeat in two cases:

    - the rest cannot begin with a character of that class (``[^a]?+a``);
    - the rest cannot fail at all (``a++`` at the end of the pattern), so nothing is ever given
      back.

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
        return changed(node, lambda branch: relax(branch, after))
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
    return changed(node, relax)


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
