"""Splitting a text into chunks (pre-tokens), the matches of a published pattern.

``Translation`` writes the pattern for ``re``, ``Splitter`` compiles it and splits texts, and a
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

from ..caches import cached_property
from .prepared import PREPARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from ..unicode.properties import CodePoints
    from .cut_points import Reach
    from .states import States
    from .translation import Node, PatternError


#: A pattern for ``re``; the first code point of each range of one kind, as a character; and the
#: stand-in of each of these ranges.
WithStandIns = tuple[str, str, str]

#: The parts of a translation that are kept for the patterns that ship.
PREPARED_PARTS = (
    *("ascii", "few", "ascii_cut_points", "few_cut_points"),
    *("can_be_empty", "leaves_nothing_out"),
)
#: Those of them that are kept apart.
LARGE_PARTS = ("most", "cut_points")

#: The first stand-in below U+0100. From here on the characters are printable.
FIRST_STAND_IN = "\xc0"


class Translation:
    """A pattern as it is given to ``re``.

    Args:
        make_tree: returns the parsed pattern; it is called when a part is not prepared.
        pattern: the name of the pattern in messages.
        prepared: the parts that are known already, by their names (see ``PREPARED_PARTS``), and
            with ``large`` the place of others in ``prepared_large``.

    >>> from compat_bpe.pattern.parser import parse
    >>> translation = Translation(lambda: parse("[a-zé]+|é|(?!é)b"), "a pattern")
    >>> translation.ascii
    '[a-z]+|b'
    >>> translation.few[0]
    '[a-zÁ]+|Á|(?!Á)b'
    """

    #: The place of the large parts in ``prepared_large``; None if they are not prepared.
    large: int | None = None

    def __init__(
        self,
        make_tree: Callable[[], Node],
        pattern: str,
        prepared: Mapping[str, Any] | None = None,
    ) -> None:
        self._make_tree = make_tree
        self._pattern = pattern
        # A cached property is looked up here first.
        self.__dict__.update(prepared or {})
        if prepared and "ascii" in prepared:
            # Prepared patterns are for `re`; a test checks each of them.
            self.__dict__["states"] = None

    @cached_property
    def tree(self) -> Node:
        """The parsed pattern, with possessive repeats replaced as far as possible.

        Raises:
            PatternError: the pattern repeats something that may be empty.
        """
        from .translation import PatternError, Repeat, can_be_empty, relax, walk

        tree = self._make_tree()
        for node in walk(tree):
            # Engines differ in what they do after a round of a repeat that takes no character.
            if isinstance(node, Repeat) and node.high != 1 and can_be_empty(node.item):
                raise PatternError(self._pattern, 0, "it repeats something that may be empty")
        return relax(tree)

    @cached_property
    def states(self) -> States | None:
        """The pattern as states, if ``re`` might try too many ways; None if ``re`` is fit for it.

        Raises:
            PatternError: it is neither for ``re`` nor for states.
        """
        from .translation import uncertain_parts

        if uncertain_parts(self.tree) == []:
            return None
        from .states import NoTable, States, is_bounded
        from .translation import PatternError

        if is_bounded(self.tree):
            return None
        try:
            return States(self.tree)
        except NoTable as error:
            reason = f"it may match a text in too many ways to try them all, and {error}"
            hint = "; write it so that no two repeats match the same text"
            raise PatternError(self._pattern, 0, reason, hint) from None

    @cached_property
    def can_be_empty(self) -> bool:
        """True if the pattern may match without taking a character."""
        from .translation import can_be_empty

        return can_be_empty(self.tree)

    @cached_property
    def leaves_nothing_out(self) -> bool:
        """True if every character of a text is certainly in a match."""
        from ..unicode.properties import ALL
        from .translation import surely_begins

        return surely_begins(self.tree) == ALL

    @cached_property
    def ascii(self) -> str:
        """The pattern for ASCII text."""
        return self._for_re(lambda points: points.clip(0, 0x80))

    @cached_property
    def few(self) -> WithStandIns | None:
        """The pattern for a small amount of text that is not ASCII.

        None if the pattern has too many kinds of characters.
        """
        kinds = self._few_kinds
        if kinds is None:
            return None
        return self._for_re(kinds.share), kinds.starts, kinds.stand_ins

    @cached_property
    def most(self) -> WithStandIns:
        """The pattern for any text.

        Raises:
            ValueError: the pattern has too many kinds of characters above U+FFFF.
        """
        if self.large is not None:
            most: WithStandIns = self._large_parts["most"]
            return most
        kinds = _Kinds(self._classes(), ((0, 0xD800), (0xE000, 0x10000)), 0xD800, 0x800)
        return self._for_re(kinds.share), kinds.starts, kinds.stand_ins

    @cached_property
    def ascii_cut_points(self) -> str | None:
        """``cut_points`` for ASCII text."""
        return _cut_point_pattern(
            (left.clip(0, 0x80), right.clip(0, 0x80)) for left, right in self._cut_point_pairs
        )

    @cached_property
    def few_cut_points(self) -> str | None:
        """``cut_points`` for text with the stand-ins of ``few``, which must not be None."""
        assert self._few_kinds is not None
        share = self._few_kinds.share
        return _cut_point_pattern(
            (share(left), share(right)) for left, right in self._cut_point_pairs
        )

    @cached_property
    def cut_points(self) -> str | None:
        """A pattern for a character with a cut point after it in any text; None if there is none.

        ``pattern.cut_points`` says what a cut point is.
        """
        if self.large is not None:
            cut_points: str | None = self._large_parts["cut_points"]
            return cut_points
        return _cut_point_pattern(self._cut_point_pairs)

    @cached_property
    def fine_cut_points(self) -> str | None:
        """A pattern that finds more cut points than ``cut_points``."""
        from .cut_points import cut_point_pairs

        return _cut_point_pattern(map(_without_surrogates, cut_point_pairs(self.tree, fine=True)))

    @property
    def _large_parts(self) -> Mapping[str, Any]:
        from .prepared_large import LARGE

        assert self.large is not None
        return LARGE[self.large]

    def _for_re(self, share: Callable[[CodePoints], CodePoints]) -> str:
        from .translation import join_runs, project, to_re

        return to_re(join_runs(project(self.tree, share)))

    @cached_property
    def _cut_point_pairs(self) -> list[tuple[CodePoints, CodePoints]]:
        from .cut_points import cut_point_pairs

        return list(map(_without_surrogates, cut_point_pairs(self.tree)))

    @cached_property
    def _few_kinds(self) -> _Kinds | None:
        sets = self._classes().union(*self._cut_point_pairs)
        try:
            return _Kinds(sets, ((0, 0x80),), ord(FIRST_STAND_IN), 0x40)
        except ValueError:
            return None

    def _classes(self) -> set[CodePoints]:
        from .translation import Chars, walk

        return {node.points for node in walk(self.tree) if isinstance(node, Chars)}


class _Kinds:
    """The kinds of characters above an alphabet; characters of one kind are in the same sets.

    Args:
        sets: the sets.
        alphabet: ranges of code points without stand-ins. All code points from the end of the last
            range on have stand-ins.
        first: the code point of the first stand-in.
        limit: the largest number of kinds.

    Raises:
        ValueError: there are more kinds.
    """

    def __init__(
        self,
        sets: set[CodePoints],
        alphabet: tuple[tuple[int, int], ...],
        first: int,
        limit: int,
    ) -> None:
        from ..unicode.properties import kinds_of

        self._alphabet = alphabet
        end = alphabet[-1][1]
        # A kind is a number with one bit for each set that its characters are in.
        self._bits = {points: 1 << number for number, points in enumerate(sets)}
        by_start: dict[int, int] = {}
        for start, kind in kinds_of(self._bits):
            by_start[max(start, end)] = kind
        starts, kinds = list(by_start), list(by_start.values())
        self._points = {kind: first + i for i, kind in enumerate(dict.fromkeys(kinds))}
        if len(self._points) > limit:
            above = f"above U+{end - 1:04X}"
            raise ValueError(f"a pattern with more than {limit:,} kinds of characters {above}")
        self.starts = "".join(map(chr, starts))
        self.stand_ins = "".join(chr(self._points[kind]) for kind in kinds)

    def share(self, points: CodePoints) -> CodePoints:
        """Return a set's characters in the alphabet, and the stand-ins of its other characters."""
        from ..unicode.properties import CodePoints

        bit = self._bits[points]
        inside = [stand_in for kind, stand_in in self._points.items() if kind & bit]
        return CodePoints.union(
            *(points.clip(start, end) for start, end in self._alphabet),
            CodePoints.from_ranges(zip(inside, inside)),
        )


