"""The normalizers that change each character by itself, the ends of a text, or matches in it.

They are ``Lowercase``, ``StripAccents``, ``Nmt``, ``ByteLevel``, ``Strip``, ``Prepend`` and
``Replace``. Letters are those of tokenizers' version of Unicode.
"""

from __future__ import annotations

import re
from functools import cache

from ...pattern.splitter import Splitter
from ...pattern.tree import Anchor, Chars, Look, Node, Repeat, Sequence, can_be_empty, walk
from ...unicode import tables_tokenizers as tables
from ...unicode.properties import CodePoints, parse_ranges, white_space
from ..aligned import Aligned
from ..byte_level import encode_bytes
from .base import MOST_TIMES, CharacterTable, Normalizer, beside, check_growth, members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .base import Pairs


class _EachCharacter(Normalizer):
    """A normalizer that changes each character by itself; this base class removes none."""

    def align(self, text: Aligned) -> Aligned:
        """Return the normalized text; each character has the place of its original character."""
        return text.changed(
            (new, int(index > 0)) for char in text.text for index, new in enumerate(self(char))
        )

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the two normalized characters, unless one of them is removed."""
        return beside(self(left), self(right))


class Lowercase(_EachCharacter):
    """The normalizer that puts each character in lower case by itself, a final sigma included.

    >>> Lowercase()("ὈΔΥΣΣΕΎΣ")
    'ὀδυσσεύσ'
    """

    def __call__(self, text: str) -> str:
        """Return a text in lower case."""
        return text.lower() if text.isascii() else text.translate(_lowercase_table())


@cache
def _lowercase_table() -> CharacterTable:
    table = {0x130: "i\u0307"}  # the only letter that becomes two characters
    for run in re.finditer(r"([0-9a-f]+)-([0-9a-f]+)(/2)?([+-][0-9a-f]+)", tables.LOWERCASE):
        first, last, shift = (int(run[group], 16) for group in (1, 2, 4))
        for code_point in range(first, last + 1, 2 if run[3] else 1):
            table.setdefault(code_point, chr(code_point + shift))
    return CharacterTable(lambda char: table.get(ord(char), char))


class StripAccents(_EachCharacter):
    r"""The normalizer that removes all marks (Mn, Mc and Me of Unicode 9.0), and changes no letter.

    >>> StripAccents()("e\u0301 é")
    'e é'
    """

    def __call__(self, text: str) -> str:
        """Return a text without marks."""
        return text if text.isascii() else text.translate(_unmarked())

    def align(self, text: Aligned) -> Aligned:
        """Return a text without marks, with the places in the original."""
        return text.filtered(lambda char: char not in _marks())


@cache
def _marks() -> frozenset[str]:
    return members(parse_ranges(tables.MARKS))


@cache
def _unmarked() -> CharacterTable:
    marks = _marks()
    return CharacterTable(lambda char: "" if char in marks else char)


#: C0 controls that are not white space, DEL, and two C1 controls.
_REMOVED = frozenset(map(chr, (*range(1, 9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F)))
_SPACES = frozenset("\t\n\f\r\u1680\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u2581\ufeff\ufffd")


class Nmt(_EachCharacter):
    r"""The normalizer ``Nmt``: it removes some control characters and turns others into spaces.

    It is a part of SentencePiece's ``nmt_nfkc``, with the same odd set of characters.

    >>> Nmt()("a\x01\tb\u200bc")
    'a b c'
    """

    def __call__(self, text: str) -> str:
        """Return the normalized text."""
        return text if text.isascii() and text.isprintable() else text.translate(_NMT)

    def align(self, text: Aligned) -> Aligned:
        """Return the normalized text, with the places in the original."""
        kept = text.filtered(lambda char: char not in _REMOVED)
        return kept.changed((_nmt(char), 0) for char in kept.text)


def _nmt(char: str) -> str:
    return "" if char in _REMOVED else " " if char in _SPACES else char


_NMT = CharacterTable(_nmt)


class ByteLevel(_EachCharacter):
    """The normalizer that writes each byte of a text as a character.

    >>> ByteLevel()(" é")
    'ĠÃ©'
    """

    def __call__(self, text: str) -> str:
        """Return the bytes of a text in the byte alphabet."""
        return encode_bytes(text.encode())


class Strip(Normalizer):
    """The normalizer that removes white space at the beginning, the end, or both.

    >>> Strip(True, False)("  a ")
    'a '
    """

    def __init__(self, left: bool, right: bool) -> None:
        self.left = left
        self.right = right

    def __call__(self, text: str) -> str:
        """Return a text without white space at its ends."""
        text = text.lstrip(_blanks()) if self.left else text
        return text.rstrip(_blanks()) if self.right else text

    def align(self, text: Aligned) -> Aligned:
        """Return a text without white space at its ends, with the places in the original."""
        kept = self(text.text)
        if len(kept) == len(text.text):
            return text
        start = len(text.text) - len(text.text.lstrip(_blanks())) if self.left else 0
        return text.changed(((char, 0) for char in kept), start)

    @property
    def continued(self) -> Strip | None:
        """The normalizer for a text that continues: nothing is removed at its beginning."""
        if not self.left:
            return self
        return Strip(False, True) if self.right else None

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the two characters, unless the left one might be removed at an end.

        White space that is the whole right side is also removed at the end of the whole.
        """
        return None if left in _blanks() else (left, right)


