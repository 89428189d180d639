"""Splitting a text into chunks (pre-tokens), the matches of a published pattern.

``translation`` writes the pattern for ``re``, ``Splitter`` compiles it and splits texts, and a
``Matcher`` searches for the matches.

``re`` tests a class of characters below U+0100 with one small bitmap. A class of the Basic
Multilingual Plane takes a large bitmap, and milliseconds to set up. Ranges above that plane are
tested one by one, which makes *all* text several times slower. So the pattern is written for three
alphabets, and compiled for each when a text first needs it:

- ``ascii``: classes of ASCII characters alone.
- ``few``: ASCII, and one *stand-in* below U+0100 for each kind of other characters. Characters are
  of one kind if they are in the same classes of the pattern. This alphabet is quickly set up, but
  replacing the characters of a text takes time. It serves the first ``_FEW`` characters of text
  that is not ASCII.
- ``most``: classes of the Basic Multilingual Plane, and stand-ins for the kinds of characters above
  it. These stand-ins are surrogates, which no text has (``repair`` replaces them).

A text of stand-ins has its matches at the same positions as the text itself, since each stand-in is
in the same classes as the character that it replaces.

For the patterns that ship, the parts of the translation that most texts need are in ``prepared``,
and those that long texts need, which are larger, in ``prepared_large``.
"""

from __future__ import annotations

import re
import time
from itertools import accumulate

from ..caches import Memo, cached_property
from .prepared import PREPARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from .cut_points import Reach
    from .states import States
    from .translation import Translation
    from .tree import Node, PatternError


#: The lengths of a segment in characters: the shortest and, in most texts, about the longest.
SHORTEST_SEGMENT = 512
LONGEST_SEGMENT = 2048

#: Replace this many characters of text that is not ASCII by stand-ins. That takes about as long as
#: compiling the patterns without stand-ins. Those of a long text are replaced twice: once to find
#: its cut points, and once for its chunks.
_FEW = 1 << 18

#: The parts of the translations that are in ``prepared_large``.
LARGE_PARTS = ("most", "cut_points")
#: The parts for a pattern that is not translated and not analysed.
_UNTRANSLATED: Mapping[str, Any] = {
    **dict.fromkeys(("few", "cut_points", "fine_cut_points", "ascii_cut_points")),
    "leaves_nothing_out": False,
}


