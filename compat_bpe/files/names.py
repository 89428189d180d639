"""The parts of a path."""

from __future__ import annotations

import os
import re

#: The names of devices, which Windows takes any file of that name for, whatever its ending; and
#: characters that a name cannot have: a colon names a part of a file that no listing shows.
_NOT_ON_WINDOWS = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[1-9¹²³])\s*(?:\..*)?"
    r'|.*[<>:"/\\|?*\x00-\x1f].*|.*[. ]',
    re.IGNORECASE | re.DOTALL,
)


def parts_of_path(path: str) -> list[str]:
    """Return the names in a path, in order; a slash at its beginning or end gives an empty one.

    On Windows a path may be typed with slashes and go on with backslashes, as a search adds them.

    >>> parts_of_path("corpus/zh/a.txt")
    ['corpus', 'zh', 'a.txt']
    """
    if os.altsep is not None:
        path = path.replace(os.altsep, os.sep)
    return path.split(os.sep)


def is_name_on_windows(name: str) -> bool:
    """Return True if Windows makes a file of just this name.

    The rules are those of Microsoft's page "Naming Files, Paths, and Namespaces".

    >>> [name for name in ("a.b", "nul.txt", "a:b", "a.", "console") if is_name_on_windows(name)]
    ['a.b', 'console']
    """
    return _NOT_ON_WINDOWS.fullmatch(name) is None


def path_of_uri(uri_path: str) -> str:
    """Return the path of a file from that of a ``file:`` URI, its escapes undone.

    On Windows a URI has a slash before the drive.

    >>> path_of_uri("/home/me/a b.py")
    '/home/me/a b.py'
    """
    if os.altsep is not None and re.match("/[A-Za-z]:", uri_path):
        return uri_path[1:]
    return uri_path
