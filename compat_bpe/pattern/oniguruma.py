r"""The patterns of a ``tokenizer.json``, which are written for Oniguruma, in Ruby's syntax.

The syntax is that of ``parser.py``, with these differences:

- ``^`` and ``$`` are the edges of a line;
- ``(?m)`` makes the dot match newlines;
- ``{1,3}+`` is a repeat of a repeat, not a possessive one;
- ``a(?i)b|c`` is ``a(?i:b|c)``;
- ``\Z`` is also before a newline at the end;
- ``\w`` is another class, and within brackets it is a third one;
- names are Oniguruma's (``unicode.oniguruma``), and so is what ignores case (``folding``);
- ``\R`` is any end of a line, and ``\X`` what readers take for one character (``text_segment``).

A construct is refused if it might mean something else here:

- ``--`` and ``~~`` in classes, and some escapes;
- ``\X`` where it might begin within a character;
- letters whose case is ignored, and which only a group brings together;
- classes whose case is ignored, with characters that fold to more than one string.

(The syntax is that of the ``doc/RE`` of Oniguruma 6.9.)
"""

from __future__ import annotations

import re
from typing import Callable

from ..unicode.code_points import ALL, CodePoints
from ..unicode.oniguruma import inner_word, named, outer_word, posix
from ..unicode.properties import ignore_case
from .ast import Alternatives, Anchor, Atomic, Chars, Look, Node, Repeat, Sequence
from .folding import ClosedLetter, Letter, in_class, is_unclear, joined, letter
from .parser import HEX, NEWLINE, POSIX_CLASS, Parser, lone
from .text_segment import is_exact, text_segment

_WORD_IN_CLASS = re.compile(
    r"\\(?:[wW]|[pP]\{(\^?)[ _-]*w[ _-]*o[ _-]*r[ _-]*d[ _-]*\})", re.ASCII | re.IGNORECASE
)
#: Escapes that mean a class, in which case makes no difference.
_WITHOUT_CASE = tuple("dDhHsSwW")
_CASE = "case is ignored where letters may be one character, in a way that is not supported"


def parse_oniguruma(pattern: str) -> Node:
    r"""Return the tree of a pattern in the syntax of Oniguruma.

    Raises:
        PatternError: as for ``parse``.

    >>> parse_oniguruma("a{2}+") == Repeat(parse_oniguruma("a{2}"), 1, None, "")
    True
    >>> parse_oniguruma("(?i:s(s))")
    Traceback (most recent call last):
    compat_bpe.pattern.ast.PatternError: ... case is ignored where letters may be one character, ...
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
        # Only in a plain group is a letter surely as without it.
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
        node = in_class(points, self.behind > 0)
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

    def meant(self, letters: str) -> frozenset[str]:
        return frozenset(letters.replace("m", "s"))

    def after_flags(self, before: frozenset[str]) -> Node:
        # The flags hold for all that follows in the group around them, bars included.
        node = self.alternatives()
        self.flags = before
        return node

    def escape(self, start: int) -> Node:
        if self.take("R"):
            # Once `\r\n` has matched, it is not taken apart.
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

    def bracket_item(self, start: int) -> CodePoints:
        at = self.at
        match = self.take_match(POSIX_CLASS)
        if match is None:
            return super().bracket_item(start)
        try:
            points = posix(match[2])
        except KeyError:
            self.fail(f"the class {match[0]} is not known", at)
        return ~points if match[1] else points
