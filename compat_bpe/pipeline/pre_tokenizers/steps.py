"""The steps of a pre-tokenizer that are not splits by a pattern.

They cut pieces of one length, put a space before them, write bytes as characters, write spaces as a
visible character, or cut where the script changes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Literal, get_args

from ...caches import Memo, cached_property
from ...pattern.tree import Chars
from ...unicode.properties import CodePoints
from ..aligned import Aligned
from ..byte_level import decode_bytes, encode_bytes
from .base import Across, PreTokenizerStep, SpanPrefix, SpanStart, prefixed
from .split import Split

#: The pieces that get a prefix: all, those from the beginning of the original text, or none.
Scheme = Literal["always", "first", "never"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)

#: A character of a script, and all characters up to the next one of another script.
_RUN = re.compile(r"([^\0])(?:\1|\0)*")

#: The number of characters whose scripts are kept.
_CHARACTERS = 1 << 14


class FixedLength(PreTokenizerStep):
    """A step that cuts a piece into parts of a fixed length.

    Args:
        length: the length in characters, at least 1.

    >>> FixedLength(2).pieces(["abcde"])
    ['ab', 'cd', 'e']
    """

    def __init__(self, length: int) -> None:
        self.length = length

    def __repr__(self) -> str:
        return f"FixedLength({self.length})"

    def pieces(self, pieces: list[str]) -> list[str]:
        """Return the pieces, cut."""
        length = self.length
        return [
            piece[start : start + length]
            for piece in pieces
            for start in range(0, len(piece), length)
        ]

    def align(self, pieces: list[Aligned]) -> list[Aligned]:
        """Return the pieces, cut, with places."""
        return [
            piece.part(start, min(start + self.length, len(piece.text)))
            for piece in pieces
            for start in range(0, len(piece.text), self.length)
        ]


class PrefixSpace(PreTokenizerStep):
    """A step that puts a space before a piece that does not begin with one.

    >>> PrefixSpace().pieces(["a", " b"])
    [' a', ' b']
    """

    def __repr__(self) -> str:
        return "PrefixSpace()"

    def pieces(self, pieces: list[str]) -> list[str]:
        """Return the pieces with a space before them."""
        return [piece if piece[0] == " " else " " + piece for piece in pieces]

    def align(self, pieces: list[Aligned]) -> list[Aligned]:
        """Return the pieces with a space before them, which has the first character's place."""
        return [piece if piece.text[0] == " " else prefixed(piece, " ") for piece in pieces]

    def across(self, left: str, right: str) -> Across:
        """Return the characters unchanged if the right side gets no space."""
        return right == " " and (left, right)

    def going_on(self, left: str, right: str) -> Across:
        """Return the characters unchanged."""
        return left, right

    def on_spans(self) -> tuple[SpanStart, Sequence[PreTokenizerStep]]:
        """Return the prefix of the spans, and no steps."""
        return SpanPrefix(" "), ()


class ByteAlphabet(PreTokenizerStep):
    """A step that writes the bytes of a piece as characters (see ``byte_level``).

    >>> ByteAlphabet().pieces([" é"])
    ['ĠÃ©']
    """

    def __repr__(self) -> str:
        return "ByteAlphabet()"

    def pieces(self, pieces: list[str]) -> list[str]:
        """Return the pieces in the byte alphabet."""
        return [encode_bytes(piece.encode()) for piece in pieces]

    def align(self, pieces: list[Aligned]) -> list[Aligned]:
        """Return the pieces in the byte alphabet; each byte has the place of its character."""
        return [
            piece.changed(
                (byte, int(index > 0))
                for char in piece.text
                for index, byte in enumerate(encode_bytes(char.encode()))
            )
            for piece in pieces
        ]

    def across(self, left: str, right: str) -> Across:
        """Return the bytes beside the cut: each character is written by itself."""
        return encode_bytes(left.encode())[-1], encode_bytes(right.encode())[0]


def to_bytes(steps: Sequence[PreTokenizerStep]) -> Callable[[str], bytes]:
    """Return the function that gives the bytes of a chunk of ``make_splitter(steps)``."""
    written = any(isinstance(step, ByteAlphabet) for step in steps[:-1])
    return decode_bytes if written and not isinstance(steps[-1], ByteAlphabet) else str.encode


