r"""The syntax of published patterns, parsed.

tiktoken's patterns are written for Rust's ``fancy-regex``.  ``parse`` reads that syntax into a
small tree in which every class is an explicit set of Unicode 16.0 code points and case has
been dealt with, so that nothing depends on what another engine thinks ``\s`` is:

- classes: ``\p{L}``, ``\pL``, ``\P{Lu}``, ``\p{Han}``, ``\s \S \d \D \w \W``, ``.``, brackets
  with ranges, negation, nesting and the set operators ``&& -- ~~``, ``[:alpha:]``;
- escapes: ``\r \n \t \f \v \a \e``, ``\x41``, ``\x{41}``, ``\u0041``, ``\U00000041``;
- groups: ``(…)``, ``(?:…)``, ``(?P<name>…)``, ``(?i:…)``, ``(?i)`` (also ``m``, ``s`` and ``u``),
  atomic ``(?>…)``, lookahead and lookbehind;
- repeats ``* + ? {n} {n,} {,m} {n,m}``, greedy, lazy (``?``) and possessive (``+``);
- anchors ``^ $ \A \z \b \B``.

The patterns in a ``tokenizer.json`` are written for Oniguruma, in Ruby's syntax.  That is the same
but for what ``parse(…, oniguruma=True)`` takes care of: ``^`` and ``$`` are the edges of a line,
``(?m)`` makes the dot match newlines, ``{1,3}+`` is a repeat of a repeat and no possessive one,
``a(?i)b|c`` is ``a(?i:b|c)``, ``\w`` is another class.  What the two might understand differently
is refused there: POSIX classes, ``--`` and ``~~`` in classes, and case-insensitive text beyond
ASCII or with two letters that some one character folds to (``ss``, ``fi``).  (The syntax is that of
the ``doc/RE`` of Oniguruma 6.9.)
"""

from __future__ import annotations

import re
from typing import Callable, NamedTuple, NoReturn, Union

from compat_bpe.engine.code_points import ALL, END, NONE, CodePoints
from compat_bpe.engine.unicode_properties import (
    category,
    ignore_case,
    oniguruma_word,
    property_set,
    white_space,
    word,
)


class PatternError(ValueError):
    """A pattern that cannot be read: what is wrong, at which character of it, what to do."""

    def __init__(self, pattern: str, position: int, reason: str, hint: str = "") -> None:
        self.pattern = pattern
        self.position = position
        self.reason = reason
        super().__init__(f"pattern {_shorten(pattern)!r}, character {position}: {reason}{hint}")


def _shorten(pattern: str) -> str:
    return pattern if len(pattern) <= 60 else pattern[:57] + "..."


class Chars(NamedTuple):
    """One code point out of a set."""

    points: CodePoints


class Sequence(NamedTuple):
    """Items one after the other; with none, the empty match."""

    items: tuple[Node, ...]


class Alternatives(NamedTuple):
    """The first branch that leads to a match."""

    branches: tuple[Node, ...]


class Repeat(NamedTuple):
    """An item ``low`` to ``high`` times (None: without end).

    ``mode`` is ``""`` for greedy, ``"?"`` for lazy, ``"+"`` for possessive.
    """

    item: Node
    low: int
    high: int | None
    mode: str


class Atomic(NamedTuple):
    """An item whose first way to match is its only one."""

    item: Node


class Look(NamedTuple):
    """A condition on the text after (``ahead``) or before this place."""

    item: Node
    ahead: bool
    negative: bool


class Anchor(NamedTuple):
    r"""The start (``\A``) or end (``\z``) of the text."""

    kind: str


Node = Union[Chars, Sequence, Alternatives, Repeat, Atomic, Look, Anchor]

EMPTY = Sequence(())

#: Groups within groups; stdlib ``re`` itself recurses, and no real pattern goes past ten.
_MAX_DEPTH = 100
_MAX_REPEAT = 100_000