class Splitter:
    r"""A published pattern, ready to split texts.

    Args:
        pattern: the pattern in the syntax of Rust's ``fancy-regex``, as in tiktoken. A pattern
            that this package cannot translate is given to the ``regex`` package, if installed.

    Raises:
        PatternError: the pattern is wrong, or needs ``regex`` and that is not installed.

    >>> Splitter(r"\p{L}+|\s+(?!\S)|\s").chunks("dog  gone")
    ['dog', ' ', ' ', 'gone']
    """

    #: There may be cut points.
    has_cuts = True

    def __init__(self, pattern: str) -> None:
        prepared = PREPARED.get(pattern)
        if prepared is not None:
            self._set_up(pattern, lambda: parse(pattern), prepared)
            return
        from .tree import PatternError, PatternTooLarge

        try:
            tree = parse(pattern)
        except PatternTooLarge:
            raise
        except PatternError as error:
            # This follows the rules and the Unicode version of `regex`; there is nothing better.
            foreign = ForeignMatcher(compile_regex(pattern, error), pattern)
            self._set_up(pattern, None, _UNTRANSLATED, foreign)
        else:
            self._set_up(pattern, lambda: tree, {})

    @classmethod
    def of_tree(
        cls, tree: Node | Callable[[], Node], pattern: str, parts: Mapping[str, Any] | None = None
    ) -> Splitter:
        """Return a splitter for a parsed pattern.

        Args:
            tree: the pattern, or a function that returns it, called when the tree is first needed.
            pattern: its name in messages.
            parts: the known parts of its ``Translation``, by their names. ``large`` is the place of
                further parts in ``prepared_large``. A pattern with ``ascii`` is fit for ``re``.
        """
        splitter = cls.__new__(cls)
        splitter._set_up(pattern, tree if callable(tree) else lambda: tree, parts or {})
        return splitter

    def _set_up(
        self,
        pattern: str,
        make_tree: Callable[[], Node] | None,
        parts: Mapping[str, Any],
        whole: Matcher | None = None,
    ) -> None:
        self.pattern = pattern
        self._make_tree = make_tree
        self._parts = parts
        self._few_left = _FEW
        if whole is None and "ascii" not in parts and self.translation.states is not None:
            whole = StateMatcher(self.translation.states)
        #: The matcher for all texts, if there is only one.
        self._whole = whole
        # Compiled now, so that a pattern that `re` refuses fails here, not at the first text.
        self._ascii = whole or self._matcher(self._part("ascii"))

    @cached_property
    def translation(self) -> Translation:
        """The translation of the pattern, which must have a tree."""
        from .translation import Translation  # most published patterns are prepared

        assert self._make_tree is not None
        return Translation(self._make_tree(), self.pattern, self._parts)

    def _part(self, name: str) -> Any:
        """Return a part of the translation by its name."""
        parts = self._parts
        if name in parts:
            return parts[name]
        if name in LARGE_PARTS and "large" in parts:
            from .prepared_large import LARGE

            return LARGE[parts["large"]][name]
        return getattr(self.translation, name)

    def chunks(self, text: str) -> list[str]:
        """Return all chunks of a text, in order.

        Text that no alternative of the pattern matches is left out, and so are empty matches, as
        in tiktoken.

        Args:
            text: without surrogates; see ``repair``.
        """
        if text.isascii():
            return self._ascii.find_all(text)
        matcher, replaced = self._matcher_for(text)
        chunks = matcher.find_all(replaced)
        if replaced is text:
            return chunks
        ends = list(accumulate(map(len, chunks)))
        if not ends or ends[-1] != len(text):
            # Some text was left out, so the lengths do not give the positions of the chunks.
            return [text[start:end] for start, end in matcher.find_spans(replaced) if start < end]
        return list(map(text.__getitem__, map(slice, [0, *ends], ends)))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Return the start and end of each match in a text, empty matches included.

        An empty match right after another match is left out. After an empty match the search
        continues one character further, as in Rust and Oniguruma; ``re`` would try a longer match
        at the same position.

        Args:
            text: without surrogates; see ``repair``.
        """
        matcher, replaced = self._matcher_for(text)
        return matcher.find_spans(replaced)

    def replace(self, text: str, new: str) -> str:
        """Return a text in which each match (see ``spans``) is replaced by ``new``.

        Args:
            text: without surrogates; see ``repair``.
            new: the replacement, taken literally.
        """
        matcher, replaced = self._matcher_for(text)
        if replaced is text:
            return matcher.replace(text, new)
        return with_spans_replaced(text, matcher.find_spans(replaced), new)

    def _matcher(self, text: str) -> Matcher:
        """Compile a pattern in the syntax of ``re``."""
        try:
            compiled = re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            # `regex` knows more: lookbehind of variable width, for instance.
            from .tree import PatternError

            compiled = compile_regex(text, PatternError(self.pattern, 0, str(error)))
        return Matcher(compiled, self._part("can_be_empty"))

    @cached_property
    def _few(self) -> tuple[Matcher, StandIns] | None:
        """The matcher and the stand-ins for the first texts that are not ASCII.

        None if there are too many kinds of characters.
        """
        few = self._part("few")
        return None if few is None else (self._matcher(few[0]), StandIns(*few[1:]))

    @cached_property
    def _most(self) -> tuple[Matcher, StandIns]:
        """The matcher and the stand-ins for any text."""
        pattern, *stand_ins = self._part("most")
        return self._matcher(pattern), StandIns(*stand_ins)

    def _few_for(self, text: str) -> tuple[Matcher, StandIns] | None:
        """Return ``_few`` for a text that is not ASCII; None once ``_most`` is faster."""
        self._few_left -= len(text)
        return self._few if self._few_left >= 0 else None

    def _matcher_for(self, text: str) -> tuple[Matcher, str]:
        """Return the matcher for a text, and the text to give it, of the same length."""
        if self._whole is not None:
            return self._whole, text
        if text.isascii():
            return self._ascii, text
        few = self._few_for(text)
        if few is not None:
            matcher, stand_ins = few
            return matcher, stand_ins.replace(text)
        matcher, stand_ins = self._most
        if len(text.encode("utf-16-le")) == 2 * len(text):
            return matcher, text
        return matcher, stand_ins.replace(text)

    def chunk_end(self, text: str) -> Callable[[int], int]:
        """Return a function from the start of a chunk to its end.

        The pattern must match at that start.

        Args:
            text: without surrogates; see ``repair``.
        """
        matcher, replaced = self._matcher_for(text)
        return lambda start: matcher.end(replaced, start)

    @property
    def tree(self) -> Node | None:
        """The parsed pattern; None if it could not be translated."""
        return None if self._make_tree is None else self.translation.tree

    @cached_property
    def is_plain(self) -> bool:
        """True if the chunks join to the text, none is empty, and none depends on text before it.

        False if the pattern could not be translated.
        """
        if not self.leaves_nothing_out:
            return False
        from .tree import looks_back

        return not self._part("can_be_empty") and not looks_back(self.translation.tree)

    @cached_property
    def reach(self) -> Reach:
        """The reach of the pattern, which must have a tree."""
        from .cut_points import Reach

        assert self.tree is not None
        return Reach(self.tree)

    @cached_property
    def cut_points(self) -> re.Pattern[str] | None:
        """The pattern ``Translation.cut_points``, compiled; None if there are no cut points."""
        return self._cut_point_pattern("cut_points")

    @cached_property
    def fine_cut_points(self) -> re.Pattern[str] | None:
        """A pattern that finds more cut points; searching with it takes several times as long."""
        return self._cut_point_pattern("fine_cut_points")

    @cached_property
    def ascii_cut_points(self) -> re.Pattern[str] | None:
        """The pattern ``cut_points`` for ASCII text."""
        return self._cut_point_pattern("ascii_cut_points")

    def is_cut(self, beside: str, fine: bool) -> bool:
        """Return True if there is a cut point between two characters of any text."""
        if fine:
            cut_points = self.fine_cut_points
        else:
            cut_points = self.ascii_cut_points if beside.isascii() else self.cut_points
        return cut_points is not None and cut_points.search(beside, 0, 2) is not None

    @cached_property
    def _few_cut_points(self) -> re.Pattern[str] | None:
        """The pattern ``cut_points`` for text with stand-ins."""
        return self._cut_point_pattern("few_cut_points")

    def _cut_point_pattern(self, name: str) -> re.Pattern[str] | None:
        text = self._part(name)
        return None if text is None else re.compile(text)

    def _cut_points_for(self, text: str) -> tuple[re.Pattern[str] | None, str]:
        """Return the pattern that finds the cut points of a text, and the text to search."""
        if text.isascii():
            return self.ascii_cut_points, text
        few = self._few_for(text)
        if few is not None:
            return self._few_cut_points, few[1].replace(text)
        return self.cut_points, text

    @cached_property
    def leaves_nothing_out(self) -> bool:
        """True if every character of a text is certainly in a chunk."""
        known: bool = self._part("leaves_nothing_out")
        return known

    def segments(
        self, text: str, shortest: int = SHORTEST_SEGMENT, longest: int = LONGEST_SEGMENT
    ) -> Iterator[str]:
        """Return the segments of a text, of some hundred characters each.

        A segment ends at a cut point, so the chunks of the segments are those of the text. It ends
        soon after an empty line, or else soon after the end of a line. So equal parts of two texts
        usually have equal segments. A segment is longer than ``longest`` if no cut point is found
        before, and the last segment may be shorter than ``shortest``.
        """
        cut_points, replaced = self._cut_points_for(text) if len(text) > longest else (None, text)
        return segments(text, cut_points, replaced, shortest, longest)


def segments(
    text: str,
    cut_points: re.Pattern[str] | None,
    replaced: str,
    shortest: int = SHORTEST_SEGMENT,
    longest: int = LONGEST_SEGMENT,
) -> Iterator[str]:
    """Yield the segments of a text; see ``Splitter.segments``.

    Args:
        text: the text.
        cut_points: a pattern for a character with a cut point after it; None if there is none.
        replaced: the text to search, of the same length.
        shortest, longest: bounds of the lengths of segments.
    """
    start = 0
    while cut_points is not None and start + longest < len(text):
        first, last = start + shortest, start + longest
        at = text.find("\n\n", first, last)
        if at < 0:
            at = text.find("\n", first, last)
        match = cut_points.search(replaced, first if at < 0 else at)
        if match is None:
            break
        yield text[start : match.end()]
        start = match.end()
    yield text[start:] if start else text


def parse(pattern: str) -> Node:
    """Return the tree of a pattern by ``parser.parse``, which is imported on demand."""
    from .parser import parse

    return parse(pattern)


#: The seconds that ``regex`` gets for any text, and the characters for each further second. It
#: reads some millions of characters a second.
_FEWEST_SECONDS = 10
_CHARACTERS_A_SECOND = 100_000


class Matcher:
    """A pattern compiled by ``re`` or ``regex``, with a search for all its matches."""

    __slots__ = ("_can_be_empty", "compiled")

    def __init__(self, compiled: Any, can_be_empty: bool) -> None:
        self.compiled = compiled
        self._can_be_empty = can_be_empty

    def find_all(self, text: str) -> list[str]:
        if self._can_be_empty:
            return [text[start:end] for start, end in self.find_spans(text) if start < end]
        if self.compiled.groups:
            return [match.group() for match in self.compiled.finditer(text)]
        chunks: list[str] = self.compiled.findall(text)
        return chunks

    def find_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each match, as ``Splitter.spans`` does."""
        if not self._can_be_empty:
            yield from (match.span() for match in self.compiled.finditer(text))
            return
        search = self.compiled.search
        yield from self.spans_found(text, lambda at: search(text, at))

    def spans_found(self, text: str, search: Callable[[int], Any]) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each match, empty ones included.

        Args:
            text: the text.
            search: returns the first match from a position on, or None.
        """
        at, last = 0, -1
        while at <= len(text):
            match = search(at)
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

    def end(self, text: str, start: int) -> int:
        """Return the end of the match that begins at a position, where there is one."""
        end: int = self.compiled.match(text, start).end()
        return end

    def replace(self, text: str, new: str) -> str:
        """Return a text in which each match is replaced by ``new``."""
        if self._can_be_empty:
            return with_spans_replaced(text, self.find_spans(text), new)
        replaced: str = self.compiled.sub(new.replace("\\", r"\\"), text)
        return replaced


class ForeignMatcher(Matcher):
    """A pattern that only ``regex`` understands. The time of its searches is limited.

    The number of ways in which it may match is not known, so time is the only bound.

    Args:
        compiled: the pattern.
        pattern: its name in messages.
    """

    __slots__ = ("_pattern",)

    def __init__(self, compiled: Any, pattern: str) -> None:
        super().__init__(compiled, can_be_empty=True)
        self._pattern = pattern

    def find_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each match; see ``Matcher``.

        Raises:
            PatternError: the search takes too long.
        """
        seconds = _FEWEST_SECONDS + len(text) / _CHARACTERS_A_SECOND
        ends = time.monotonic() + seconds

        def search(at: int) -> Any:
            return self.compiled.search(text, at, timeout=max(ends - time.monotonic(), 0.001))

        try:
            spans = list(self.spans_found(text, search))
        except TimeoutError:
            if time.monotonic() < ends:
                raise  # the caller's own
            from .tree import PatternError

            reason = f"a text of {len(text):,} characters takes more than {seconds:.0f} seconds"
            raise PatternError(self._pattern, 0, reason) from None
        yield from spans


