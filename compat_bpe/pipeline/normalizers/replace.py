"""Matches of a pattern replaced by a text."""

from __future__ import annotations

from ...pattern.ast import Anchor, Chars, Look, Node, Repeat, Sequence, can_be_empty, walk
from ...pattern.splitter import Splitter
from ...unicode.code_points import CodePoints
from ..aligned import Aligned
from .base import MOST_TIMES, PlainNormalizer, check_growth

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .base import Pairs


class Replace(PlainNormalizer):
    """The normalizer that replaces each match of a pattern by ``new``, taken literally.

    >>> Replace(Splitter("[0-9]+"), "#")("a12b3")
    'a#b#'
    """

    def __init__(self, old: Splitter, new: str) -> None:
        self._old = old
        self.new = new
        tree = old.tree
        self._literal = None if tree is None else _literal(tree)
        #: True if it may insert text where nothing is matched.
        self.may_insert = tree is None or can_be_empty(tree)
        self._taken = None if tree is None or self.may_insert else _taken(tree)
        self._all_of = None if self._taken is None or tree is None else _all_of(tree)
        self.is_local = self._taken is not None

    def __call__(self, text: str) -> str:
        """Return a text with all matches replaced; in an empty text nothing is matched."""
        if not text:
            return text
        if len(self.new) >= MOST_TIMES:
            self._check(text)
        if self._literal:
            return text.replace(self._literal, self.new)
        return self._old.replace(text, self.new)

    def align(self, text: Aligned) -> Aligned:
        """Return a text with all matches replaced; each has the place of a match's last char."""
        if not text.text:
            return text
        if len(self.new) >= MOST_TIMES:
            self._check(text.text)
        parts: list[str] = []
        places: list[tuple[int, int]] = []
        at = 0
        for start, end in self._old.spans(text.text):
            before = text.places[end - 1] if end else (text.start, text.start)
            parts += [text.text[at:start], self.new]
            places += [*text.places[at:start], *[before] * len(self.new)]
            at = end
        parts.append(text.text[at:])
        return text._replace(text="".join(parts), places=places + text.places[at:])

    def _check(self, text: str) -> None:
        """Raise ``ValueError`` if a text becomes far longer, before it does."""
        after = 0
        for _ in self._old.spans(text):
            after += len(self.new)
            check_growth(len(text), after)

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the characters beside a position that no match goes across.

        None goes across it if no match takes one of the two characters, and the pattern has no
        conditions on what is around. The other one may be the end or the beginning of a match; it
        certainly is if the pattern takes all characters of its kind.
        """
        taken = self._taken
        if taken is None:
            return None
        in_left, in_right = ord(left) in taken, ord(right) in taken
        if not in_left and not in_right:
            return left, right
        if self._all_of is None or not self.new or (in_left and in_right and not self._all_of[1]):
            return None
        return (self.new[-1] if in_left else left), (self.new[0] if in_right else right)

    def all_across(self, left: str, right: str) -> Pairs:
        """Return the characters that may be beside a position that no match goes across.

        If one of the two may be in a match, it is in one or not.
        """
        pair = self.across(left, right)
        if pair is not None:
            return (pair,)
        taken = self._taken
        if taken is None or not self.new or (ord(left) in taken and ord(right) in taken):
            return ()
        if ord(left) in taken:
            return (left, right), (self.new[-1], right)
        return (left, right), (left, self.new[0])


def _literal(tree: Node) -> str | None:
    """Return the only text that a pattern matches, if it is simply that."""
    chars = []
    for item in tree.items if isinstance(tree, Sequence) else (tree,):
        bounds = item.points.bounds if isinstance(item, Chars) else ()
        if len(bounds) != 2 or bounds[1] != bounds[0] + 1:
            return None
        chars.append(chr(bounds[0]))
    return "".join(chars)


def _taken(tree: Node) -> CodePoints | None:
    """Return the characters that matches are made of; None if the pattern has conditions."""
    nodes = list(walk(tree))
    if any(isinstance(node, (Look, Anchor)) for node in nodes):
        return None
    return CodePoints.union(*(node.points for node in nodes if isinstance(node, Chars)))


def _all_of(tree: Node) -> tuple[CodePoints, bool] | None:
    """Return the characters that are certainly in matches, and True if each is one by itself.

    None if a pattern is neither a class nor a run of one.
    """
    while isinstance(tree, Sequence) and len(tree.items) == 1:
        tree = tree.items[0]
    if isinstance(tree, Chars):
        return tree.points, True
    if not isinstance(tree, Repeat) or not isinstance(tree.item, Chars):
        return None
    takes_all = tree.low == 1 and tree.high is None and tree.mode != "?"
    return (tree.item.points, False) if takes_all else None
