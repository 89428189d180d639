"""The tokens of files, counted in constant memory."""

from __future__ import annotations

import codecs
from collections.abc import Generator, Sequence
from typing import BinaryIO, Callable, NamedTuple

from .. import Encoding
from ..files.text import check_beginning, not_utf8, open_bytes
from ..files.walk import Found
from ..parallel.processes import processors
from .progress import FileProgress

#: Bytes below which workers are not worth it: they take as long to start.
WORTH_WORKERS = 3_000_000

#: Bytes of a file up to which it is read at once, and of a larger one that are read at a time.
_BLOCK = 1 << 20


class Counts(NamedTuple):
    """What is counted in a text."""

    tokens: int
    bytes: int
    characters: int


class Outcome(NamedTuple):
    """What came of a file."""

    #: None if it was not counted.
    counts: Counts | None
    #: Why it was not.
    reason: str = ""
    #: Whether it could be read: then it is binary, or not UTF-8.
    was_read: bool = True


class Counter:
    """Counts files with one encoding.

    Args:
        encoding: what to count with.
        allow_nul: whether files with NUL bytes at their beginning are text, too.
        replace: whether bytes that are not UTF-8 are counted, as U+FFFD.
    """

    def __init__(
        self, encoding: Encoding, *, allow_nul: bool = False, replace: bool = False
    ) -> None:
        self._encoding = encoding
        self._allow_nul = allow_nul
        self._errors = "replace" if replace else "strict"

    def count(self, path: str, advance: Callable[[int], None] = lambda size: None) -> Outcome:
        """Count a file, or standard input for ``-``.

        Args:
            path: its name.
            advance: called with the number of bytes each time some are counted.
        """
        try:
            with open_bytes(path) as file:
                return Outcome(self._count(file, advance))
        except OSError as error:
            return Outcome(None, error.strerror or str(error), was_read=False)
        except ValueError as error:
            return Outcome(None, str(error))

    def _count(self, file: BinaryIO, advance: Callable[[int], None]) -> Counts:
        block = _read(file)
        check_beginning(
            block,
            allow_nul=self._allow_nul,
            any_bytes=self._errors == "replace",
            advice="--text counts it all the same",
        )
        if len(block) < _BLOCK:
            try:
                text = block.decode("utf-8", self._errors)
            except UnicodeDecodeError as error:
                raise not_utf8(error) from None
            counts = Counts(self._encoding.count(text), len(block), len(text))
            advance(len(block))
            return counts
        return self._count_rest(block, file, advance)

    def _count_rest(self, block: bytes, file: BinaryIO, advance: Callable[[int], None]) -> Counts:
        """Count what was read of a file and what is still to be read."""
        from ..fit.stream import StreamCounter  # only large files need it

        counter = StreamCounter(self._encoding)
        decoder = codecs.getincrementaldecoder("utf-8")(self._errors)
        size = characters = 0
        while True:
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                # What it was given began with what was left of an earlier block.
                raise not_utf8(error, size + len(block) - len(error.object)) from None
            counter.feed(text)
            size += len(block)
            characters += len(text)
            if not block:
                return Counts(counter.finish(), size, characters)
            advance(len(block))
            block = _read(file)


def _read(file: BinaryIO) -> bytes:
    block = file.read(_BLOCK)
    if block is None:
        raise BlockingIOError("it is in non-blocking mode and has nothing to read yet")
    return block


def count_files(
    counter: Counter, files: Sequence[Found], jobs: int | None, progress: FileProgress
) -> Generator[Outcome, None, None]:
    """What comes of each of some files, in their order; several processes count many.

    Args:
        counter: what counts them.
        files: the files.
        jobs: how many processes at most; None for as many as can run at the same time.
        progress: what is told of it.
    """

    def count_here(file: Found) -> Outcome:
        if file.problem:
            return Outcome(None, file.problem, was_read=False)
        return counter.count(file.path, progress.advance)

    shared = [
        (number, file.path, file.size or 0) for number, file in enumerate(files) if file.is_regular
    ]
    if jobs == 1 or len(shared) < 2 or sum(size for _, _, size in shared) < WORTH_WORKERS:
        for file in files:
            outcome = count_here(file)
            progress.file_done()
            yield outcome
        return

    from .workers import Workers  # small inputs need no others

    with Workers(counter, shared, jobs or processors()) as workers:
        arriving = workers.outcomes(progress.advance)
        arrived: dict[int, Outcome] = {}
        for number, file in enumerate(files):
            if not file.is_regular:
                arrived[number] = count_here(file)
                progress.file_done()
            while number not in arrived:
                # Whose worker was killed is counted here.
                key, outcome = next(arriving, None) or (number, count_here(file))
                arrived[key] = outcome
                progress.file_done()
            yield arrived.pop(number)
