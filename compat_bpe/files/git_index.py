"""The files that git tracks, from the index of a repository, without running git.

The index is read as git writes it: versions 2 to 4, SHA-1 and SHA-256, and split in two files. Of a
sparse index, a folder that is to be absent from the working tree has no tracked files.
"""

from __future__ import annotations

import errno
import os
import struct
from bisect import bisect_left

from .git_config import Settings
from .whole import SIZE_LIMIT, read_gits

#: The largest index, and the largest sum of the names in it, in bytes.
LARGEST = SIZE_LIMIT

#: The bytes of an entry before the id of its content; the last but one and two say what it is.
_STATUS = 40
_MODE = 26
#: The high byte of a submodule's mode. Its name gets a slash, so that it is found as a folder.
_SUBMODULE = 0xE0


class TrackedFiles:
    """The files that git tracks in a working tree; the index is read when it is first needed.

    Args:
        top: the absolute path of the top of the working tree.
        git_directory: the directory with its index.
        settings: the settings of its repository.
    """

    def __init__(self, top: str, git_directory: str, settings: Settings) -> None:
        self.ignores_case = settings.ignores_case
        self._skip = len(top.rstrip(os.sep)) + 1
        self._git_directory = git_directory
        self._hash_size = settings.hash_size
        self._names: list[bytes] | None = None

    def has(self, path: str, is_directory: bool) -> bool:
        """Return True if git tracks a file, or a file in a directory.

        Raises:
            OSError: the index cannot be read. It is raised once; then no file is tracked.
        """
        if self._names is None:
            self._names = []
            names = read_index(self._git_directory, self._hash_size)
            self._names = sorted(map(bytes.lower, names)) if self.ignores_case else names
        name = os.fsencode(path[self._skip :].replace(os.sep, "/"))
        if self.ignores_case:
            name = name.lower()
        if is_directory:
            name += b"/"
        at = bisect_left(self._names, name)
        found = self._names[at : at + 1]
        return bool(found) and (found[0].startswith(name) if is_directory else found[0] == name)


def read_index(git_directory: str, hash_size: int) -> list[bytes]:
    """Return the sorted names in an index; those of submodules end in a slash.

    Args:
        git_directory: the directory of the index. If there is none, nothing is tracked.
        hash_size: the bytes of an object's id.

    Raises:
        OSError: the index cannot be read, is damaged, or is larger than ``LARGEST``.
    """
    path = os.path.join(git_directory, "index")
    try:
        data = read_gits(path, LARGEST)
        if data is None:
            return []
        names, at = _entries(data, hash_size)
        link = _link(data, at, hash_size)
        if any(link[:hash_size]):
            shared = os.path.join(git_directory, f"sharedindex.{link[:hash_size].hex()}")
            base, _ = _entries(read_gits(shared, LARGEST) or b"", hash_size)
            names = _joined(base, names, link[hash_size:])
    except (ValueError, IndexError, struct.error):
        reason = "Damaged, or of a kind unknown here; git status says more"
        raise OSError(errno.EINVAL, reason, path) from None
    return sorted(set(names))


def _entries(data: bytes, hash_size: int) -> tuple[list[bytes], int]:
    """Return the names of an index's entries, and the place behind these."""
    signature, version, number = struct.unpack_from(">4sLL", data)
    if signature != b"DIRC" or not 2 <= version <= 4:
        raise ValueError("not an index")
    names: list[bytes] = []
    at = 12
    name = b""
    size = 0
    for _ in range(number):
        start = at + _STATUS + hash_size
        # Extended flags are behind the usual ones.
        start += 4 if version > 2 and data[start] & 0x40 else 2
        kept = 0
        if version == 4:  # a name begins as the one before it
            removed, start = _varint(data, start)
            kept = len(name) - removed
            if kept < 0:
                raise ValueError("too much is removed")
        end = data.index(b"\0", start)
        name = name[:kept] + data[start:end]
        size += len(name)
        if size > LARGEST:
            raise ValueError("the names are too long")
        names.append(name + b"/" if data[at + _MODE] == _SUBMODULE else name)
        at = end + 1 if version == 4 else at + (end - at + 8) // 8 * 8
    return names, at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number, as git writes it into index and packs, and the place behind it."""
    number = -1
    while True:
        byte = data[at]
        at += 1
        number = (number + 1) << 7 | byte & 0x7F
        if byte < 0x80:
            return number, at
        if number > LARGEST:
            raise ValueError("the number is too large")


def _link(data: bytes, at: int, hash_size: int) -> bytes:
    """Return the extension of a split index: the id of the shared one, bitmaps; or nothing."""
    link = b""
    while at < len(data) - hash_size:
        signature, size = struct.unpack_from(">4sL", data, at)
        at += 8 + size
        if at > len(data) - hash_size:
            raise ValueError("an extension is cut")
        if signature == b"link" and size >= hash_size:
            link = data[at - size : at]
        elif not b"A" <= signature[:1] <= b"Z" and signature != b"sdir":
            raise ValueError("an extension without which nothing is right")
    return link


def _joined(base: list[bytes], names: list[bytes], bitmaps: bytes) -> list[bytes]:
    """Return the names of a split index.

    Args:
        base: the names in the shared index.
        names: those in the other one; one that replaces another is empty but for the slash.
        bitmaps: which names of ``base`` are deleted, and which are replaced; or nothing.
    """
    if bitmaps:
        deleted, at = _bitmap(bitmaps, 0, len(base))
        replaced, _ = _bitmap(bitmaps, at, len(base))
        for place, ending in zip(replaced, (name for name in names if name in (b"", b"/"))):
            base[place] = base[place].rstrip(b"/") + ending
        for place in deleted:
            base[place] = b""
    return [name for name in (*base, *names) if name.strip(b"/")]


def _bitmap(data: bytes, at: int, most: int) -> tuple[list[int], int]:
    """Return the places of ones in a bitmap compressed as EWAH, and the place behind it.

    A marker says how many words of equal bits follow, and how many words as they are.
    """
    _, words = struct.unpack_from(">LL", data, at)
    at += 8
    end = at + 8 * words
    places: list[int] = []
    place = 0
    while at < end:
        (marker,) = struct.unpack_from(">Q", data, at)
        at += 8
        equal = 64 * (marker >> 1 & 0xFFFFFFFF)
        if marker & 1:
            if place + equal > most:
                raise ValueError("a bit is beyond the end")
            places += range(place, place + equal)
        place += equal
        for _ in range(marker >> 33):
            (word,) = struct.unpack_from(">Q", data, at)
            at += 8
            places += [place + bit for bit in range(64) if word >> bit & 1]
            place += 64
    if at > end or (places and places[-1] >= most):
        raise ValueError("a bit is beyond the end")
    return places, end + 4
