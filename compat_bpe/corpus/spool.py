"""Parts of a document that wait until something is known of all of it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from .part import DocumentPart

#: Characters that are held in memory; what comes after these waits in a temporary file.
_IN_MEMORY = 1 << 23


class Spool:
    """Parts that are held back, to be used in a ``with`` block.

    After some megabytes, they go into a temporary file, in the folder that ``tempfile`` chooses
    (``TMPDIR``): memory stays bounded, and the disk has to have room. Most documents are short:
    ``tempfile.SpooledTemporaryFile`` would have each of their parts encoded and decoded.
    """

    def __init__(self) -> None:
        self._parts: list[DocumentPart] = []
        self._characters = 0
        # Parts without their text, and how many bytes of the file that has.
        self._filed: list[tuple[DocumentPart, int]] = []
        self._file: BinaryIO | None = None

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def add(self, part: DocumentPart) -> None:
        """Hold one more part.

        Raises:
            OSError: there is no room for it; its ``filename`` is the folder.
        """
        if self._file is None and self._characters + len(part.text) <= _IN_MEMORY:
            self._characters += len(part.text)
            self._parts.append(part)
            return
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile()  # noqa: SIM115 - `clear` closes it
            size = self._file.write(part.text.encode())
            self._file.flush()  # so that no other call can fail
        except OSError as error:
            error.filename = tempfile.gettempdir()
            raise
        self._filed.append((part._replace(text=""), size))

    def take(self) -> Iterator[DocumentPart]:
        """Yield the parts that are held, in their order; then drop them."""
        yield from self._parts
        if self._file is not None:
            self._file.seek(0)
            for part, size in self._filed:
                yield part._replace(text=self._file.read(size).decode())
        self.clear()

    def clear(self) -> None:
        """Drop all parts that are held."""
        self._parts.clear()
        self._characters = 0
        self._filed.clear()
        if self._file is not None:
            with suppress(OSError):  # of the write that failed
                self._file.close()
            self._file = None
