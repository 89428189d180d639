"""Lines of a text file, which may be compressed."""

from __future__ import annotations

import io
from pathlib import Path

from ..files.compressed import DamagedError, open_gzip
from ..files.whole import SIZE_LIMIT, read_at_most, read_whole


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file of UTF-8, without the line feeds; it may be a gzip.

    Raises:
        OSError: the file cannot be read.
        ValueError: ``{file}: {place}: {reason}``. It is damaged, or too large.
    """
    return parse_lines(read_whole(path, SIZE_LIMIT), str(path))


def parse_lines(data: bytes, source: str) -> list[str]:
    """Return the lines of a file's content; ``source`` is its name in messages.

    Raises:
        ValueError: as in ``read_lines``.
    """
    if data.startswith(b"\x1f\x8b"):
        try:
            with open_gzip(io.BytesIO(data)) as unpacked:
                data = read_at_most(unpacked.read, SIZE_LIMIT + 1)
        except EOFError:
            raise ValueError(f"{source}: damaged gzip data: it is cut short") from None
        except DamagedError as error:
            raise ValueError(f"{source}: {error}") from None
        if len(data) > SIZE_LIMIT:
            raise ValueError(f"{source}: larger than {SIZE_LIMIT:,} bytes when it is unpacked")
    try:
        lines = data.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{source}: line {number}: not UTF-8: {error.reason}") from None
    if not lines[-1]:
        lines.pop()
    return lines
