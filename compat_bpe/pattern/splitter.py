r"""A text cut into chunks (pre-tokens): what the published pattern matches.

The pattern is compiled twice, and each time only when a text needs it:

- for **ASCII** text, with classes of ASCII characters alone, which ``re`` tests with one small
  bitmap;
- for **other** text, with classes of the Basic Multilingual Plane, which ``re`` tests with one
  large bitmap.  Characters above U+FFFF would have to be added to such a class as ranges,
  which ``re`` walks one by one, several times slower for *all* text.  So they are replaced,
  before matching, by surrogates: two characters that lie in the same classes of the pattern
  get the same surrogate, and that surrogate is put into just those classes.  No text has
  surrogates of its own (``repair`` sees to that), so the matches fall at the same places.
"""

from __future__ import annotations

import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from operator import xor
from typing import Any, Callable, NamedTuple

from ..unicode.code_points import ALL, CodePoints
from .ast import Chars, Node, PatternError, Repeat
from .cuts import safe_breaks
from .parser import parse
from .reach import Reach
from .writer import (
    can_be_empty,
    has_atomic,
    join_runs,
    looks_back,
    project,
    relax,
    surely_begins,
    to_re,
    walk,
)

#: Passages are at least, and in most texts at most, about as long as this (in characters).
SHORTEST_PASSAGE = 512
LONGEST_PASSAGE = 2048

_LONE = re.compile("[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]")
_ABOVE = re.compile("[\U00010000-\U0010ffff]+")
#: Characters above U+FFFF whose surrogate is remembered; text rarely has a hundred.
_REMEMBERED = 1 << 14


def repair(text: str) -> str:
    r"""The text with surrogate pairs joined and lone surrogates replaced by U+FFFD.

    This is what tiktoken does to text that cannot be UTF-8, by way of UTF-16.

    >>> repair("\ud83d\ude00 \ud83d") == "\U0001f600 \ufffd"
    True
    """
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        # Not left to "replace", which takes a microsecond for each.
        text = _LONE.sub("\ufffd", text)
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    return text


