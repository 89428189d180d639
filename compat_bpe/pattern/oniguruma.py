r"""The patterns of a ``tokenizer.json``, written for Oniguruma in Ruby's syntax.

The syntax is that of ``parser.py``, with these differences:

- ``^`` and ``$`` are the edges of a line;
- ``(?m)`` makes the dot match newlines;
- ``{1,3}+`` is a repeat of a repeat, not a possessive one;
- ``a(?i)b|c`` is ``a(?i:b|c)``;
- ``\Z`` is also before a newline at the end;
- ``\w`` is another class, and a third class within brackets;
- names of classes, and the rules of ignored case, are Oniguruma's (``named``, and below);
- ``\R`` is any end of a line, and ``\X`` is a grapheme cluster (``text_segment``).

A character may fold to several (Unicode's full case folding): with case ignored, ``ss`` is also
the letter ``ß``. In Oniguruma, as observed in tokenizers 0.23.3:

- Letters one after another are cut, from the left, into the longest strings that a character folds
  to; each matches such a character, too. So ``sss`` is ``(?:ss|ß)s``.
- Such a character by itself also matches its string.
- A class that holds such a character also matches its string, after all else. A negated class does
  not. First the class is put together, then case is ignored, then the class is negated.
- In a lookbehind, a character outside a class only matches one character.

A construct is refused if it might have another meaning here:

- ``--`` and ``~~`` in classes, and some escapes;
- ``\X`` where it might begin within a character;
- letters whose case is ignored, and which are neighbours only because of a group;
- classes whose case is ignored, with characters that fold to more than one string.

The sources are ``doc/RE`` and ``doc/UNICODE_PROPERTIES`` of Oniguruma 6.9. The classes are those of
Unicode 16.0; they were compared with those of tokenizers 0.23.3 over all code points.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from typing import Callable

from ..unicode.properties import (
    ALL,
    CodePoints,
    category,
    ignore_case,
    loose,
    parse_ranges,
    property_set,
    white_space,
    word,
)
from ..unicode.tables import SCRIPTS
from .parser import HEX, NEWLINE, Parser, lone, parse
from .translation import Writer, count
from .tree import Alternatives, Anchor, Atomic, Chars, Look, Node, Repeat, Sequence, project, walk

_WORD_IN_CLASS = re.compile(
    r"\\(?:[wW]|[pP]\{(\^?)[ _-]*w[ _-]*o[ _-]*r[ _-]*d[ _-]*\})", re.ASCII | re.IGNORECASE
)
#: Escapes that mean a class without differences of case.
_WITHOUT_CASE = tuple("dDhHsSwW")
_CASE = "ignoring case is not supported where letters may match one character, such as ss and ß"


def parse_oniguruma(pattern: str) -> Node:
    r"""Return the tree of a pattern in the syntax of Oniguruma.

    Raises:
        PatternError: as for ``parse``.

    >>> parse_oniguruma("a{2}+") == Repeat(parse_oniguruma("a{2}"), 1, None, "")
    True
    >>> parse_oniguruma("(?i:s(s))")
    Traceback (most recent call last):
    compat_bpe.pattern.tree.PatternError: ... ignoring case is not supported where letters ...
    """
    return _Parser(pattern).whole()


class _Parser(Parser):
    group_name = re.compile(r"\?<[A-Za-z_][A-Za-z0-9_]*>")
    group_flags = "im"
    class_start = re.compile("(?!)")
    repeats_repeats = True

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern)
        self.flags = frozenset("m")
        self.word = outer_word()
        self.has_segments = False
        #: The number of lookbehinds around.
        self.behind = 0

    def whole(self) -> Node:
        tree = super().whole()
        if self.has_segments and not is_exact(tree):
            self.fail(r"\X is supported only beside branches without emoji", 0)
        return tree

    def check_next(self, items: list[Node], item: Node) -> None:
        if items and is_unclear(items[-1], item):
            self.fail(_CASE)

    def ended(self, items: list[Node]) -> list[Node]:
        return items if self.behind else joined(items)

    def group(self, start: int) -> Node:
        is_behind = self.looking_at("?<=") or self.looking_at("?<!")
        if is_behind and self.behind:
            # There, `(?<!(?<!a?))` matches nowhere.
            self.fail("a lookbehind within a lookbehind is not supported", start)
        is_plain = self.looking_at("?:")
        self.behind += is_behind
        node = super().group(start)
        self.behind -= is_behind
        # Only a plain group surely changes nothing about a letter.
        return ClosedLetter(node.points) if isinstance(node, Letter) and not is_plain else node

    def with_mode(self, repeat: Repeat, sign: str, mode: str) -> Node:
        is_fixed = repeat.low == repeat.high
        if sign[0] == "{" and (mode == "+" or (mode == "?" and is_fixed)):
            # A sign after a count repeats the repeat, except `?` after a range.
            self.at -= 1
            mode = ""
        return super().with_mode(repeat, sign, mode)

    def edge(self, char: str) -> Node:
        if char == "$":
            return super().edge(char)
        # After a newline, but not at the end of the text.
        inside = Alternatives((Anchor("start"), Look(Chars(ALL), True, False)))
        return Sequence((Look(Chars(~NEWLINE), ahead=False, negative=True), inside))

    def literal(self, points: CodePoints) -> Node:
        if "i" not in self.flags:
            return Chars(points)
        char = lone(points)
        return self.caseless(points) if char is None else letter(chr(char), self.behind > 0)

    def caseless(self, points: CodePoints) -> Node:
        node = in_class(points)
        if node is None:
            self.fail(_CASE)
        return node

    def cased(self, points: CodePoints) -> CodePoints:
        return points  # a class is put together first

    def bracket_node(self, start: int) -> Node:
        is_negative = self.looking_at("^")
        points = self.bracket(start)
        if "i" not in self.flags:
            return Chars(points)
        return Chars(~ignore_case(~points)) if is_negative else self.caseless(points)

    def flags_of(self, letters: str) -> frozenset[str]:
        return frozenset(letters.replace("m", "s"))

    def after_flags(self, before: frozenset[str]) -> Node:
        # The flags apply to the rest of the group around them, bars included.
        node = self.alternatives()
        self.flags = before
        return node

    def escape(self, start: int) -> Node:
        if self.take("R"):
            # Once `\r\n` has matched, it is not split.
            both = Sequence((Chars(CodePoints.of("\r")), Chars(NEWLINE)))
            single = Chars(CodePoints.of("\n\r", "\x85", "\u2028\u2029"))
            return Atomic(Alternatives((both, single)))
        if "i" in self.flags and self.pattern[self.at : self.at + 1] in _WITHOUT_CASE:
            return Chars(self.class_escape(start))
        if self.take("X"):
            self.has_segments = True
            return text_segment()
        if not self.take("Z"):
            return super().escape(start)
        last = Sequence((Repeat(Chars(NEWLINE), 0, 1, ""), Anchor("end")))
        return Look(last, ahead=True, negative=False)

    def class_escape(self, start: int) -> CodePoints:
        escape = HEX.match(self.pattern, self.at)
        if escape and (escape[0][0] == "U" or escape[0][:2] == "u{" or (escape[1] or "0") > "7f"):
            self.fail(f"the escape \\{escape[0]} is not supported", start)
        return super().class_escape(start)

    def property(self, found: re.Match[str], start: int) -> CodePoints:
        name = found[2]
        try:
            if name is None or "=" in name or ":" in name:
                raise KeyError(name)
            points = self.cased(named(name))
        except KeyError:
            self.fail(f"the property \\{found[0]} is not supported", start)
        return ~points if (found[0][0] == "P") != bool(found[1]) else points

    def bracket_char(self, start: int) -> CodePoints:
        match = self.take_match(_WORD_IN_CLASS)
        if match is None:
            return super().bracket_char(start)
        is_negative = match[0][1] in "WP"
        return ~inner_word() if is_negative != bool(match[1]) else inner_word()

    def set_operator(self, sign: str) -> Callable[[CodePoints, CodePoints], CodePoints]:
        if sign != "&&":
            self.fail(f"{sign} in a class is not supported")
        return super().set_operator(sign)

    def posix(self, name: str) -> CodePoints:
        return posix(name)


class Letter(Chars):
    """A character outside a class whose case is ignored, and which folds to one character."""


class ClosedLetter(Letter):
    """A letter in a group of its own; it is not clear if letters outside the group join it."""


class Folded(Alternatives):
    """Letters that are a string to which a character folds, or that character."""


def letter(char: str, alone: bool) -> Node:
    """Return the node for a character outside a class whose case is ignored.

    Args:
        char: the character.
        alone: True if it matches at most one character, as in a lookbehind.
    """
    points = ignore_case(CodePoints.of(char))
    string = _strings().get(ord(char))
    if string is None:
        return Letter(points)
    return Chars(points) if alone else Alternatives((_spelled(string), Chars(points)))


def in_class(points: CodePoints) -> Node | None:
    """Return the node for a class, not negated, whose case is ignored; None if it is not known.

    It is not known if characters of the class fold to several strings, which Oniguruma matches in
    an order of its own.
    """
    points = ignore_case(points)
    strings = {string for point, string in _strings().items() if point in points}
    if not strings:
        return Chars(points)
    return Alternatives((Chars(points), _spelled(*strings))) if len(strings) == 1 else None


def joined(items: list[Node]) -> list[Node]:
    """Return items in which strings of letters also match the characters that fold to them."""
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

    Within one group it is clear which letters are one string; between groups it is not.
    """
    if type(left) is Letter and type(right) is Letter:
        return False
    one, other = _edge(left, -1), _edge(right, 0)
    if not isinstance(one, Letter) or not isinstance(other, Letter):
        return False
    return any(_text([one, other]) in string for string in _folding_to())


