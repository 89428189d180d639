r"""Letters whose case is ignored, as Oniguruma does it: ``ss`` is also the letter ``ß``.

A character may fold to several (Unicode's full case folding). In Oniguruma, as observed in
tokenizers 0.23.3:

- Letters one after another are cut, from the left, into the longest strings that a character folds
  to; each matches such a character, too. So ``sss`` is ``(?:ss|ß)s``.
- Such a character by itself also matches its string.
- A class that holds such a character also matches its string, after all else; a negated one does
  not. First the class is put together, then case is ignored, then the class is negated.
- In a lookbehind, a character is only ever matched by one.
"""

from __future__ import annotations

from functools import cache

from ..unicode.code_points import CodePoints
from ..unicode.properties import ignore_case
from .ast import Alternatives, Chars, Node, Repeat, Sequence


class Letter(Chars):
    """A character outside a class whose case is ignored, and which folds to one character."""


class ClosedLetter(Letter):
    """A letter in a group of its own, of which it is not clear if others join it."""


class Folded(Alternatives):
    """Letters that are a string to which a character folds, or that character."""


def letter(char: str, alone: bool) -> Node:
    """Return the node for a character outside a class whose case is ignored.

    Args:
        char: the character.
        alone: True if it matches no more than one character, as in a lookbehind.
    """
    points = ignore_case(CodePoints.of(char))
    string = _strings().get(ord(char))
    if string is None:
        return Letter(points)
    return Chars(points) if alone else Alternatives((_spelled(string), Chars(points)))


def in_class(points: CodePoints, alone: bool) -> Node | None:
    """Return the node for a class, not negated, whose case is ignored; None if it is not known.

    It is not known for a class with characters that fold to several strings, which are matched in
    an order of their own.
    """
    points = ignore_case(points)
    strings = {string for point, string in _strings().items() if point in points}
    if not strings or alone:
        return Chars(points)
    return Alternatives((Chars(points), _spelled(*strings))) if len(strings) == 1 else None


def joined(items: list[Node]) -> list[Node]:
    """Return items in which a string of letters also matches the character that folds to it."""
    nodes: list[Node] = []
    start = 0
    while start < len(items):
        letters: list[Letter] = []
        for item in items[start : start + 3]:
            if not isinstance(item, Letter) or isinstance(item, ClosedLetter):
                break
            letters.append(item)
        while len(letters) > 1 and _text(letters) not in _folding_to():
            letters.pop()
        if len(letters) > 1:
            chars = Chars(_folding_to()[_text(letters)])
            nodes.append(Folded((Sequence(tuple(letters)), chars)))
        else:
            nodes.append(items[start])
        start += max(len(letters), 1)
    return nodes


def is_unclear(left: Node, right: Node) -> bool:
    """Return True if letters of two nodes may be one string, but not certainly.

    Within one group it is clear which letters are one string; across groups it is not.
    """
    if type(left) is Letter and type(right) is Letter:
        return False
    one, other = _edge(left, -1), _edge(right, 0)
    if not isinstance(one, Letter) or not isinstance(other, Letter):
        return False
    return any(_text([one, other]) in string for string in _folding_to())


def _text(letters: list[Letter]) -> str:
    """Return the text of letters as the strings of foldings spell it."""
    return "".join(min(map(chr, _members(one.points)), key=_rank) for one in letters)


def _edge(node: Node, place: int) -> Node:
    """Return the first item (0) of a node or the last (-1), looking into nested groups."""
    while True:
        if isinstance(node, Sequence) and node.items:
            node = node.items[place]
        elif isinstance(node, Repeat) and node.low == node.high == 1:
            node = node.item
        elif isinstance(node, Folded):
            node = node.branches[0]
        else:
            return node


def _spelled(string: str) -> Node:
    return Sequence(tuple(Chars(ignore_case(CodePoints.of(char))) for char in string))


def _members(points: CodePoints) -> list[int]:
    return [point for first, last in points.ranges() for point in range(first, last + 1)]


def _rank(char: str) -> tuple[bool, str]:
    """Return a key by which the character of an orbit that foldings spell comes first."""
    return char not in _spelling(), char


@cache
def _spelling() -> frozenset[str]:
    return frozenset("".join(_strings().values()))


@cache
def _strings() -> dict[int, str]:
    """Return what each character that folds to several folds to."""
    from ..unicode.tables_folds import FULL_FOLDS

    return FULL_FOLDS


@cache
def _folding_to() -> dict[str, CodePoints]:
    """Return for each string the characters that fold to it."""
    folded: dict[str, CodePoints] = {}
    for point, string in _strings().items():
        folded[string] = folded.get(string, CodePoints()) | CodePoints.from_ranges([(point, point)])
    return folded