class StateMatcher(Matcher):
    """A pattern as states."""

    __slots__ = ()

    compiled: States

    def __init__(self, states: States) -> None:
        super().__init__(states, can_be_empty=True)

    def find_spans(self, text: str) -> Iterator[tuple[int, int]]:
        return self.compiled.spans(text)

    def end(self, text: str, start: int) -> int:
        return self.compiled.end(text, start)


def with_spans_replaced(text: str, spans: Iterator[tuple[int, int]], new: str) -> str:
    """Return a text in which each span is replaced by ``new``."""
    parts = []
    at = 0
    for start, end in spans:
        parts += [text[at:start], new]
        at = end
    parts.append(text[at:])
    return "".join(parts)


def compile_regex(text: str, error: PatternError) -> Any:
    """Compile a pattern with the ``regex`` package.

    Raises:
        PatternError: ``error``; with a hint to install the package if it is missing.
    """
    from .tree import PatternError

    try:
        import regex
    except ImportError:
        hint = (
            "; the regex package may understand it: "
            "pip install '.[regex]' in a checkout of compat-bpe"
        )
        raise PatternError(error.pattern, error.position, error.reason, hint) from None
    import warnings

    try:
        with warnings.catch_warnings():
            # `regex` warns about set operators, and would then read them as plain characters.
            warnings.simplefilter("error")
            return regex.compile(text)
    except (regex.error, FutureWarning, OverflowError, RecursionError):
        raise error from None