class Splitter:
    r"""A published pattern, ready to split texts.

    Args:
        pattern: in the syntax of Rust's ``fancy-regex``, as tiktoken takes it.  What this
            package cannot translate is given to the ``regex`` package, if that is installed.

    Raises:
        PatternError: the pattern is wrong, or needs ``regex`` and that is not installed.

    >>> Splitter(r"\p{L}+|\s+(?!\S)|\s").chunks("dog  gone")
    ['dog', ' ', ' ', 'gone']
    """

    def __init__(self, pattern: str) -> None:
        try:
            tree = parse(pattern)
        except PatternError as error:
            # By the rules and the Unicode version of that package: the best there is then.
            self._foreign = _Matcher(_compile_regex(pattern, error), True, True)
            self._set_tree(None, pattern)
        else:
            self._set_tree(tree, pattern)

    @classmethod
    def of_tree(cls, tree: Node, pattern: str) -> Splitter:
        """A splitter by a parsed pattern; ``pattern`` is what messages call it."""
        splitter = cls.__new__(cls)
        splitter._set_tree(tree, pattern)
        return splitter

    def _set_tree(self, tree: Node | None, pattern: str) -> None:
        self.pattern = pattern
        self._other: tuple[_Above, _Matcher] | None = None
        self._tree = tree
        if tree is not None:
            _refuse_empty_repeats(tree, pattern)
            self._tree = relax(tree)
            # Now, so that a pattern `re` refuses is refused here and not at the first text.
            self._ascii = _Matcher.of(project(self._tree, _ascii_share), pattern)

    def chunks(self, text: str) -> list[str]:
        """All chunks of a text, in order.

        Text between them that no alternative of the pattern matches is left out, and so are
        empty matches, as in tiktoken.

        Args:
            text: without surrogates; see ``repair``.
        """
        matcher, replaced = self._matcher_for(text)
        chunks = matcher.find_all(replaced)
        if replaced is text:
            return chunks
        ends = list(accumulate(map(len, chunks)))
        if not ends or ends[-1] != len(text):
            # Something was left out: lengths do not tell where the chunks are.
            return [text[start:end] for start, end in matcher.find_spans(replaced) if start < end]
        return list(map(text.__getitem__, map(slice, [0, *ends], ends)))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where all matches in a text are, also the empty ones, but for those right after another.

        So Rust and Oniguruma find them.  After an empty match the search goes on one character
        further; ``re`` would look for a longer match at the same place.

        Args:
            text: without surrogates; see ``repair``.
        """
        matcher, replaced = self._matcher_for(text)
        return matcher.find_spans(replaced)

    def _matcher_for(self, text: str) -> tuple[_Matcher, str]:
        """What matches a text, and the text as it is matched, of the same length."""
        if self._tree is None:
            return self._foreign, text
        if text.isascii():
            return self._ascii, text
        if self._other is None:
            made = _Above(self._tree)
            self._other = made, _Matcher.of(project(self._tree, made.share), self.pattern)
        above, matcher = self._other
        if len(text.encode("utf-16-le")) == 2 * len(text):
            return matcher, text
        return matcher, above.replace(text)

    def chunk_end(self, text: str) -> Callable[[int], int]:
        """What gives the end of the chunk that begins at a place; the pattern matches there.

        Args:
            text: without surrogates; see ``repair``.
        """
        matcher, replaced = self._matcher_for(text)
        match = matcher.compiled.match
        return lambda start: int(match(replaced, start).end())

    @property
    def tree(self) -> Node | None:
        """The pattern, if it could be translated."""
        return self._tree

    @cached_property
    def is_plain(self) -> bool:
        """Whether chunks follow each other without a gap, none is empty, and none looks back."""
        return (
            self.leaves_nothing_out
            and self._tree is not None
            and not can_be_empty(self._tree)
            and not looks_back(self._tree)
        )

    @cached_property
    def reach(self) -> Reach:
        """How far the pattern looks; there is a tree."""
        assert self._tree is not None
        return Reach(self._tree)

    @cached_property
    def breaks(self) -> re.Pattern[str] | None:
        """Matches one character after which a text may be cut (see ``breaks``), if there is any."""
        return None if self._tree is None else _break_pattern(self._tree)

    @cached_property
    def fine_breaks(self) -> re.Pattern[str] | None:
        """The same with more such characters; it takes several times as long to search by it."""
        return None if self._tree is None else _break_pattern(self._tree, fine=True)

    @cached_property
    def leaves_nothing_out(self) -> bool:
        """Whether every character of a text is certainly in a chunk."""
        return self._tree is not None and surely_begins(self._tree) == ALL

    def passages(
        self, text: str, shortest: int = SHORTEST_PASSAGE, longest: int = LONGEST_PASSAGE
    ) -> Iterator[str]:
        """The text in parts of some hundred characters that split as the whole does.

        A part ends soon after an empty line, else soon after the end of a line, so that where
        texts are equal their parts mostly are.  It is longer where no safe place to cut is found
        (see ``breaks``), and the last one may be shorter.
        """
        start = 0
        if self.breaks is not None:
            search, find = self.breaks.search, text.find
            while start + longest < len(text):
                first, last = start + shortest, start + longest
                at = find("\n\n", first, last)
                if at < 0:
                    at = find("\n", first, last)
                found = search(text, first if at < 0 else at)
                if found is None:
                    break
                yield text[start : found.end()]
                start = found.end()
        yield text[start:] if start else text


def _refuse_empty_repeats(tree: Node, pattern: str) -> None:
    """Refuse ``(a*)*`` and its like, which no two engines match alike.

    They differ in what follows when one round of the repeat takes no character.
    """
    for node in walk(tree):
        if isinstance(node, Repeat) and node.high != 1 and can_be_empty(node.item):
            raise PatternError(pattern, 0, "it repeats something that may be empty")


def _ascii_share(points: CodePoints) -> CodePoints:
    return points.clip(0, 0x80)


class _Matcher(NamedTuple):
    """A compiled pattern and the way to find all its matches."""

    #: Of ``re`` or of ``regex``, whose patterns have no common type.
    compiled: Any
    can_be_empty: bool
    has_groups: bool

    @classmethod
    def of(cls, tree: Node, pattern: str) -> _Matcher:
        """The matcher of a tree; ``pattern`` is what it was parsed from, for messages."""
        text = to_re(join_runs(tree))
        try:
            compiled = re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            # Lookbehind of no fixed width, for instance, which `regex` knows.
            compiled = _compile_regex(text, PatternError(pattern, 0, str(error)))
        return cls(compiled, can_be_empty(tree), has_atomic(tree))

    def find_all(self, text: str) -> list[str]:
        if self.can_be_empty:
            return [text[start:end] for start, end in self.find_spans(text) if start < end]
        if self.has_groups:
            return [match.group() for match in self.compiled.finditer(text)]
        found: list[str] = self.compiled.findall(text)
        return found

    def find_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the matches are, as ``Splitter.spans`` says."""
        if not self.can_be_empty:
            yield from (match.span() for match in self.compiled.finditer(text))
            return
        at, last = 0, -1
        search = self.compiled.search
        while at <= len(text):
            match = search(text, at)
            if match is None:
                return
            start, end = match.span()
            if start < end:
                yield start, end
                at = last = end
            else:
                if end != last:
                    yield start, end
                at = end + 1


