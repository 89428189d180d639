"""Cutting a large file into parts that can be counted or encoded in parallel."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import BinaryIO

from .. import Encoding
from ..unicode.utf8 import Utf8Decoder
from .counting import FileCounter, Part

#: The size of a part in bytes: small enough that all workers end at about the same time.
_SIZE = 1_000_000
#: Numbers of bytes in which a cut point is looked for, one after the other: mostly there is a cut
#: point every few words.
_WINDOWS = (1 << 10, 1 << 14)


def parts_of(counter: FileCounter, path: str, size: int) -> list[tuple[Part, int]]:
    """Return the parts of a file, in order, each with its size in bytes; joined, they are the file.

    It is the whole file if that is compressed, a notebook whose source is counted, not UTF-8, is no
    text or cannot be read: counting it says so.

    Args:
        counter: the counter for the parts.
        path: the path of a regular file.
        size: its size in bytes.
    """
    if not counter.takes_parts(path):
        return [(Part(path), size)]
    if size >= 2 * _SIZE:
        try:
            with open(path, "rb") as file:
                counter.check_beginning(file.read(1 << 13))
        except (OSError, ValueError):
            return [(Part(path), size)]
    return cut_parts(counter.encodings, path, size, frozenset())


def cut_parts(
    encodings: Sequence[Encoding], path: str, size: int, names: Set[str]
) -> list[tuple[Part, int]]:
    """Return the parts of a file, in order, each with its size in bytes; joined, they are the file.

    Parts are cut at cut points of all encodings, so the tokens of the file are those of its parts.
    If none is found at once, a part is larger; in the worst case it is the whole file.

    Args:
        encodings: the encodings.
        path: the path of a regular file.
        size: its size in bytes.
        names: special tokens that may be tokens in the file.
    """
    places = [0]
    if size >= 2 * _SIZE:
        try:
            with open(path, "rb") as file:
                for start in range(_SIZE, size - _SIZE // 2, _SIZE):
                    place = cut_after(encodings, file, start, names)
                    if place is not None and places[-1] < place < size:
                        places.append(place)
        except OSError:
            places = [0]
    # The last part goes to the end of the file, even if that has grown since.
    ends: list[int | None] = [*places[1:], None]
    return [
        (Part(path, start, end), (size if end is None else end) - start)
        for start, end in zip(places, ends)
    ]


def cut_after(
    encodings: Sequence[Encoding], file: BinaryIO, start: int, names: Set[str]
) -> int | None:
    """Return the offset in bytes of a cut point of all encodings soon after ``start``, or None."""
    for window in _WINDOWS:
        file.seek(start)
        data = file.read(window)
        # A character begins at the first byte that does not continue one, whatever is before it.
        skipped = next((index for index, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)
        try:
            text = Utf8Decoder("strict").feed(data[skipped:])
        except UnicodeDecodeError:
            return None
        cut = _common_cut_point(encodings, text, names)
        if cut:
            return start + skipped + len(text[:cut].encode())
    return None


def _common_cut_point(encodings: Sequence[Encoding], text: str, names: Set[str]) -> int | None:
    """Return the first cut point that all encodings have; a fine one if there is no other."""
    first, *others = (encoding.core.next_cut_point for encoding in encodings)
    for fine in (False, True):
        cut = first(text, names=names, fine=fine)
        while cut is not None:
            # The two characters beside a position alone decide if it is a cut point.
            beside = text[cut - 1 : cut + 1]
            if all(other(beside, names=names, fine=True) for other in others):
                return cut
            cut = first(text, cut, names=names, fine=fine)
    return None