@cache
def _blanks() -> str:
    return "".join(members(white_space()))


class Prepend(Normalizer):
    """The normalizer that puts a prefix before a text, unless the text is empty.

    >>> Prepend("▁")("a"), Prepend("▁")("")
    ('▁a', '')
    """

    #: Nothing is put before a text that continues.
    continued = None

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        #: True if it removes the place of the first character, as tokenizers does without a prefix.
        self.may_insert = not prefix

    def __call__(self, text: str) -> str:
        """Return a text with the prefix."""
        return text and self.prefix + text

    def align(self, text: Aligned) -> Aligned:
        """Return a text with the prefix, which has the place of the first character."""
        if not text.text:
            return text
        if not self.prefix:
            return text._replace(places=[(text.start, text.start), *text.places[1:]])
        first = text.places[0]
        return text._replace(
            text=self.prefix + text.text, places=[first] * len(self.prefix) + text.places
        )

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the characters unchanged."""
        return left, right


class Replace(Normalizer):
    """The normalizer that replaces each match of a pattern by ``new``, taken literally.

    >>> Replace(Splitter("[0-9]+"), "#")("a12b3")
    'a#b#'
    """

    def __init__(self, old: Splitter, new: str) -> None:
        self._old = old
        self.new = new
        tree = old.tree
        self._literal = None if tree is None else _literal(tree)
        #: True if it may insert text at an empty match.
        self.may_insert = tree is None or can_be_empty(tree)
        self._taken = None if tree is None or self.may_insert else _taken(tree)
        self._all_of = None if self._taken is None or tree is None else _all_of(tree)
        self.is_local = self._taken is not None

    def __call__(self, text: str) -> str:
        """Return a text with all matches replaced; an empty text has no matches."""
        if not text:
            return text
        if len(self.new) >= MOST_TIMES:
            self._check(text)
        if self._literal:
            return text.replace(self._literal, self.new)
        return self._old.replace(text, self.new)

    def align(self, text: Aligned) -> Aligned:
        """Return a text with all matches replaced; each new one has its match's last place."""
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
        """Raise ``ValueError`` if a text would become far longer."""
        after = 0
        for _ in self._old.spans(text):
            after += len(self.new)
            check_growth(len(text), after)

    def across(self, left: str, right: str) -> tuple[str, str] | None:
        """Return the characters beside a position that no match goes across.

        No match does if one of the two characters is in no match, and the pattern has no conditions
        on the text around. The other character may be at the end or the beginning of a match. It
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

        If one of the two may be in a match, both cases are returned.
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
    """Return the text of a pattern that matches only one text."""
    chars = []
    for item in tree.items if isinstance(tree, Sequence) else (tree,):
        bounds = item.points.bounds if isinstance(item, Chars) else ()
        if len(bounds) != 2 or bounds[1] != bounds[0] + 1:
            return None
        chars.append(chr(bounds[0]))
    return "".join(chars)


def _taken(tree: Node) -> CodePoints | None:
    """Return the characters that matches may contain; None if the pattern has conditions."""
    nodes = list(walk(tree))
    if any(isinstance(node, (Look, Anchor)) for node in nodes):
        return None
    return CodePoints.union(*(node.points for node in nodes if isinstance(node, Chars)))


def _all_of(tree: Node) -> tuple[CodePoints, bool] | None:
    """Return the characters that are certainly in matches, and True if each is a match by itself.

    None if a pattern is neither a class nor a run of one class.
    """
    while isinstance(tree, Sequence) and len(tree.items) == 1:
        tree = tree.items[0]
    if isinstance(tree, Chars):
        return tree.points, True
    if not isinstance(tree, Repeat) or not isinstance(tree.item, Chars):
        return None
    takes_all = tree.low == 1 and tree.high is None and tree.mode != "?"
    return (tree.item.points, False) if takes_all else None
