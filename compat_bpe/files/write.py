"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def write_files(files: Mapping[Path, bytes]) -> None:
    """Replace files, once all of them are on the disk under other names."""
    temporary = {path: path.with_name(f"{path.name}.{os.getpid()}.tmp") for path in files}
    try:
        for path, data in files.items():
            temporary[path].write_bytes(data)
        for path, written in temporary.items():
            written.replace(path)
    finally:
        for written in temporary.values():
            written.unlink(missing_ok=True)
