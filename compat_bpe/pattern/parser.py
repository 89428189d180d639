r"""A parser for the syntax of published patterns, within limits.

tiktoken's patterns are written for Rust's ``fancy-regex``. ``parse`` reads that syntax into a
small tree (its nodes are in ``tree``). Every class in the tree is an explicit set of Unicode
16.0 code points, and case is already taken into account. So nothing depends on another engine's
definition of ``\s``. The parser reads:

- classes: ``\p{L}``, ``\pL``, ``\P{Lu}``, ``\p{Han}``, ``\s \S \d \D \w \W``, ``.``, brackets
  with ranges, negation, nesting and the set operators ``&& -- ~~``, ``[:alpha:]``;
- escapes: ``\r \n \t \f \v \a \e``, ``\x41``, ``\x{41}``, ``\u0041``, ``\U00000041``;
- groups: ``(…)``, ``(?:…)``, ``(?P<name>…)``, ``(?i:…)``, ``(?i)`` (also ``m``, ``s`` and ``u``),
  atomic ``(?>…)``, lookahead and lookbehind;
- repeats ``* + ? {n} {n,} {,m} {n,m}``, greedy, lazy (``?``) and possessive (``+``);
- anchors ``^ $ \A \z \b \B``.

``oniguruma.py`` reads the dialect of a ``tokenizer.json``.

A hostile pattern is refused before it takes much memory (``check_limits``). The largest published
patterns have some 2,000 characters, 15,000 ranges in their classes and groups four deep.
"""

from __future__ import annotations

import re
from typing import Callable, NoReturn

from ..unicode.properties import (
    ALL,
    NONE,
    CodePoints,
    category,
    ignore_case,
    property_set,
    white_space,
    word,
)
from .tree import (
    EMPTY,
    Alternatives,
    Anchor,
    Atomic,
    Chars,
    Look,
    Node,
    PatternError,
    PatternTooLarge,
    Repeat,
    Sequence,
    children,
)

#: The most characters of a pattern.
_LONGEST = 100_000
#: The deepest nesting of groups or of classes, and of any nodes, since stdlib ``re`` recurses.
DEEPEST = 100
_DEEPEST_NODES = 4 * DEEPEST
#: The highest count of a repeat.
HIGHEST_COUNT = 100_000
#: The most classes if all repeats are written out, the most different classes, and the most ranges
#: of all classes.
_MOST_WRITTEN_OUT = 1_000_000
_MOST_DIFFERENT = 5_000
_MOST_RANGES = 200_000
#: The most ranges of the sets that brackets join.
_MOST_JOINED = 1_000_000


def check_length(pattern: str) -> None:
    """Raise ``PatternTooLarge`` if a pattern is too long."""
    if len(pattern) > _LONGEST:
        raise PatternTooLarge(pattern, 0, f"it has more than {_LONGEST:,} characters")


def check_limits(tree: Node, pattern: str) -> None:
    """Raise ``PatternTooLarge`` if a parsed pattern exceeds a limit; the message names it."""
    written_out = ranges = 0
    different = set()
    waiting = [(tree, 1, 1)]
    while waiting:
        node, depth, rounds = waiting.pop()
        if depth > _DEEPEST_NODES:
            raise PatternTooLarge(pattern, 0, f"groups are nested more than {DEEPEST} deep")
        if isinstance(node, Chars):
            written_out += rounds
            ranges += 1 + len(node.points.bounds) // 2
            different.add(node.points)
        elif isinstance(node, Repeat):
            rounds *= max(node.low, node.high or 1)
        waiting += [(child, depth + 1, rounds) for child in children(node)]
        for amount, most, what in (
            (written_out, _MOST_WRITTEN_OUT, "characters if its repeats are written out"),
            (ranges, _MOST_RANGES, "ranges in its classes"),
            (len(different), _MOST_DIFFERENT, "different classes"),
        ):
            if amount > most:
                raise PatternTooLarge(pattern, 0, f"it has more than {most:,} {what}")


