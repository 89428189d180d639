"""Files with a byte changed, or cut short."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from hypothesis import strategies as st

import compat_bpe

#: One bit each: a digit or a letter becomes its neighbour, a letter changes its case, a byte is no
#: longer ASCII.
MASKS = (0x01, 0x20, 0x80)


#: The bytes from one damage to the next: a prime, so that each field is hit somewhere.
_STEP = 7


def spread_damage(data: bytes) -> Iterator[bytes]:
    """Beginnings of a file, and the file with a byte changed by a mask in turn, all over it."""
    for end in range(0, len(data), _STEP):
        yield data[:end]
    for place in range(0, len(data), _STEP):
        yield flipped(data, place, MASKS[place % len(MASKS)])


def some_damage(data: bytes) -> st.SearchStrategy[bytes]:
    """Some of these."""
    places = st.integers(0, len(data) - 1)
    flips = st.builds(flipped, st.just(data), places, st.sampled_from(MASKS))
    return flips | places.map(lambda end: data[:end])


def flipped(data: bytes, place: int, mask: int) -> bytes:
    return data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]


def check(path: Path, data: bytes, is_right: Callable[[compat_bpe.Encoding], bool]) -> None:
    """A damaged file is refused by name, or what is loaded is right."""
    path.write_bytes(data)
    try:
        enc = compat_bpe.load(path)
    except ValueError as error:
        assert str(error).startswith(f"{path}: ")  # noqa: PT017
    else:
        assert is_right(enc), data