def _without_surrogates(
    pair: tuple[CodePoints, CodePoints],
) -> tuple[CodePoints, CodePoints]:
    """Return a pair of sets with a cut point between them, the first without surrogates.

    The first set keeps only characters below U+10000. The characters beside a cut point are not
    surrogates, so a text can be cut before it is repaired.
    """
    left, right = pair
    return left.clip(0, 0xD800) | left.clip(0xE000, 0x10000), right


def _cut_point_pattern(pairs: Iterable[tuple[CodePoints, CodePoints]]) -> str | None:
    """Return a pattern for a character of a pair's first set, followed by one of the second.

    None if a set of each pair is empty.
    """
    cuts = [f"{left.to_re()}(?={right.to_re()})" for left, right in pairs if left and right]
    return "|".join(cuts) or None


#: The lengths of a segment in characters: the shortest and, in most texts, about the longest.
SHORTEST_SEGMENT = 512
LONGEST_SEGMENT = 2048

#: Replace this many characters of text that is not ASCII by stand-ins. That takes about as long as
#: compiling the patterns without stand-ins. Those of a long text are replaced twice: once to find
#: its cut points, and once for its chunks.
_FEW = 1 << 18


class Splitter:
    r"""A published pattern, ready to split texts.

    Args:
        pattern: in the syntax of Rust's ``fancy-regex``, as tiktoken takes it. A pattern that
            this package cannot translate is given to the ``regex`` package, if that is installed.

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
            self._set_up(Translation(lambda: _parse(pattern), pattern, prepared), pattern)
            return
        from .translation import PatternError, PatternTooLarge

        try:
            tree = _parse(pattern)
        except PatternTooLarge:
            raise
        except PatternError as error:
            # This follows the rules and the Unicode version of `regex`; there is nothing better.
            foreign = ForeignMatcher(compile_regex(pattern, error), pattern)
            self._set_up(None, pattern, foreign)
        else:
            self._set_up(Translation(lambda: tree, pattern), pattern)

    @classmethod
    def of_tree(cls, tree: Node, pattern: str) -> Splitter:
        """Return a splitter for a parsed pattern; messages call it ``pattern``."""
        return cls.of_translation(Translation(lambda: tree, pattern), pattern)

    @classmethod
    def of_translation(cls, translation: Translation, pattern: str) -> Splitter:
        """Return a splitter for a translated pattern; messages call it ``pattern``."""
        splitter = cls.__new__(cls)
        splitter._set_up(translation, pattern)
        return splitter

    def _set_up(
        self, translation: Translation | None, pattern: str, foreign: Matcher | None = None
    ) -> None:
        self.pattern = pattern
        self.translation = translation
        self._few_left = _FEW
        #: The matcher for all texts, if there is only one.
        self._whole: Matcher | None = foreign
        if translation is not None and translation.states is not None:
            self._whole = StateMatcher(translation.states)
        if self._whole is not None:
            self._ascii = self._whole
        else:
            assert translation is not None
            # Compiled now, so that a pattern that `re` refuses fails here, not at the first text.
            self._ascii = self._matcher(translation.ascii)

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

        An empty match right after another match is left out. After an empty match the search goes
        on one character further, as in Rust and Oniguruma; ``re`` would look for a longer match at
        the same position.

        Args:
            text: without surrogates; see ``repair``.
        """
        matcher, replaced = self._matcher_for(text)
        return matcher.find_spans(replaced)

    def replace(self, text: str, new: str) -> str:
        """Return a text in which each match (see ``spans``) is replaced by ``new``.

        Args:
            text: without surrogates; see ``repair``.
            new: what is put there, taken literally.
        """
        matcher, replaced = self._matcher_for(text)
        if replaced is text:
            return matcher.replace(text, new)
        return with_spans_replaced(text, matcher.find_spans(replaced), new)

    def _matcher(self, text: str) -> Matcher:
        """Compile a pattern in the syntax of ``re``."""
        assert self.translation is not None
        try:
            compiled = re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            # `regex` knows more: lookbehind of variable width, for instance.
            from .translation import PatternError

            compiled = compile_regex(text, PatternError(self.pattern, 0, str(error)))
        return Matcher(compiled, self.translation.can_be_empty)

    @cached_property
    def _few(self) -> tuple[Matcher, StandIns] | None:
        """The matcher and the stand-ins for the first texts that are not ASCII.

        None if the pattern has too many kinds of characters.
        """
        assert self.translation is not None
        few = self.translation.few
        return None if few is None else self._with_stand_ins(*few)

    @cached_property
    def _most(self) -> tuple[Matcher, StandIns]:
        """The matcher and the stand-ins for any text."""
        assert self.translation is not None
        return self._with_stand_ins(*self.translation.most)

    def _with_stand_ins(
        self, pattern: str, starts: str, stand_ins: str
    ) -> tuple[Matcher, StandIns]:
        return self._matcher(pattern), StandIns(starts, stand_ins)

    def _few_for(self, text: str) -> tuple[Matcher, StandIns] | None:
        """Return ``_few`` for a text that is not ASCII; None once it is not worth it any more."""
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
        return None if self.translation is None else self.translation.tree

    @cached_property
    def is_plain(self) -> bool:
        """True if the chunks join to the text, none is empty, and none depends on text before it.

        False if the pattern could not be translated.
        """
        if self.translation is None or not self.leaves_nothing_out:
            return False
        from .translation import looks_back

        return not self.translation.can_be_empty and not looks_back(self.translation.tree)

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
        """A pattern that finds more cut points; to search with it takes several times as long."""
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
        text = None if self.translation is None else getattr(self.translation, name)
        return None if text is None else re.compile(text)

    def _cut_points_for(self, text: str) -> tuple[re.Pattern[str] | None, str]:
        """Return the pattern that finds the cut points of a text, and the text to search."""
        if text.isascii():
            return self.ascii_cut_points, text
        few = None if self.translation is None else self._few_for(text)
        if few is not None:
            return self._few_cut_points, few[1].replace(text)
        return self.cut_points, text

    @cached_property
    def leaves_nothing_out(self) -> bool:
        """True if every character of a text is certainly in a chunk."""
        return self.translation is not None and self.translation.leaves_nothing_out

    def segments(
        self, text: str, shortest: int = SHORTEST_SEGMENT, longest: int = LONGEST_SEGMENT
    ) -> Iterator[str]:
        """Yield the segments of a text, of some hundred characters each.

        A segment ends at a cut point, so the chunks of the segments are those of the text. It ends
        soon after an empty line, or else soon after the end of a line: so equal parts of two texts
        mostly have equal segments. It is longer than ``longest`` if no cut point is found before,
        and the last one may be shorter than ``shortest``.
        """
        start = 0
        cut_points, replaced = self._cut_points_for(text) if len(text) > longest else (None, text)
        if cut_points is not None:
            search, find = cut_points.search, text.find
            while start + longest < len(text):
                first, last = start + shortest, start + longest
                at = find("\n\n", first, last)
                if at < 0:
                    at = find("\n", first, last)
                match = search(replaced, first if at < 0 else at)
                if match is None:
                    break
                yield text[start : match.end()]
                start = match.end()
        yield text[start:] if start else text


