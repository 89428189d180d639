"""A file system that cannot be written to, with the package, the home and the current folder."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator

from .kit import Kit, PlaceError, Row, Word, need, output

_MOUNT = """
mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" || exit 1
if touch "$0/file" 2>/dev/null; then echo "it can be written to" >&2; exit 1; fi
cd "$0" && exec "$@"
"""


def rows(kit: Kit) -> Iterator[Row]:
    """Yield the row."""
    need("unshare", "makes a view of the files of its own")
    folder = kit.folder("read-only")
    shutil.copytree(kit.site, folder, dirs_exist_ok=True)
    mounted = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--map-root-user"])]
    try:
        output([*mounted, "sh", "-c", _MOUNT, folder, "true"], 60)
    except PlaceError as error:
        raise PlaceError(f"no file system can be made read-only here: {error}") from None
    python: list[Word] = [*mounted, "sh", "-c", _MOUNT, folder, sys.executable]
    ran = kit.run(python, path=[folder], environment=kit.plain(HOME=str(folder)))
    yield Row("a read-only file system", ran.python.split(",")[0], f"{ran.answers:,} answers")
