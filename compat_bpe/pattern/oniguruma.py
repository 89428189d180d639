r"""The patterns of a ``tokenizer.json``, which are written for Oniguruma, in Ruby's syntax.

The syntax is that of ``parser.py``, with these differences:

- ``^`` and ``$`` are the edges of a line;
- ``(?m)`` makes the dot match newlines;
- ``{1,3}+`` is a repeat of a repeat, not a possessive one;
- ``a(?i)b|c`` is ``a(?i:b|c)``;
- ``\Z`` is also before a newline at the end;
- ``\w`` is another class, and within brackets it is a third one.

A construct is refused if the two syntaxes might give it different meanings: POSIX classes, ``--``
and ``~~`` in classes, some escapes, and case-insensitive text that is not ASCII or that a single
character folds to.  For example, ``ss`` may match U+00DF where case is ignored.  So may ``s\x73``
and ``s(?:s)``, but not two letters that only a bar or a repeat brings together.  (The syntax is
that of the ``doc/RE`` of Oniguruma 6.9.  The folding was observed in tokenizers 0.23.3.)
"""

from __future__ import annotations

import re
from typing import Callable

from ..unicode.code_points import ALL, END, CodePoints
from ..unicode.oniguruma import inner_word, named, outer_word, posix
from .ast import Alternatives, Anchor, Atomic, Chars, Look, Node, Repeat, Sequence
from .parser import HEX, NEWLINE, POSIX_CLASS, Parser, lone
from .text_segment import is_exact, text_segment

#: The foldings of U+00DF, U+1E9E and U+FB00 to U+FB06, or their first two letters.  Every other
#: folding is one letter, or has a character that is not ASCII among its first two.
_FOLDED_TO_TWO = {"ff", "fi", "fl", "ss", "st"}
_WORD_IN_CLASS = re.compile(
    r"\\(?:[wW]|[pP]\{(\^?)[ _-]*w[ _-]*o[ _-]*r[ _-]*d[ _-]*\})", re.ASCII | re.IGNORECASE
)
_CASE = "case is ignored in what is not ASCII, or in ff, fi, fl, ss or st"


def parse_oniguruma(pattern: str) -> Node:
    r"""Return the tree of a pattern in the syntax of Oniguruma.

    Raises:
        PatternError: as for ``parse``.

    >>> parse_oniguruma("a{2}+") == Repeat(parse_oniguruma("a{2}"), 1, None, "")
    True
    >>> parse_oniguruma(r"(?i:s\x73)")
    Traceback (most recent call last):
    compat_bpe.pattern.ast.PatternError: pattern ... case is ignored in what is not ASCII, or in ...
    """
    return _Parser(pattern).whole()


class _Letter(Chars):
    """A character outside a class whose case is ignored."""


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

    def whole(self) -> Node:
        tree = super().whole()
        if self.has_segments and not is_exact(tree):
            self.fail(r"\X is supported only beside branches without emoji", 0)
        return tree

    def check_next(self, items: list[Node], item: Node) -> None:
        if items:
            letters = _edge(items[-1], -1), _edge(item, 0)
            # The first character of such a set is the letter's capital.
            text = "".join(chr(x.points.bounds[0]) for x in letters if isinstance(x, _Letter))
            if text.lower() in _FOLDED_TO_TWO:
                self.fail(_CASE)

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

    def literal(self, points: CodePoints) -> Chars:
        found = super().literal(points)
        is_letter = "i" in self.flags and lone(points) is not None
        return _Letter(found.points) if is_letter else found

    def cased(self, points: CodePoints) -> CodePoints:
        if "i" in self.flags and points.clip(0x80, END):
            self.fail(_CASE)
        return super().cased(points)

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
        if self.take("X"):
            self.has_segments = True
            return text_segment()
        if not self.take("Z"):
            return super().escape(start)
        last = Sequence((Repeat(Chars(NEWLINE), 0, 1, ""), Anchor("end")))
        return Look(last, ahead=True, negative=False)

    def class_escape(self, start: int) -> CodePoints:
        found = HEX.match(self.pattern, self.at)
        if found and (found[0][0] == "U" or found[0][:2] == "u{" or (found[1] or "0") > "7f"):
            self.fail(f"the escape \\{found[0]} is not supported", start)
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
        found = self.take_match(_WORD_IN_CLASS)
        if found is None:
            return super().bracket_char(start)
        is_negative = found[0][1] in "WP"
        return ~inner_word() if is_negative != bool(found[1]) else inner_word()

    def set_operator(self, sign: str) -> Callable[[CodePoints, CodePoints], CodePoints]:
        if sign != "&&":
            self.fail(f"{sign} in a class is not supported")
        return super().set_operator(sign)

    def bracket_item(self, start: int) -> CodePoints:
        at = self.at
        found = self.take_match(POSIX_CLASS)
        if found is None:
            return super().bracket_item(start)
        try:
            points = posix(found[2])
        except KeyError:
            self.fail(f"the class {found[0]} is not known", at)
        return ~points if found[1] else points


def _edge(node: Node, place: int) -> Node:
    """Return the first item (0) of a node or the last (-1), looking into nested groups."""
    while True:
        if isinstance(node, Sequence) and node.items:
            node = node.items[place]
        elif isinstance(node, Repeat) and node.low == node.high == 1:
            node = node.item
        else:
            return node
