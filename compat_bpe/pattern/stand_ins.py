"""Stand-ins: characters that replace others of the same classes of a pattern."""

from __future__ import annotations

import re
from bisect import bisect_right

#: The most characters whose stand-in is cached; text rarely has a thousand different ones.
_REMEMBERED = 1 << 14


class StandIns(dict[int, str]):
    """The stand-ins of characters, by code point; see ``translation``.

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
        number = bisect_right(self._starts, chr(code_point)) - 1
        char = self[code_point] = self._stand_ins[number]
        return char