class Metaspace(PreTokenizerStep):
    """A step that replaces spaces, puts the replacement before a piece, and cuts before each.

    Args:
        replacement: one character.
        scheme: the pieces that get a prefix, unless they begin with one.
        split: True to cut before each replacement.

    >>> Metaspace("_").pieces(["a b", "_c_"])
    ['_a', '_b', '_c', '_']
    """

    def __init__(self, replacement: str, scheme: Scheme = "always", split: bool = True) -> None:
        self.replacement = replacement
        self.scheme = scheme
        self.split = split
        self.needs_start = scheme == "first"

    def __repr__(self) -> str:
        return f"Metaspace({self.replacement!r}, {self.scheme!r}, {self.split})"

    @cached_property
    def _cutting(self) -> Split:
        return Split(Chars(CodePoints.of(self.replacement)), "MergedWithNext")

    def pieces(self, pieces: list[str]) -> list[str]:
        """Return the pieces after the step; no piece is from the beginning of the text."""
        mark = self.replacement
        whole = "".join(pieces)
        if " " in whole:
            pieces = [piece.replace(" ", mark) for piece in pieces]
        elif mark not in whole:
            # Usually the words were cut before, so only a prefix is put before each.
            return [mark + piece for piece in pieces] if self.scheme == "always" else pieces
        if self.scheme == "always":
            pieces = [piece if piece[0] == mark else mark + piece for piece in pieces]
        if not self.split:
            return pieces
        marked = []
        for piece in pieces:
            first, *others = piece.split(mark)
            if first:
                marked.append(first)
            marked += [mark + other for other in others]
        return marked

    def align(self, pieces: list[Aligned]) -> list[Aligned]:
        """Return the pieces after the step, with places."""
        marked = []
        for piece in pieces:
            piece = piece._replace(text=piece.text.replace(" ", self.replacement))
            if piece.text[0] != self.replacement and (
                self.scheme == "always" or (self.scheme == "first" and piece.start == 0)
            ):
                piece = prefixed(piece, self.replacement)
            marked.append(piece)
        return self._cutting.align(marked) if self.split else marked

    def across(self, left: str, right: str) -> Across:
        """Return the answer for a cut; a right side that gets a prefix must begin with it."""
        left, right = (self.replacement if char == " " else char for char in (left, right))
        if right == self.replacement:
            return self.split or (left, right)
        return self.scheme != "always" and (left, right)

    def going_on(self, left: str, right: str) -> Across:
        """Return the two characters as they are written after the step."""
        left, right = (self.replacement if char == " " else char for char in (left, right))
        return left, right

    def on_spans(self) -> tuple[SpanStart, Sequence[PreTokenizerStep]]:
        """Return the prefix of the spans, and the cutting."""
        prefix = SpanPrefix(
            self.replacement,
            " ",
            only_first=self.scheme == "first",
            never=self.scheme == "never",
        )
        return prefix, [self._cutting] if self.split else []


class UnicodeScripts(PreTokenizerStep):
    """A step that cuts a piece where the script changes, as of Unicode 9.0.

    Han, Hiragana and Katakana are one script here. Spaces and characters without a script stay with
    the text before them. At the beginning of a piece they are dropped, as in tokenizers.

    >>> UnicodeScripts().pieces([" Apples are りんご 林檎"])
    ['Apples are ', 'りんご 林檎']
    """

    leaves_nothing_out = False

    def __repr__(self) -> str:
        return "UnicodeScripts()"

    def pieces(self, pieces: list[str]) -> list[str]:
        """Return the pieces, cut."""
        return [
            piece[start:end]
            for piece in pieces
            for start, end in map(re.Match.span, _RUN.finditer(piece.translate(_script_table())))
        ]

    def align(self, pieces: list[Aligned]) -> list[Aligned]:
        """Return the pieces, cut, with places."""
        parts = []
        for piece in pieces:
            starts = []
            last = 0
            for index, char in enumerate(piece.text):
                script = _script_table()[ord(char)]
                if script and script != last:
                    starts.append(index)
                    last = script
            ends = [*starts[1:], len(piece.text)]
            parts += [piece.part(start, end) for start, end in zip(starts, ends)]
        return parts

    def across(self, left: str, right: str) -> Across:
        """Return the answer for a cut between two characters that have a script."""
        before, after = _script(ord(left)), _script(ord(right))
        if before is None or after is None:
            return False
        return before != after or (left, right)


def _script(code_point: int) -> str | None:
    """Return the script that a character counts as; None if it stays with any script."""
    if code_point == 0x20:
        return None
    if code_point == 0x30FC:  # the mark of a long vowel in kana, which has no script of its own
        return "Han"
    from ...unicode.properties import script_of

    script = script_of(code_point)
    return "Han" if script in ("Hiragana", "Katakana") else script


@cache
def _script_table() -> Memo[int, int]:
    """Return a table from code point to a character for its script."""
    from ...unicode.tables import SCRIPTS

    # Numbered beforehand: two threads, each with a new script, could both take the next number.
    # Number 0, U+0000, is for no script.
    signs = {script: sign for sign, script in enumerate([None, *SCRIPTS])}
    return Memo(lambda point: signs[_script(point)], _CHARACTERS)
