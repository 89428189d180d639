"""Counting the tokens of files in constant memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, Callable, NamedTuple

from .. import Encoding
from ..files.text import BinaryError, check_beginning, not_utf8, open_bytes, recoded
from ..unicode.utf8 import StreamDecodeError, Utf8Decoder
from .input import reason_of

if TYPE_CHECKING:
    from ..fit.text_encoder import TextEncoder

#: The number of bytes that are read at a time; a smaller file is read at once.
_BLOCK = 1 << 18


class Counts(NamedTuple):
    """The counts of a text."""

    tokens: int
    bytes: int
    characters: int


class Outcome(NamedTuple):
    """The result of counting a file."""

    #: The counts; None if it was not counted.
    counts: Counts | None
    #: The reason why it was not counted.
    reason: str = ""
    #: True if it could be read; if it was not counted, it is binary or not UTF-8.
    was_read: bool = True
    #: True if it was not counted because it is binary.
    is_binary: bool = False
    #: What is to be said about the counts; empty if there is nothing.
    note: str = ""


class Part(NamedTuple):
    """A file or a part of one, from ``start`` to ``end`` in bytes; None is the file's end.

    A part that does not begin at 0 goes on after a cut point.
    """

    path: str
    start: int = 0
    end: int | None = None


class _UnknownError(ValueError):
    """The vocabulary has no token for a part of a text."""


class FileCounter:
    """A counter of files with one encoding.

    Args:
        encoding: the encoding.
        allow_nul: take files with NUL bytes at their beginning as text, too.
        replace: count bytes that are not UTF-8 as U+FFFD.
        decompress: count the text in compressed files, told by their names.
        notebooks: count only the sources of notebooks, told by their names.
        encoding_of_file: the encoding of the text in files; None for UTF-8.
    """

    def __init__(
        self,
        encoding: Encoding,
        *,
        allow_nul: bool = False,
        replace: bool = False,
        decompress: bool = False,
        notebooks: bool = False,
        encoding_of_file: str | None = None,
    ) -> None:
        self.encoding = encoding
        self._decompress = decompress
        self._notebooks = notebooks
        self._encoding_of_file = encoding_of_file
        self._allow_nul = allow_nul
        self._errors = "replace" if replace else "strict"

    def count(self, part: Part, advance: Callable[[int], None] = lambda size: None) -> Outcome:
        """Count a file, standard input for ``-``, or a part of a file between two cut points.

        Args:
            part: the file, or the part.
            advance: called with the number of bytes each time some are counted; of a compressed
                file, with that of compressed ones.
        """
        try:
            if self._decompresses(part.path):
                return self._count_decompressed(part, advance)
            with open_bytes(part.path) as file:
                if part.start:
                    file.seek(part.start)
                if self._encoding_of_file is None:
                    return self._count_opened(file, part, advance)
                from ..files.compressed import told  # few counts need it

                return self._count_opened(
                    self._recoded(told(file, advance)), part, lambda size: None
                )
        except OSError as error:
            return Outcome(None, reason_of(error, part.path), was_read=False)
        except (ImportError, _UnknownError) as error:
            return Outcome(None, str(error), was_read=False)
        except ValueError as error:
            return Outcome(None, str(error), is_binary=isinstance(error, BinaryError))

    def takes_parts(self, path: str) -> bool:
        """Return False if a file must be read from its start, since its bytes are not its text."""
        return self._encoding_of_file is None and not (
            self._decompresses(path) or self._takes_source(path)
        )

    def _recoded(self, file: Any) -> Any:
        if self._encoding_of_file is None:
            return file
        return recoded(file, self._encoding_of_file, replace=self._errors == "replace")

    def _decompresses(self, path: str) -> bool:
        """Return True if a file is decompressed."""
        if not self._decompress:
            return False
        from ..files.compressed import is_compressed  # also for few

        return is_compressed(path)

    def _takes_source(self, path: str) -> bool:
        if not self._notebooks:
            return False
        from ..files.notebook import is_notebook  # few counts need it

        if self._decompresses(path):
            from ..files.compressed import uncompressed_name

            path = uncompressed_name(path)
        return is_notebook(path)

    def _count_opened(self, file: BinaryIO, part: Part, advance: Callable[[int], None]) -> Outcome:
        if self._takes_source(part.path):
            return self._count_source(file, part, advance)
        return Outcome(self._count(file, part, advance))

    def _count_source(self, file: BinaryIO, part: Part, advance: Callable[[int], None]) -> Outcome:
        """Count the sources of a notebook; what is not one is counted as it is, with a note."""
        from ..files.notebook import LARGEST_NOTEBOOK, NotebookError, notebook_source
        from ..files.whole import read_at_most

        data = read_at_most(file.read, LARGEST_NOTEBOOK + 1)
        self.check_beginning(data)
        if len(data) > LARGEST_NOTEBOOK:
            note = f"larger than {LARGEST_NOTEBOOK:,} bytes; counted as it is"
            return Outcome(self._count_rest(data, file, part, advance), note=note)
        text = self._decoded(data)
        try:
            source = notebook_source(text)
        except NotebookError as error:
            counts = Counts(self._tokens(self.encoding, text), len(data), len(text))
            outcome = Outcome(counts, note=f"not a notebook: {error}; counted as it is")
        else:
            tokens = self._tokens(self.encoding, source)
            outcome = Outcome(Counts(tokens, len(source.encode()), len(source)))
        advance(len(data))
        return outcome

    def count_text(self, text: str) -> Outcome:
        """Count a text that is no file."""
        try:
            return Outcome(Counts(self._tokens(self.encoding, text), len(text.encode()), len(text)))
        except _UnknownError as error:
            return Outcome(None, str(error), was_read=False)

    def _tokens(self, encoding: TextEncoder, text: str) -> int:
        try:
            return encoding.count(text)
        except ValueError as error:
            raise _UnknownError(f"{self.encoding.name}: {error}") from None

    def _count(self, file: BinaryIO, part: Part, advance: Callable[[int], None]) -> Counts:
        left = None if part.end is None else part.end - part.start
        block = _read(file, left)
        if part.start == 0:
            self.check_beginning(block)
        if len(block) < _BLOCK or len(block) == left:
            text = self._decoded(block, part.start)
            counts = Counts(self._tokens(self._encoding_of(part), text), len(block), len(text))
            advance(len(block))
            return counts
        return self._count_rest(block, file, part, advance)

    def _decoded(self, data: bytes, before: int = 0) -> str:
        """Return bytes as text; ``before`` is the number of those before them in the file."""
        try:
            return data.decode("utf-8", self._errors)
        except UnicodeDecodeError as error:
            raise not_utf8(error, before) from None

    def _count_decompressed(self, part: Part, advance: Callable[[int], None]) -> Outcome:
        from ..files.compressed import DamagedError, opened  # few counts need it

        try:
            with opened(part.path, advance) as file:
                return self._count_opened(self._recoded(file), part, lambda size: None)
        except DamagedError as error:
            return Outcome(None, str(error), was_read=False)  # never passed over, as binary ones

    def _encoding_of(self, part: Part) -> Encoding:
        return self.encoding.continued if part.start else self.encoding

    def check_beginning(self, data: bytes) -> None:
        """Raise ``ValueError`` if a file with this beginning is not text."""
        check_beginning(
            data,
            allow_nul=self._allow_nul,
            any_bytes=self._errors == "replace",
            advice="--text takes it as text",
        )

    def _count_rest(
        self, block: bytes, file: BinaryIO, part: Part, advance: Callable[[int], None]
    ) -> Counts:
        """Count a file from the block that was read to its end, or to that of the part."""
        from ..fit.stream import Cutter, portions  # only large files need it

        cutter = Cutter(self._encoding_of(part), frozenset())
        decoder = Utf8Decoder(self._errors)
        tokens = size = characters = 0
        counted = told = 0  # characters and bytes
        while True:
            try:
                text = decoder.feed(block) if block else decoder.finish()
            except StreamDecodeError as error:
                raise not_utf8(error, part.start + error.offset - error.start) from None
            size += len(block)
            characters += len(text)
            for portion in portions(text):
                certain = cutter.feed(portion)
                tokens += self._tokens(cutter.encoding, certain)
                counted += len(certain)
                # Estimated from the average size of a character: text held back is not done yet.
                done = size * counted // characters
                if done > told:
                    advance(done - told)
                    told = done
            if not block:
                rest = cutter.finish()
                tokens += self._tokens(cutter.encoding, rest)
                advance(size - told)
                return Counts(tokens, size, characters)
            block = _read(file, None if part.end is None else part.end - part.start - size)


def _read(file: BinaryIO, left: int | None) -> bytes:
    block = file.read(_BLOCK if left is None else min(_BLOCK, left))
    if block is None:
        raise BlockingIOError("it is in non-blocking mode and has nothing to read yet")
    return block