#: The most characters whose stand-in is cached; text rarely has a thousand different ones.
_REMEMBERED = 1 << 14


class StandIns:
    """The stand-ins of characters; see ``Splitter``.

    Args:
        starts: the first character of each range with one stand-in, ascending. Characters below
            the first have no stand-in.
        stand_ins: the stand-in of each range.

    >>> StandIns("\\x80\\xf7\\xf8", "ÀÁÀ").replace("1÷é")
    '1ÁÀ'
    """

    def __init__(self, starts: str, stand_ins: str) -> None:
        #: The stand-in of each code point.
        self._table = Memo(self._find, _REMEMBERED)
        self._starts = starts
        self._stand_ins = stand_ins
        # For each class, `re` walks its characters below U+10000 to build a table.
        few = starts[0] < "\u0100"
        self._replaced = re.compile(
            f"[^\0-{chr(ord(starts[0]) - 1)}]+" if few else f"[{starts[0]}-\U0010ffff]+"
        )

    def replace(self, text: str) -> str:
        """Return the text with stand-ins, of the same length."""
        return self._replaced.sub(lambda match: match.group().translate(self._table), text)

    def _find(self, code_point: int) -> str:
        from bisect import bisect_right  # only text that is not ASCII needs it

        return self._stand_ins[bisect_right(self._starts, chr(code_point)) - 1]
