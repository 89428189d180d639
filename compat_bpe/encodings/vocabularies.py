"""The shipped vocabularies, each in a pack."""

from __future__ import annotations

import os
from functools import cache

from ..formats.pack import unpack


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