NEWLINE = CodePoints.of("\n")
_ESCAPES = dict(zip("aefnrtv", "\a\x1b\f\n\r\t\v"))
_CLASS_ESCAPES: dict[str, Callable[[], CodePoints]] = {
    "d": lambda: category("Nd"),
    "s": white_space,
    # In fancy-regex, a hexadecimal digit.
    "h": lambda: CodePoints.of("09", "AF", "af"),
}
#: POSIX classes, which are ASCII only.
POSIX = {
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
_REPEAT = re.compile(r"([*+?]|\{(?:([0-9]+)(,([0-9]*))?|,([0-9]+))\})([?+]?)")
HEX = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|[xuU]\{([0-9A-Fa-f]+)\}")
_PROPERTY = re.compile(r"[pP](?:\{(\^?)([^}]*)\}|([A-Za-z]))")
POSIX_CLASS = re.compile(r"\[:(\^?)([a-z]+):\]")
#: The beginnings of lookaround: True if it looks ahead, and True if it is negative.
_LOOKS = {"?=": (True, False), "?!": (True, True), "?<=": (False, False), "?<!": (False, True)}
_FLAGS = re.compile(r"\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")


def parse(pattern: str) -> Node:
    """Return the tree of a pattern in the syntax of ``fancy-regex``.

    Raises:
        PatternError: the pattern is wrong or not supported; the message names the construct
            and its position.

    >>> parse("a+")
    Repeat(item=Chars(points=CodePoints(a)), low=1, high=None, mode='')
    """
    return Parser(pattern).whole()


class Parser:
    """A recursive-descent parser; ``at`` is the position of the next character.

    Raises:
        PatternTooLarge: the pattern is too long.
    """

    #: Dialects override these attributes, and some methods.
    group_name = re.compile(r"\?P?<[A-Za-z_][A-Za-z0-9_.\[\]]*>")
    group_flags = "imsu"
    #: Characters at the start of a class that stand for themselves.
    class_start = re.compile(r"-+|\]")
    #: True if a repeat may be repeated; otherwise a brace after it is a character.
    repeats_repeats = False

    def __init__(self, pattern: str) -> None:
        check_length(pattern)
        self.pattern = pattern
        self.at = 0
        self.depth = 0
        self._ranges_left = _MOST_JOINED
        #: Flags by fancy-regex's letters: "m" anchors at lines, "s" lets the dot match newlines.
        self.flags: frozenset[str] = frozenset()
        self.word = word()

    def whole(self) -> Node:
        node = self.alternatives()
        if self.at < len(self.pattern):
            self.fail("unmatched ')'")
        check_limits(node, self.pattern)
        return node

    # Characters

    def refuse(self, reason: str, at: int | None = None) -> NoReturn:
        raise PatternTooLarge(self.pattern, self.at if at is None else at, reason)

    def fail(self, reason: str, at: int | None = None) -> NoReturn:
        raise PatternError(self.pattern, self.at if at is None else at, reason)

    def looking_at(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def take(self, text: str) -> bool:
        """Step over ``text`` if it comes next; return True if it does."""
        is_next = self.looking_at(text)
        self.at += len(text) * is_next
        return is_next

    def take_match(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        match = expression.match(self.pattern, self.at)
        if match:
            self.at = match.end()
        return match

    def next_char(self, inside: str) -> str:
        if self.at >= len(self.pattern):
            self.fail(f"{inside} is not closed")
        self.at += 1
        return self.pattern[self.at - 1]

    def spend(self, *sets: CodePoints) -> None:
        """Count the ranges of sets that are joined; refuse a pattern that joins too many."""
        self._ranges_left -= sum(1 + len(points.bounds) // 2 for points in sets)
        if self._ranges_left < 0:
            self.refuse(f"its classes join more than {_MOST_JOINED:,} ranges")

    # Groups and repeats

    def alternatives(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            self.refuse(f"groups are nested more than {DEEPEST} deep")
        branches = [self.sequence()]
        while self.take("|"):
            branches.append(self.sequence())
        self.depth -= 1
        return branches[0] if len(branches) == 1 else Alternatives(tuple(branches))

    def sequence(self) -> Node:
        items: list[Node] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            item = self.atom()
            repeat = self.take_match(_REPEAT)
            while repeat:
                item = self.repeat(item, repeat)
                repeat = self.take_match(_REPEAT) if self.repeats_repeats else None
            if item != EMPTY:
                self.check_next(items, item)
                items.append(item)
        items = self.ended(items)
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def check_next(self, items: list[Node], item: Node) -> None:
        """Refuse an item that must not follow those before it."""

    def ended(self, items: list[Node]) -> list[Node]:
        """Return the items of a sequence that has been read."""
        return items

    def repeat(self, item: Node, found: re.Match[str]) -> Node:
        sign, low, comma, high, high_alone, mode = found.groups()
        counts = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(sign)
        if counts is None:
            first = self.count(low or "0", found.start())
            last = self.count(high or high_alone, found.start()) if high or high_alone else None
            counts = first, first if low and not comma else last
        if counts[1] is not None and counts[1] < counts[0]:
            self.fail(f"the repeat {sign} ends below its start", found.start())
        if item == EMPTY:
            return EMPTY
        return self.with_mode(Repeat(item, counts[0], counts[1], ""), sign, mode)

    def count(self, digits: str, at: int) -> int:
        """Return the count of a repeat at a position; refuse a count that is too high."""
        # Python reads only some thousand digits.
        count = int(digits) if len(digits) <= len(str(HIGHEST_COUNT)) else HIGHEST_COUNT + 1
        if count > HIGHEST_COUNT:
            self.refuse(f"a repeat count above {HIGHEST_COUNT:,}", at)
        return count

    def with_mode(self, repeat: Repeat, sign: str, mode: str) -> Node:
        """Return a repeat with the mode that was read after its sign."""
        with_mode = repeat._replace(mode=mode)
        is_atomic = mode == "?" and not self.repeats_repeats and self.take("+")
        return Atomic(with_mode) if is_atomic else with_mode

    def atom(self) -> Node:
        start = self.at
        char = self.next_char("pattern")
        if char == "(":
            return self.group(start)
        if char == "[":
            return self.bracket_node(start)
        if char == "\\":
            return self.escape(start)
        if char == ".":
            return Chars(ALL if "s" in self.flags else ~NEWLINE)
        if char in "^$":
            return self.edge(char)
        if char in "*+?":
            self.fail("nothing to repeat", start)
        return self.literal(CodePoints.of(char))

    def edge(self, char: str) -> Node:
        if "m" in self.flags:
            # An edge of a line: the neighbouring character, if there is one, is a newline.
            return Look(Chars(~NEWLINE), ahead=char == "$", negative=True)
        return Anchor("start" if char == "^" else "end")

    def literal(self, points: CodePoints) -> Node:
        """Return the node for a character, or one of a set of characters, outside a class."""
        return Chars(self.cased(points))

    def cased(self, points: CodePoints) -> CodePoints:
        return ignore_case(points) if "i" in self.flags else points

    def group(self, start: int) -> Node:
        look = next((sign for sign in _LOOKS if self.take(sign)), None)
        is_atomic = look is None and self.take("?>")
        # In fancy-regex, unlike in Perl, `(?i)` holds beyond the end of its group, until a
        # `(?flags:…)` around it ends.
        flags = None
        is_plain = look is None and not is_atomic
        if is_plain and self.looking_at("?") and not self.take_match(self.group_name):
            match = self.take_match(_FLAGS)
            if not match or (not match[1] and match[3] == ")"):
                self.fail(f"the group ({self.pattern[self.at : self.at + 2]} is not supported")
            unknown = set(match[1] + (match[2] or "")) - set(self.group_flags)
            if unknown or "u" in (match[2] or ""):
                self.fail(f"the group ({match[0]} has flags that are not supported", start)
            flags = self.flags
            self.flags = (flags | self.flags_of(match[1])) - self.flags_of(match[2] or "")
            if match[3] == ")":
                return self.after_flags(flags)
        node = self.alternatives()
        if flags is not None:
            self.flags = flags
        if not self.take(")"):
            self.fail("'(' is not closed", start)
        if look is not None:
            return Look(node, *_LOOKS[look])
        return Atomic(node) if is_atomic else node

    def flags_of(self, letters: str) -> frozenset[str]:
        """Return the flags for the letters of the dialect."""
        return frozenset(letters)

    def after_flags(self, before: frozenset[str]) -> Node:
        """Return the node for ``(?i)``; ``before`` is the flags in force before it."""
        return EMPTY

    # Escapes and classes

    def escape(self, start: int) -> Node:
        char = self.pattern[self.at : self.at + 1]
        if char in ("A", "z"):
            self.at += 1
            return Anchor("start" if char == "A" else "end")
        if char in ("b", "B") and not self.pattern.startswith("{", self.at + 1):
            self.at += 1
            return _word_boundary(self.word, negative=char == "B")
        return self.literal(self.class_escape(start))

    def class_escape(self, start: int) -> CodePoints:
        """Read the rest of an escape that stands for a set of code points, and return the set."""
        match = self.take_match(_PROPERTY)
        if match:
            return self.property(match, start)
        match = self.take_match(HEX)
        if match:
            code_point = int(match[1] or match[2] or match[3] or match[4], 16)
            if code_point > 0x10FFFF or 0xD800 <= code_point <= 0xDFFF:
                self.fail(f"\\{match[0]} is not a character", start)
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
            # Case first, negation second, as in Rust's regex.
            points = self.cased(property_set(name))
        except KeyError:
            self.fail(f"the property \\{found[0]} is not supported", start)
        return ~points if (found[0][0] == "P") != bool(found[1]) else points

    def bracket_node(self, start: int) -> Node:
        """Return the node for a class after its ``[``."""
        return Chars(self.bracket(start))

    def bracket(self, start: int) -> CodePoints:
        """Read a class after its ``[``; operators bind from the left, looser than a union."""
        self.depth += 1
        if self.depth > DEEPEST:
            self.refuse(f"classes are nested more than {DEEPEST} deep", start)
        negative = self.take("^")
        first = self.at
        left, operator = NONE, CodePoints.__or__
        start_chars = self.take_match(self.class_start)
        union = [CodePoints.of(start_chars[0][0])] if start_chars else []
        while True:
            at = self.at
            sign = self.pattern[at : at + 2]
            if sign in _SET_OPERATORS:
                next_operator = self.set_operator(sign)
                self.at += 2
                left = operator(left, self.joined(union))
                self.spend(left)
                operator, union = next_operator, []
            elif at > first and self.take("]"):
                break
            else:
                union.append(self.bracket_item(start))
        points = operator(left, self.joined(union))
        self.spend(points)
        self.depth -= 1
        return ~points if negative else points

    def joined(self, union: list[CodePoints]) -> CodePoints:
        """Return the set of the items between two operators of a class."""
        self.spend(*union)
        return self.cased(CodePoints.union(*union))

    def set_operator(self, sign: str) -> Callable[[CodePoints, CodePoints], CodePoints]:
        return _SET_OPERATORS[sign]

    def bracket_item(self, start: int) -> CodePoints:
        at = self.at
        match = self.take_match(POSIX_CLASS)
        if match:
            try:
                points = self.posix(match[2])
            except KeyError:
                self.fail(f"the class {match[0]} is not known", at)
            return ~points if match[1] else points
        if self.take("["):
            return self.bracket(at)
        low = self.bracket_char(start)
        # A hyphen makes a range unless it is last or begins an operator.
        if not self.looking_at("-") or self.pattern[self.at + 1 : self.at + 2] in ("]", "-"):
            return low
        self.at += 1
        high = self.bracket_char(start)
        first, last = lone(low), lone(high)
        if first is None or last is None or last < first:
            self.fail(f"{self.pattern[at : self.at]!r} is not a range", at)
        return CodePoints.from_ranges([(first, last)])

    def posix(self, name: str) -> CodePoints:
        return self.cased(CodePoints.of(*POSIX[name]))

    def bracket_char(self, start: int) -> CodePoints:
        at = self.at
        if at >= len(self.pattern):
            self.fail("'[' is not closed", start)
        char = self.next_char("a class")
        # Case is ignored later, for the whole class, since a range needs its written ends.
        if char != "\\":
            return CodePoints.of(char)
        return self.class_escape(at)


def lone(points: CodePoints) -> int | None:
    """Return the only member of a set; None if it has several, or none."""
    first = next(iter(points.bounds), None)
    return first if first is not None and points == points.clip(first, first + 1) else None


def _word_boundary(points: CodePoints, negative: bool) -> Node:
    """Return the condition that one side is a word character and the other is not.

    Args:
        points: the word characters.
        negative: return the condition that both sides are word characters, or neither is.
    """
    letter = Chars(points)
    behind = Look(letter, False, False), Look(letter, False, True)
    ahead = Look(letter, True, False), Look(letter, True, True)
    if negative:
        ahead = ahead[::-1]
    return Alternatives((Sequence((behind[0], ahead[1])), Sequence((behind[1], ahead[0]))))
