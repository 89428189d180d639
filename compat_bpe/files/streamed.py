"""A file that is written piece by piece, and appears under its name when it is complete."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, cast

from .replace import beside, errors_named, is_special, open_part, put_in_place

#: The level of compression: a higher one takes several times as long for a few percent.
_LEVEL = 6

_GZIP = ".gz"


@contextmanager
def written_whole(path: str) -> Iterator[BinaryIO]:
    """Open a file for writing; it is put in place at the end of the ``with`` block.

    On an error nothing is left behind, and an earlier file stays as it was. Its mode is kept. A
    pipe or a device is written to directly. If the name ends in ``.gz``, the content is
    compressed, without a name or a time: the same content gives the same bytes.

    Args:
        path: the path of the file; a link is followed.

    Raises:
        OSError: the file cannot be written; its ``filename`` is the path.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(os.path.join(folder, "a")) as file:
    ...         _ = file.write(b"abc")
    ...     os.listdir(folder)
    ['a']
    """
    target = os.path.realpath(path)
    if is_special(path):
        with open(path, "wb") as stream, _packed(stream, path) as file:
            yield file
        return
    part = beside(target, "tmp")
    try:
        try:
            with open_part(part, target) as whole, _packed(whole, path) as file:
                yield file
        except OSError as error:
            if error.filename is None or error.filename == part:
                error.filename = path
            raise
        with errors_named(path):
            put_in_place([(part, target)])
    finally:
        with suppress(OSError):  # mostly it is in place, and gone from here
            os.remove(part)


@contextmanager
def _packed(file: BinaryIO, path: str) -> Iterator[BinaryIO]:
    """Compress what is written to a file, if its name says so."""
    if not path.lower().endswith(_GZIP):
        yield file
    else:
        # The time 0 means none.
        with gzip.GzipFile("", "wb", _LEVEL, file, 0) as packed:
            yield cast(BinaryIO, packed)
