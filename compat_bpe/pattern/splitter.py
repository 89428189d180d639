r"""A text cut into chunks (pre-tokens): what the published pattern matches.

The pattern is compiled for several alphabets (see ``translation``), each time only when a text
needs it.  Of text that is not ASCII, the first is replaced by stand-ins, for which the pattern is
compiled in a fraction of the time; only when more has come than that is worth is it compiled for
the Basic Multilingual Plane, and stand-ins are left to the characters above that.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import accumulate

from .prepared import PREPARED
from .translation import Translation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .ast import Node, PatternError
    from .reach import Reach
    from .stand_ins import StandIns

#: Passages are at least, and in most texts at most, about as long as this (in characters).
SHORTEST_PASSAGE = 512
LONGEST_PASSAGE = 2048

#: Characters of texts that are not ASCII up to which these are split by way of stand-ins: that
#: takes about as long as to compile the pattern for them.
_FEW = 1 << 16


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
        prepared = PREPARED.get(pattern)
        if prepared is not None:
            self._set_up(Translation(lambda: _parse(pattern), pattern, prepared), pattern)
            return
        from .ast import PatternError

        try:
            tree = _parse(pattern)
        except PatternError as error:
            # By the rules and the Unicode version of that package: the best there is then.
            self._foreign = _Matcher(_compile_regex(pattern, error), can_be_empty=True)
            self._set_up(None, pattern)
        else:
            self._set_up(Translation(lambda: tree, pattern), pattern)

    @classmethod
    def of_tree(cls, tree: Node, pattern: str) -> Splitter:
        """A splitter by a parsed pattern; ``pattern`` is what messages call it."""
        return cls.of_translation(Translation(lambda: tree, pattern), pattern)

    @classmethod
    def of_translation(cls, translation: Translation, pattern: str) -> Splitter:
        """A splitter by a translated pattern; ``pattern`` is what messages call it."""
        splitter = cls.__new__(cls)
        splitter._set_up(translation, pattern)
        return splitter

    def _set_up(self, translation: Translation | None, pattern: str) -> None:
        self.pattern = pattern
        self.translation = translation
        self._few_left = _FEW
        if translation is not None:
            # Now, so that a pattern `re` refuses is refused here and not at the first text.
            self._ascii = self._matcher(translation.ascii)

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

    def _matcher(self, text: str) -> _Matcher:
        """What finds the matches of a pattern as ``re`` takes it."""
        assert self.translation is not None
        try:
            compiled = re.compile(text)
        except (re.error, OverflowError, RecursionError) as error:
            # Lookbehind of no fixed width, for instance, which `regex` knows.
            from .ast import PatternError

            compiled = _compile_regex(text, PatternError(self.pattern, 0, str(error)))
        return _Matcher(compiled, self.translation.can_be_empty)

    @cached_property
    def _few(self) -> tuple[_Matcher, StandIns] | None:
        """What splits the first texts that are not ASCII."""
        assert self.translation is not None
        few = self.translation.few
        if few is None:
            return None
        from .stand_ins import StandIns

        pattern, starts, stand_ins = few
        return self._matcher(pattern), StandIns(starts, stand_ins)

    @cached_property
    def _most(self) -> tuple[_Matcher, StandIns]:
        """What splits any text."""
        assert self.translation is not None
        from .stand_ins import StandIns

        pattern, starts, stand_ins = self.translation.most
        return self._matcher(pattern), StandIns(starts, stand_ins)

    def _few_for(self, text: str) -> tuple[_Matcher, StandIns] | None:
        """What splits a text that is not ASCII by way of stand-ins, as long as that is worth it."""
        self._few_left -= len(text)
        return self._few if self._few_left >= 0 else None

    def _matcher_for(self, text: str) -> tuple[_Matcher, str]:
        """What matches a text, and the text as it is matched, of the same length."""
        if self.translation is None:
            return self._foreign, text
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
        return None if self.translation is None else self.translation.tree

    @cached_property
    def is_plain(self) -> bool:
        """Whether chunks follow each other without a gap, none is empty, and none looks back."""
        if self.translation is None or not self.leaves_nothing_out:
            return False
        from .writer import looks_back

        return not self.translation.can_be_empty and not looks_back(self.translation.tree)

    @cached_property
    def reach(self) -> Reach:
        """How far the pattern looks; there is a tree."""
        from .reach import Reach

        assert self.tree is not None
        return Reach(self.tree)

    @cached_property
    def breaks(self) -> re.Pattern[str] | None:
        """Matches one character after which a text may be cut (see ``breaks``), if there is any."""
        return self._break_pattern("breaks")

    @cached_property
    def fine_breaks(self) -> re.Pattern[str] | None:
        """The same with more such characters; it takes several times as long to search by it."""
        return self._break_pattern("fine_breaks")

    @cached_property
    def ascii_breaks(self) -> re.Pattern[str] | None:
        """As ``breaks``, for ASCII text."""
        return self._break_pattern("ascii_breaks")

    @cached_property
    def _few_breaks(self) -> re.Pattern[str] | None:
        """As ``breaks``, for text with stand-ins."""
        return self._break_pattern("few_breaks")

    def _break_pattern(self, name: str) -> re.Pattern[str] | None:
        text = None if self.translation is None else getattr(self.translation, name)
        return None if text is None else re.compile(text)

    def _breaks_for(self, text: str) -> tuple[re.Pattern[str] | None, str]:
        """What finds the places to cut a text, and the text in which it does."""
        if text.isascii():
            return self.ascii_breaks, text
        few = None if self.translation is None else self._few_for(text)
        if few is not None:
            return self._few_breaks, few[1].replace(text)
        return self.breaks, text

    @cached_property
    def leaves_nothing_out(self) -> bool:
        """Whether every character of a text is certainly in a chunk."""
        return self.translation is not None and self.translation.leaves_nothing_out

    def passages(
        self, text: str, shortest: int = SHORTEST_PASSAGE, longest: int = LONGEST_PASSAGE
    ) -> Iterator[str]:
        """The text in parts of some hundred characters that split as the whole does.

        A part ends soon after an empty line, else soon after the end of a line, so that where
        texts are equal their parts mostly are.  It is longer where no safe place to cut is found
        (see ``breaks``), and the last one may be shorter.
        """
        start = 0
        breaks, replaced = self._breaks_for(text) if len(text) > longest else (None, text)
        if breaks is not None:
            search, find = breaks.search, text.find
            while start + longest < len(text):
                first, last = start + shortest, start + longest
                at = find("\n\n", first, last)
                if at < 0:
                    at = find("\n", first, last)
                found = search(replaced, first if at < 0 else at)
                if found is None:
                    break
                yield text[start : found.end()]
                start = found.end()
        yield text[start:] if start else text


def _parse(pattern: str) -> Node:
    from .parser import parse  # a published pattern mostly needs no parser

    return parse(pattern)


class _Matcher:
    """A compiled pattern, of ``re`` or ``regex``, and the way to find all its matches."""

    __slots__ = ("_can_be_empty", "compiled")

    def __init__(self, compiled: Any, can_be_empty: bool) -> None:
        self.compiled = compiled
        self._can_be_empty = can_be_empty

    def find_all(self, text: str) -> list[str]:
        if self._can_be_empty:
            return [text[start:end] for start, end in self.find_spans(text) if start < end]
        if self.compiled.groups:
            return [match.group() for match in self.compiled.finditer(text)]
        found: list[str] = self.compiled.findall(text)
        return found

    def find_spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where the matches are, as ``Splitter.spans`` says."""
        if not self._can_be_empty:
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
    from .ast import PatternError

    try:
        import regex
    except ImportError:
        hint = "; the regex package may understand it: pip install 'compat-bpe[regex]'"
        raise PatternError(error.pattern, error.position, error.reason, hint) from None
    import warnings

    try:
        with warnings.catch_warnings():
            # It warns of set operators, which it would then take for plain characters.
            warnings.simplefilter("error")
            return regex.compile(text)
    except (regex.error, FutureWarning, OverflowError, RecursionError):
        raise error from None