def _text(letters: list[Letter]) -> str:
    """Return the text of letters in the spelling of the foldings."""
    return "".join(min(map(chr, item.points), key=_rank) for item in letters)


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


def _rank(char: str) -> tuple[bool, str]:
    """Return a sort key that puts the character that foldings use first in its orbit."""
    return char not in _spelling(), char


@cache
def _spelling() -> frozenset[str]:
    return frozenset("".join(_strings().values()))


@cache
def _strings() -> dict[int, str]:
    """Return the string of each character that folds to several characters."""
    from ..unicode.tables_folds import FULL_FOLDS

    return FULL_FOLDS


@cache
def _folding_to() -> dict[str, CodePoints]:
    """Return for each string the characters that fold to it."""
    folded: dict[str, CodePoints] = {}
    for point, string in _strings().items():
        folded[string] = folded.get(string, CodePoints()) | CodePoints.from_ranges([(point, point)])
    return folded


#: ``\X``, with a letter for each class of characters.
_SEGMENT = "(?>rn|p*(?:l*(?:v+|dv*|s)t*|l+|t+|ff|x(?:e*zx)*|o)g*|a)"


@cache
def text_segment() -> Node:
    r"""Return the pattern of one ``\X`` that begins at a boundary, or after no part of an emoji.

    It is the extended grapheme cluster of UAX 29 and Unicode 16.0, without rule GB9c, which keeps
    Indic conjuncts together.

    ``\X`` continues until there is a boundary after its last character. In two cases a boundary
    depends on the text before, inside or outside the match: between two halves of a flag, and
    before a pictograph. So a pattern without lookbehinds finds the boundaries only if each ``\X``
    begins at a boundary, or follows neither half a flag nor a pictograph.
    """
    from ..unicode.tables_properties import CLUSTERS

    cluster = {name: parse_ranges(table) for name, table in CLUSTERS.items()}
    syllables = CodePoints((0xAC00, 0xD7A4))
    two_jamo = CodePoints.from_ranges((point, point) for point in range(0xAC00, 0xD7A4, 28))
    classes = {
        "r": cluster["CR"],
        "n": cluster["LF"],
        "p": cluster["Prepend"],
        "z": cluster["ZWJ"],
        "a": ALL,
        "l": cluster["L"],
        "v": cluster["V"],
        "t": cluster["T"],
        "d": two_jamo,
        "s": syllables - two_jamo,
        "f": _flags(),
        "x": _pictographs(),
        "e": cluster["Extend"],
        "g": cluster["Extend"] | cluster["ZWJ"] | cluster["SpacingMark"],
        "o": ~(cluster["Control"] | cluster["CR"] | cluster["LF"]),
    }
    by_letter = {CodePoints.of(letter): points for letter, points in classes.items()}
    return project(parse(_SEGMENT), by_letter.__getitem__)