def _compile_regex(text: str, error: PatternError) -> Any:
    """A pattern compiled by the ``regex`` package, if it is there; else ``error`` with a hint."""
    try:
        import regex
    except ImportError:
        hint = "; the regex package may understand it: pip install 'compat-bpe[regex]'"
        raise PatternError(error.pattern, error.position, error.reason, hint) from None
    try:
        with warnings.catch_warnings():
            # It warns of set operators, which it would then take for plain characters.
            warnings.simplefilter("error")
            return regex.compile(text)
    except (regex.error, FutureWarning, OverflowError, RecursionError):
        raise error from None


class _Above:
    """The characters above U+FFFF, by the classes of a pattern in which they lie."""

    def __init__(self, tree: Node) -> None:
        sets = {node.points for node in walk(tree) if isinstance(node, Chars)}
        #: A class's bit in a kind, which has the bits of all classes that a character lies in.
        self.bits = {points: 1 << number for number, points in enumerate(sets)}
        changes: dict[int, int] = {}
        for points, bit in self.bits.items():
            for bound in points.bounds:
                if bound > 0x10000:
                    changes[bound] = changes.get(bound, 0) ^ bit
        kind = sum(bit for points, bit in self.bits.items() if 0x10000 in points)
        #: First code points of stretches of one kind.
        self.starts = [0x10000, *sorted(changes)]
        kinds = list(accumulate((changes[start] for start in self.starts[1:]), xor, initial=kind))
        self.surrogates = {kind: 0xD800 + i for i, kind in enumerate(dict.fromkeys(kinds))}
        if len(self.surrogates) > 0x800:
            raise ValueError("a pattern with more than 2,048 kinds of characters above U+FFFF")
        self.by_start = [self.surrogates[kind] for kind in kinds]
        self.known: dict[int, int] = {}

    def share(self, points: CodePoints) -> CodePoints:
        """The class over the Basic Multilingual Plane and the surrogates of this pattern."""
        bit = self.bits[points]
        inside = [surrogate for kind, surrogate in self.surrogates.items() if kind & bit]
        return CodePoints.union(
            points.clip(0, 0xD800),
            CodePoints.from_ranges(zip(inside, inside)),
            points.clip(0xE000, 0x10000),
        )

    def replace(self, text: str) -> str:
        """The text with each character above U+FFFF replaced by the surrogate of its kind."""
        return _ABOVE.sub(lambda match: match.group().translate(self), text)

    def __getitem__(self, code_point: int) -> int:
        found = self.known.get(code_point)
        if found is None:
            if len(self.known) >= _REMEMBERED:
                self.known.clear()
            found = self.by_start[bisect_right(self.starts, code_point) - 1]
            self.known[code_point] = found
        return found


def _break_pattern(tree: Node, fine: bool = False) -> re.Pattern[str] | None:
    """Matches one character after which a text may be cut; None if there is none.

    That character is no surrogate, and neither is the next: so a text can be cut before it is
    repaired as well.
    """
    pairs = []
    for left, right in safe_breaks(tree, fine):
        inside = left.clip(0, 0xD800) | left.clip(0xE000, 0x10000)
        if inside:
            pairs.append(f"{inside.to_re()}(?={right.to_re()})")
    return re.compile("|".join(pairs)) if pairs else None
