"""The vocabularies that ship, each in a pack."""

from __future__ import annotations

import pkgutil
from functools import cache

from ..formats.pack import unpack


@cache
def load_ranks(pack: str) -> dict[bytes, int]:
    """The ranks of a shipped vocabulary, read once; encodings that share it share the dict.

    Raises:
        OSError: the package's own file is missing.
        ValueError: it is damaged.
    """
    name = f"packs/{pack}.pack"
    # Through the package's loader, so that it also works from a zip or a frozen program.
    data = pkgutil.get_data(__package__, name)
    if data is None:
        raise OSError(f"{__package__}/{name} cannot be read: its loader gives no data")
    return unpack(data, name)
