"""Reading a pattern character by character, within the limits."""

from __future__ import annotations

import re
from typing import NoReturn

from ..unicode.code_points import CodePoints
from .ast import PatternError, PatternTooLarge
from .limits import MOST_JOINED, check_length


class Reader:
    """A pattern; ``at`` is the position of the next character.

    Raises:
        PatternTooLarge: it is too long.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self._ranges_left = MOST_JOINED
        check_length(pattern)

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
        """Note the ranges of sets that are joined."""
        self._ranges_left -= sum(1 + len(points.bounds) // 2 for points in sets)
        if self._ranges_left < 0:
            self.refuse(f"its classes join more than {MOST_JOINED:,} ranges")