def _parse(pattern: str) -> Node:
    from .parser import parse  # most published patterns are prepared and need no parser

    return parse(pattern)


#: The seconds that ``regex`` gets for any text, and the characters for each further second. It
#: takes some millions of characters a second.
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

    Nothing is known of the ways in which it may match, so time is the only bound.

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
            PatternError: it takes too long.
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
            from .translation import PatternError

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
    from .translation import PatternError

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
            # `regex` warns of set operators, and would then take them for plain characters.
            warnings.simplefilter("error")
            return regex.compile(text)
    except (regex.error, FutureWarning, OverflowError, RecursionError):
        raise error from None


#: The most characters whose stand-in is cached; text rarely has a thousand different ones.
_REMEMBERED = 1 << 14


class StandIns(dict[int, str]):
    """The stand-ins of characters, by code point; see ``Translation``.

    Args:
        starts: the first character of each range with one stand-in, ascending. Characters below
            the first have no stand-in.
        stand_ins: the stand-in of each range.

    >>> StandIns("\\x80\\xf7\\xf8", "ÀÁÀ").replace("1÷é")
    '1ÁÀ'
    """

    __slots__ = ("_replaced", "_stand_ins", "_starts")

    def __init__(self, starts: str, stand_ins: str) -> None:
        super().__init__()
        self._starts = starts
        self._stand_ins = stand_ins
        # For each class, `re` walks its characters below U+10000 to build a table.
        few = starts[0] < "\u0100"
        self._replaced = re.compile(
            f"[^\0-{chr(ord(starts[0]) - 1)}]+" if few else f"[{starts[0]}-\U0010ffff]+"
        )

    def replace(self, text: str) -> str:
        """Return the text with stand-ins, of the same length."""
        return self._replaced.sub(lambda match: match.group().translate(self), text)

    def __missing__(self, code_point: int) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        from bisect import bisect_right  # only text that is not ASCII needs it

        number = bisect_right(self._starts, chr(code_point)) - 1
        char = self[code_point] = self._stand_ins[number]
        return char
