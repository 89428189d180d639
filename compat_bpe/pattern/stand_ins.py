"""Stand-ins: characters for others that lie in the same classes of a pattern."""

from __future__ import annotations

import re
from bisect import bisect_right

#: Characters whose stand-in is remembered; text rarely has a thousand different ones.
_REMEMBERED = 1 << 14


class StandIns(dict[int, str]):
    """The stand-ins of characters, by code point; see ``translation``.

    Args:
        starts: where stretches of code points with one stand-in begin, ascending; what is below the
            first has none.
        stand_ins: that of each stretch.

    >>> StandIns("\\x80\\xf7\\xf8", "ÀÁÀ").replace("1÷é")
    '1ÁÀ'
    """

    __slots__ = ("_replaced", "_stand_ins", "_starts")

    def __init__(self, starts: str, stand_ins: str) -> None:
        super().__init__()
        self._starts = starts
        self._stand_ins = stand_ins
        # `re` walks what of a class is below U+10000, to make a table of it.
        few = starts[0] < "\u0100"
        self._replaced = re.compile(
            f"[^\0-{chr(ord(starts[0]) - 1)}]+" if few else f"[{starts[0]}-\U0010ffff]+"
        )

    def replace(self, text: str) -> str:
        """The text with stand-ins, of the same length."""
        return self._replaced.sub(lambda match: match.group().translate(self), text)

    def __missing__(self, code_point: int) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        number = bisect_right(self._starts, chr(code_point)) - 1
        found = self[code_point] = self._stand_ins[number]
        return found