def is_exact(tree: Node) -> bool:
    r"""Return True if each ``\X`` of a pattern begins where ``text_segment`` is right.

    The property: ``\X`` is a branch, or a branch repeats it, so it never fails, and all text is in
    matches. The other branches match no pictographs and no halves of flags. So these characters are
    in matches of ``\X``, which end at boundaries.
    """
    segment = text_segment()
    for branch in tree.branches if isinstance(tree, Alternatives) else (tree,):
        while isinstance(branch, Repeat) and branch.low == 1:
            branch = branch.item
        nodes = list(walk(branch))
        if branch != segment and segment in nodes:
            return False
        if branch != segment and any(
            isinstance(node, Chars) and node.points & (_flags() | _pictographs()) for node in nodes
        ):
            return False
    return True


def _flags() -> CodePoints:
    return named("Regional_Indicator")


def _pictographs() -> CodePoints:
    return named("Extended_Pictographic")


@cache
def outer_word() -> CodePoints:
    r"""Return the characters that ``\w`` matches outside of a class.

    These are the characters that it matches within a class, three superscripts and three fractions.
    """
    return inner_word() | CodePoints.of("²³", "¹", "¼¾")


@cache
def inner_word() -> CodePoints:
    r"""Return the characters that ``\w`` matches within a class, such as ``[^\w\s]``.

    The joiners U+200C and U+200D are not among them.
    """
    return word() - CodePoints.of("\u200c\u200d")


