"""Splitting of text into words and lines where none of the longest tokens reaches across."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set

from ..sentencepiece.splitter import WordSplitter


class TokenSplitter(WordSplitter):
    """A splitter that cuts a text before spaces and after line feeds, but within no token.

    Args:
        tokens: all tokens.

    >>> TokenSplitter([b" ", b"  ", b" a", b"\\n", b".\\n"]).chunks("a b  c.\\nd")
    ['a', ' b', '  c.\\n', 'd']
    """

    def __init__(self, tokens: Iterable[bytes]) -> None:
        before: set[int] = set()
        after: set[int] = set()
        for token in tokens:
            if b" " in token[1:]:
                before.update(left for left, right in zip(token, token[1:]) if right == 0x20)
            if b"\n" in token[:-1]:
                after.update(right for left, right in zip(token, token[1:]) if left == 0x0A)
        left, right = f"[^{_characters(before)}]", f"(?=[^{_characters(after)}])"
        self._split = re.compile(rf"(?<={left})(?= )|(?<=\n){right}").split
        #: A character with a cut point after it.
        self.cut_points = re.compile(rf"{left}(?= )|\n{right}")
        self.ascii_cut_points = self.fine_cut_points = self.cut_points

    def chunks(self, text: str) -> list[str]:
        """Return all parts of a text, in order."""
        return self._split(text) if text else []


def _characters(values: Set[int]) -> str:
    """Return the inside of a class with the characters that begin or end with one of some bytes.

    It has all characters that are not ASCII if one of the bytes is not, and U+0000 if there are
    none, since a class cannot be empty: before and after that there is no cut point then.
    """
    ascii_ = "".join(f"\\x{value:02x}" for value in sorted(values) if value < 0x80)
    return (ascii_ + ("" if max(values, default=0) < 0x80 else "\\x80-\U0010ffff")) or "\\x00"
