"""Compiled patterns with a search for all their matches."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .ast import PatternError
    from .states import States

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
            from .ast import PatternError

            reason = f"a text of {len(text):,} characters takes more than {seconds:.0f} seconds"
            raise PatternError(self._pattern, 0, reason) from None
        yield from spans


class StateMatcher:
    """A pattern as states, with the methods of ``Matcher``."""

    __slots__ = ("end", "find_spans")

    def __init__(self, states: States) -> None:
        self.end = states.end
        self.find_spans = states.spans

    def find_all(self, text: str) -> list[str]:
        return [text[start:end] for start, end in self.find_spans(text) if start < end]

    def replace(self, text: str, new: str) -> str:
        return with_spans_replaced(text, self.find_spans(text), new)


def with_spans_replaced(text: str, spans: Iterator[tuple[int, int]], new: str) -> str:
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
    from .ast import PatternError

    try:
        import regex
    except ImportError:
        hint = "; the regex package may understand it: pip install 'compat-bpe[regex]'"
        raise PatternError(error.pattern, error.position, error.reason, hint) from None
    import warnings

    try:
        with warnings.catch_warnings():
            # `regex` warns of set operators, and would then take them for plain characters.
            warnings.simplefilter("error")
            return regex.compile(text)
    except (regex.error, FutureWarning, OverflowError, RecursionError):
        raise error from None