@cache
def posix(name: str) -> CodePoints:
    """Return a POSIX class, such as ``alpha``.

    Raises:
        KeyError: there is no class of this name.

    >>> ord("é") in posix("alpha"), ord("1") in posix("punct")
    (True, False)
    """
    return _POSIX[name]()


@cache
def named(name: str) -> CodePoints:
    r"""Return the characters that ``\p{name}`` matches.

    Raises:
        KeyError: Oniguruma has no such name.

    >>> ord("😀") in named("Emoji"), named("Latn") == named("latin"), ord("a") in named("in Arrows")
    (True, True, False)
    """
    with suppress(KeyError):
        return property_set(name)  # a category or a script, with its long name
    from ..unicode.tables_properties import BLOCKS, PROPERTIES

    wanted = _full_names().get(loose(name), loose(name))
    for tables in (PROPERTIES, BLOCKS):
        if wanted in tables:
            return parse_ranges(tables[wanted])
    if wanted == "innoblock":
        return ~CodePoints.union(*map(parse_ranges, BLOCKS.values()))
    if wanted in ("unknown", "zzzz"):
        return ~CodePoints.union(*map(parse_ranges, SCRIPTS.values()))
    if wanted == "word":
        return outer_word()
    return posix(wanted) if wanted in _POSIX else property_set(wanted)


_POSIX: dict[str, Callable[[], CodePoints]] = {
    "alnum": lambda: posix("alpha") | category("Nd"),
    "alpha": lambda: named("Alphabetic"),
    "ascii": lambda: CodePoints((0, 0x80)),
    "blank": lambda: category("Zs") | CodePoints.of("\t"),
    "cntrl": lambda: category("Cc"),
    "digit": lambda: category("Nd"),
    "graph": lambda: ~(white_space() | category("Cc") | category("Cn") | category("Cs")),
    "lower": lambda: named("Lowercase"),
    "print": lambda: posix("graph") | category("Zs"),
    "punct": lambda: category("P") | category("S"),
    "space": white_space,
    "upper": lambda: named("Uppercase"),
    "word": inner_word,
    "xdigit": lambda: CodePoints.of("09", "AF", "af"),
}


@cache
def _full_names() -> dict[str, str]:
    """Return the name in the tables for each name in loose spelling."""
    from ..unicode.tables_properties import BLOCKS, PROPERTIES, SHORT_NAMES

    names = {loose(name): name for name in (*PROPERTIES, *BLOCKS, *SCRIPTS)}
    names.update((loose(short), name) for short, name in SHORT_NAMES.items())
    return names


def to_oniguruma(node: Node) -> str:
    r"""Return the pattern as text for Oniguruma in Ruby's syntax, with explicit classes.

    >>> from compat_bpe.pattern.parser import parse
    >>> to_oniguruma(parse("(?i:k)?+a{1,2}+$"))
    '[Kk\u212a]?+(?>a{1,2})\\z'
    """
    # UTF-8 text has no surrogates, and no class may name them.
    return _Writer().write(project(node, lambda points: points - _SURROGATES))


_SURROGATES = CodePoints((0xD800, 0xE000))


class _Writer(Writer):
    def write(self, node: Node) -> str:
        if isinstance(node, Anchor):
            return "\\A" if node.kind == "start" else "\\z"
        if isinstance(node, Repeat) and node.mode == "+" and count(node) in ("*", "+", "?"):
            return self.item(node.item, repeated=True) + count(node) + "+"
        return super().write(node)

    def atomic(self, node: Node) -> str:
        return f"(?>{self.write(node)})"
