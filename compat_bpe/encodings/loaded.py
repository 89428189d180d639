"""The encodings that have been loaded, by name, and who may know more names.

It stands below the classes, so that an encoding can be pickled by its name.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

#: The encodings that have been loaded. They are of the classes that stand above this.
ENCODINGS: dict[str, Any] = {}

#: Functions that find, by name, an encoding that this package does not ship; they raise
#: ``ValueError`` if they know none.
FINDERS: list[Callable[[str], Any]] = []


def find(name: str, make: Callable[[str], Any]) -> Any:
    """Return an encoding by its name, loaded or found now.

    Args:
        name: of the encoding.
        make: makes a shipped one; it raises ``KeyError`` if none has that name.

    Raises:
        ValueError: nobody knows the name.
    """
    found = ENCODINGS.get(name)
    if found is not None:
        return found
    try:
        made = make(name)
    except KeyError:
        for finder in FINDERS:
            return finder(name)
        raise ValueError(f"unknown encoding {name!r}") from None
    # Another thread may have been faster: then its object is the one.
    return ENCODINGS.setdefault(name, made)
