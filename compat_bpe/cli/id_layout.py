"""Ids as the command writes them."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class IdLayout(NamedTuple):
    """A layout of ids: the text before, between and after them, if there are any."""

    before: str = ""
    between: str = " "
    after: str = "\n"
    #: The text if there are none.
    nothing: str = ""
    #: True for ids as bytes, little-endian uint32, without any text.
    is_packed: bool = False

    def write(self, ids: Sequence[int]) -> bytes:
        """Return some ids as bytes, without what is before and after them."""
        if not self.is_packed:
            return self.between.join(map(str, ids)).encode()
        packed = array("I", ids)
        if sys.byteorder == "big":
            packed.byteswap()
        return packed.tobytes()

    def joined(self, portions: Iterable[bytes]) -> Iterator[bytes]:
        """Yield portions of ids as ``write`` returns them, with what is around them.

        Empty portions are left out.

        >>> list(IdLayout("[", ", ", "]").joined([b"1, 2", b"", b"3"]))
        [b'[1, 2', b', 3', b']']
        """
        before, between, after = (
            ("", "", "") if self.is_packed else (self.before, self.between, self.after)
        )
        is_first = True
        for portion in portions:
            if portion:
                yield (before if is_first else between).encode() + portion
                is_first = False
        yield (self.nothing if is_first else after).encode()


LAYOUTS = {
    "spaces": IdLayout(),
    "lines": IdLayout(between="\n"),
    "json": IdLayout("[", ", ", "]\n", "[]\n"),
    "packed": IdLayout(is_packed=True),
}
