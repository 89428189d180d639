"""What has been loaded: encodings by name, the ranks of packs; and functions that find others.

The classes of encodings import this module, so an encoding can be pickled by its name.
"""

from __future__ import annotations

import os
from _thread import RLock  # a lock without the imports of threading
from functools import cache

from ..formats.pack import unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


#: The encodings that have been loaded, by name: objects of the classes that import this module.
ENCODINGS: dict[str, Any] = {}

#: Held while a shipped encoding is loaded, so that threads load it once.
LOCK = RLock()
if hasattr(os, "register_at_fork"):
    # A fork waits for the thread that holds it. In the child that thread is gone: it would never
    # release the lock, nor end the imports that it had begun.
    os.register_at_fork(
        before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release
    )

#: Functions that find, by name, an encoding that this package does not ship. They raise
#: ``ValueError`` for a name that they do not know.
FINDERS: list[Callable[[str], Any]] = []


def find(name: str, make: Callable[[str], Any]) -> Any:
    """Return an encoding by its name: a loaded one, else one that is made or found now.

    Args:
        name: the name of the encoding.
        make: makes a shipped encoding; it raises ``KeyError`` if none has that name.

    Raises:
        ValueError: no encoding has the name.
    """
    encoding = ENCODINGS.get(name)
    if encoding is not None:
        return encoding
    try:
        made = make(name)
    except KeyError:
        for finder in FINDERS:
            return finder(name)
        raise ValueError(f"unknown encoding {name!r}") from None
    # Another thread may have been faster; then its object is returned.
    return ENCODINGS.setdefault(name, made)


@cache
def load_ranks(pack: str) -> dict[bytes, int]:
    """Return the ranks of a shipped vocabulary, read once; its encodings share the dict.

    Raises:
        OSError: the package's own file is missing.
        ValueError: it is damaged.
    """
    name = f"packs/{pack}.pack"
    # Read by the package's loader, so that it also works from a zip or a frozen program.
    # pkgutil.get_data does the same, but takes longer to import than this takes to run.
    read = getattr(__spec__.loader, "get_data", None)
    if read is None:
        raise OSError(f"{__package__}/{name} cannot be read: its loader gives no data")
    data = read(os.path.join(os.path.dirname(__file__), "packs", f"{pack}.pack"))
    return unpack(data, name)
