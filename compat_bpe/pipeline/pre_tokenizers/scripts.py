"""The step that cuts where the script changes."""

from __future__ import annotations

import re
from functools import cache

from ...unicode.properties import script_of
from ...unicode.tables import SCRIPTS
from ..aligned import Aligned
from ..cache import Memo
from .plain import Across, PlainStep

#: A character of a script, and all up to the next one of another script.
_RUN = re.compile(r"([^\0])(?:\1|\0)*")

#: The number of characters whose scripts are remembered.
_CHARACTERS = 1 << 14


class UnicodeScripts(PlainStep):
    """A step that cuts a piece where the script changes, as of Unicode 9.0.

    Han, Hiragana and Katakana are one script here. Spaces and characters without a script go with
    what is before them; at the beginning of a piece they are dropped, as in tokenizers.

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
            for start, end in map(re.Match.span, _RUN.finditer(piece.translate(_table())))
        ]

    def align(self, pieces: list[Aligned]) -> list[Aligned]:
        """Return the pieces, cut, with places."""
        parts = []
        for piece in pieces:
            starts = []
            last = None
            for index, char in enumerate(piece.text):
                script = _script(ord(char))
                if script is not None and script != last:
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
    """Return the script that a character counts as; None if it goes with any."""
    if code_point == 0x20:
        return None
    if code_point == 0x30FC:  # a long vowel in kana, by itself of no script
        return "Han"
    script = script_of(code_point)
    return "Han" if script in ("Hiragana", "Katakana") else script


@cache
def _table() -> Memo[int, int]:
    """Return a table from code point to a character for its script."""
    # Given beforehand: of two threads, each with a new script, both could take the next sign.
    # The first sign is that of no script, U+0000.
    signs = {script: sign for sign, script in enumerate([None, *SCRIPTS])}
    return Memo(lambda point: signs[_script(point)], _CHARACTERS)