_NEWLINE = CodePoints.of("\n")
_ESCAPES = {
    "a": "\a",
    "e": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_CLASS_ESCAPES: dict[str, Callable[[], CodePoints]] = {
    "d": lambda: category("Nd"),
    "s": white_space,
    # As fancy-regex has it: a hexadecimal digit.
    "h": lambda: CodePoints.of("09", "AF", "af"),
}
#: POSIX classes, which are ASCII only.
_POSIX = {
    "alnum": ("09", "AZ", "az"),
    "alpha": ("AZ", "az"),
    "ascii": ("\x00\x7f",),
    "blank": ("\t", " "),
    "cntrl": ("\x00\x1f", "\x7f"),
    "digit": ("09",),
    "graph": ("!~",),
    "lower": ("az",),
    "print": (" ~",),
    "punct": ("!/", ":@", "[`", "{~"),
    "space": ("\t\r", " "),
    "upper": ("AZ",),
    "word": ("09", "AZ", "_", "az"),
    "xdigit": ("09", "AF", "af"),
}
_SET_OPERATORS: dict[str, Callable[[CodePoints, CodePoints], CodePoints]] = {
    "&&": CodePoints.__and__,
    "--": CodePoints.__sub__,
    "~~": CodePoints.__xor__,
}
#: In lower case, what U+00DF, U+FB00 to U+FB06 and U+1E9E fold to, or its beginning.
_FOLDED_TO_TWO = {"ff", "fi", "fl", "ss", "st"}
#: Names of properties that Oniguruma takes for POSIX classes.
_POSIX_PROPERTIES = {*_POSIX, "punctuation", "any", "assigned"}
_REPEAT = re.compile(r"([*+?]|\{(?:([0-9]+)(,([0-9]*))?|,([0-9]+))\})([?+]?)")
_HEX = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|[xuU]\{([0-9A-Fa-f]+)\}")
_PROPERTY = re.compile(r"[pP](?:\{(\^?)([^}]*)\}|([A-Za-z]))")
_POSIX_CLASS = re.compile(r"\[:(\^?)([a-z]+):\]")
_GROUP_NAME = re.compile(r"\?P?<[A-Za-z_][A-Za-z0-9_.\[\]]*>")
_RUBY_GROUP_NAME = re.compile(r"\?<[A-Za-z_][A-Za-z0-9_]*>")
_FLAGS = re.compile(r"\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")


def parse(pattern: str, *, oniguruma: bool = False) -> Node:
    """The tree of a pattern.

    Args:
        pattern: in the syntax of ``fancy-regex``, or
        oniguruma: in that of Oniguruma.

    Raises:
        PatternError: something in it is wrong, or is not understood here; the message names
            the construct and its position.

    >>> parse("a+")
    Repeat(item=Chars(points=CodePoints(a)), low=1, high=None, mode='')
    """
    return _Parser(pattern, oniguruma).whole()


class _Parser:
    """A recursive descent; ``at`` is the next character to read."""

    def __init__(self, pattern: str, oniguruma: bool) -> None:
        self.pattern = pattern
        self.oniguruma = oniguruma
        self.at = 0
        self.depth = 0
        # By the letters of fancy-regex: "m" for anchors at lines, "s" for a dot that matches all.
        self.flags = frozenset("m" if oniguruma else "")
        self.word = oniguruma_word() if oniguruma else word()

    def whole(self) -> Node:
        node = self.alternatives()
        if self.at < len(self.pattern):
            self.fail("unmatched ')'")
        return node

    def fail(self, reason: str, at: int | None = None) -> NoReturn:
        raise PatternError(self.pattern, self.at if at is None else at, reason)

    def looking_at(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def take(self, text: str) -> bool:
        """Step over ``text`` if it stands here."""
        found = self.looking_at(text)
        self.at += len(text) * found
        return found

    def take_match(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        found = expression.match(self.pattern, self.at)
        if found:
            self.at = found.end()
        return found

    def next_char(self, inside: str) -> str:
        if self.at >= len(self.pattern):
            self.fail(f"{inside} is not closed")
        self.at += 1
        return self.pattern[self.at - 1]

    # Groups and repeats

    def alternatives(self) -> Node:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            self.fail(f"groups are nested more than {_MAX_DEPTH} deep")
        branches = [self.sequence()]
        while self.take("|"):
            branches.append(self.sequence())
        self.depth -= 1
        return branches[0] if len(branches) == 1 else Alternatives(tuple(branches))

    def sequence(self) -> Node:
        items: list[Node] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            item = self.atom()
            found = self.take_match(_REPEAT)
            while found:
                item = self.repeat(item, found)
                found = self.take_match(_REPEAT)
            if item != EMPTY:
                items.append(item)
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def repeat(self, item: Node, found: re.Match[str]) -> Node:
        sign, low, comma, high, high_alone, mode = found.groups()
        counts = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(sign)
        if counts is None:
            first = int(low or 0)
            last = int(high or high_alone or 0) if high or high_alone else None
            counts = first, first if low and not comma else last
        if max(filter(None, counts), default=0) > _MAX_REPEAT:
            self.fail(f"a repeat count above {_MAX_REPEAT}", found.start())
        if counts[1] is not None and counts[1] < counts[0]:
            self.fail(f"the repeat {sign} ends below its start", found.start())
        if self.oniguruma and sign[0] == "{" and mode and (mode == "+" or counts[0] == counts[1]):
            # Ruby has no possessive counts, and nothing is lazy about a fixed one.
            self.at -= 1
            mode = ""
        return EMPTY if item == EMPTY else Repeat(item, counts[0], counts[1], mode)

    def atom(self) -> Node:
        start = self.at
        char = self.next_char("pattern")
        if char == "(":
            return self.group(start)
        if char == "[":
            return Chars(self.bracket(start))
        if char == "\\":
            return self.escape(start)
        if char == ".":
            return Chars(ALL if "s" in self.flags else ~_NEWLINE)
        if self.oniguruma and char == "^":
            # After a newline, but not where that is the end of the text.
            inside = Alternatives((Anchor("start"), Look(Chars(ALL), True, False)))
            return Sequence((Look(Chars(~_NEWLINE), ahead=False, negative=True), inside))
        if char in "^$":
            if "m" in self.flags:
                # At a line's edge: the neighbour, if there is one, is a newline.
                return Look(Chars(~_NEWLINE), ahead=char == "$", negative=True)
            return Anchor("start" if char == "^" else "end")
        if char in "*+?":
            self.fail("nothing to repeat", start)
        if self.oniguruma and self.pattern[start - 1 : self.at].lower() in _FOLDED_TO_TWO:
            self.cased(CodePoints.of("ß"))
        return Chars(self.cased(CodePoints.of(char)))

    def cased(self, points: CodePoints) -> CodePoints:
        if "i" not in self.flags:
            return points
        if self.oniguruma and points.clip(0x80, END):
            self.fail("case is ignored in what is not ASCII, or in ff, fi, fl, ss or st")
        return ignore_case(points)

    def group(self, start: int) -> Node:
        wrap: Callable[[Node], Node] = _same
        # `(?i)` holds beyond the end of the group it stands in, until a `(?flags:…)` around it
        # ends: so fancy-regex has it, though not Perl.
        flags = None
        if self.take("?="):
            wrap = _look(ahead=True, negative=False)
        elif self.take("?!"):
            wrap = _look(ahead=True, negative=True)
        elif self.take("?<="):
            wrap = _look(ahead=False, negative=False)
        elif self.take("?<!"):
            wrap = _look(ahead=False, negative=True)
        elif self.take("?>"):
            wrap = Atomic
        elif self.looking_at("?") and not self.take_match(
            _RUBY_GROUP_NAME if self.oniguruma else _GROUP_NAME
        ):
            found = self.take_match(_FLAGS)
            if not found or (not found[1] and found[3] == ")"):
                self.fail(f"the group ({self.pattern[self.at : self.at + 2]} is not supported")
            unknown = set(found[1] + (found[2] or "")) - set("im" if self.oniguruma else "imsu")
            if unknown or "u" in (found[2] or ""):
                self.fail(f"the group ({found[0]} has flags that are not supported", start)
            flags = self.flags
            on, off = set(found[1]), set(found[2] or "")
            if self.oniguruma:
                on, off = ({"s" if flag == "m" else flag for flag in some} for some in (on, off))
            self.flags = (flags | on) - off
            if found[3] == ")":
                if not self.oniguruma:
                    return EMPTY
                # It holds for all that follows in the group around it, bars included.
                node = self.alternatives()
                self.flags = flags
                return node
        node = self.alternatives()
        if flags is not None:
            self.flags = flags
        if not self.take(")"):
            self.fail("'(' is not closed", start)
        return wrap(node)

    # Escapes and classes

    def escape(self, start: int) -> Node:
        char = self.pattern[self.at : self.at + 1]
        if char in ("A", "z"):
            self.at += 1
            return Anchor("start" if char == "A" else "end")
        if char == "Z" and self.oniguruma:
            self.at += 1
            last = Sequence((Repeat(Chars(_NEWLINE), 0, 1, ""), Anchor("end")))
            return Look(last, ahead=True, negative=False)
        if char in ("b", "B") and not self.pattern.startswith("{", self.at + 1):
            self.at += 1
            return _word_boundary(self.word, negative=char == "B")
        return Chars(self.cased(self.class_escape(start)))

    def class_escape(self, start: int) -> CodePoints:
        """What stands after a backslash, where it means a set of code points."""
        found = self.take_match(_PROPERTY)
        if found:
            return self.property(found, start)
        found = self.take_match(_HEX)
        if found:
            hidden = found[0][0] == "U" or found[0][:2] == "u{" or (found[1] or "0") > "7f"
            if self.oniguruma and hidden:
                self.fail(f"the escape \\{found[0]} is not supported", start)
            code_point = int(found[1] or found[2] or found[3] or found[4], 16)
            if code_point > 0x10FFFF or 0xD800 <= code_point <= 0xDFFF:
                self.fail(f"\\{found[0]} is no character", start)
            return CodePoints.of(chr(code_point))
        char = self.next_char("an escape")
        if char in "wW":
            return self.word if char == "w" else ~self.word
        if char.lower() in _CLASS_ESCAPES:
            points = _CLASS_ESCAPES[char.lower()]()
            return ~points if char.isupper() else points
        if char in _ESCAPES:
            return CodePoints.of(_ESCAPES[char])
        if char.isalnum() or char in "<>" or not char.isascii():
            self.fail(f"the escape \\{char} is not supported", start)
        return CodePoints.of(char)

    def property(self, found: re.Match[str], start: int) -> CodePoints:
        name = found[2] or found[3]
        try:
            if self.oniguruma and (found[3] or "=" in name or name.lower() in _POSIX_PROPERTIES):
                raise KeyError(name)
            # Case first, negation second, as Rust's regex has it.
            points = self.cased(property_set(name))
        except KeyError:
            self.fail(f"the property \\{found[0]} is not supported", start)
        return ~points if (found[0][0] == "P") != bool(found[1]) else points

    def bracket(self, start: int) -> CodePoints:
        """A class after its ``[``; operators bind from the left, looser than a union."""
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            self.fail(f"classes are nested more than {_MAX_DEPTH} deep", start)
        negative = self.take("^")
        first = self.at
        left, operator = NONE, CodePoints.__or__
        union: list[CodePoints] = []
        while True:
            at = self.at
            sign = self.pattern[at : at + 2]
            if sign in _SET_OPERATORS:
                if self.oniguruma and sign != "&&":
                    self.fail(f"{sign} in a class is not supported")
                self.at += 2
                left = operator(left, self.cased(CodePoints.union(*union)))
                operator, union = _SET_OPERATORS[sign], []
            elif at > first and self.take("]"):
                break
            else:
                union.append(self.bracket_item(start))
        points = operator(left, self.cased(CodePoints.union(*union)))
        self.depth -= 1
        return ~points if negative else points

    def bracket_item(self, start: int) -> CodePoints:
        at = self.at
        found = self.take_match(_POSIX_CLASS)
        if found:
            if found[2] not in _POSIX or self.oniguruma:
                self.fail(f"the class {found[0]} is not known", at)
            points = self.cased(CodePoints.of(*_POSIX[found[2]]))
            return ~points if found[1] else points
        if self.take("["):
            return self.bracket(at)
        low = self.bracket_char(start)
        # A hyphen is a range unless it stands last, or an operator begins with it.
        if not self.looking_at("-") or self.pattern[self.at + 1 : self.at + 2] in ("]", "-"):
            return low
        self.at += 1
        high = self.bracket_char(start)
        first, last = _lone(low), _lone(high)
        if first is None or last is None or last < first:
            self.fail(f"{self.pattern[at : self.at]!r} is no range", at)
        return CodePoints.from_ranges([(first, last)])

    def bracket_char(self, start: int) -> CodePoints:
        at = self.at
        if at >= len(self.pattern):
            self.fail("'[' is not closed", start)
        char = self.next_char("a class")
        # As it stands: a range needs its ends so, and the whole class is widened for case.
        if char != "\\":
            return CodePoints.of(char)
        return self.class_escape(at)


def _same(node: Node) -> Node:
    return node


def _lone(points: CodePoints) -> int | None:
    """The member of a set that has just one."""
    first = next(iter(points.bounds), None)
    return first if first is not None and points == points.clip(first, first + 1) else None


def _look(*, ahead: bool, negative: bool) -> Callable[[Node], Node]:
    return lambda node: Look(node, ahead, negative)


def _word_boundary(points: CodePoints, negative: bool) -> Node:
    """One side is of a word and the other is not; or, ``negative``, both are or neither."""
    letter = Chars(points)
    behind = Look(letter, False, False), Look(letter, False, True)
    ahead = Look(letter, True, False), Look(letter, True, True)
    if negative:
        ahead = ahead[::-1]
    return Alternatives((Sequence((behind[0], ahead[1])), Sequence((behind[1], ahead[0]))))
