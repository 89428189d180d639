"""The tokens of files, counted in constant memory."""

from __future__ import annotations

import codecs
from collections.abc import Generator, Sequence
from typing import BinaryIO, Callable, NamedTuple

from .. import Encoding
from ..files.text import BinaryError, check_beginning, not_utf8, open_bytes
from ..files.walk import Found
from .input_path import announce_wait
from .progress import FileProgress

#: Bytes below which workers are not worth it: they take as long to start.
WORTH_WORKERS = 3_000_000

#: Bytes of a file up to which it is read at once, and of a larger one that are read at a time.
_BLOCK = 1 << 18


class Counts(NamedTuple):
    """The counts of a text."""

    tokens: int
    bytes: int
    characters: int


class Outcome(NamedTuple):
    """The result of counting a file."""

    #: None if it was not counted.
    counts: Counts | None
    #: The reason why it was not.
    reason: str = ""
    #: True if it could be read: then it is binary, or not UTF-8.
    was_read: bool = True
    #: True if it was not counted because it is binary.
    is_binary: bool = False


class Part(NamedTuple):
    """A file or a part of one, from ``start`` to ``end`` in bytes; None is the file's end."""

    path: str
    start: int = 0
    end: int | None = None


class Counter:
    """Counts files with one encoding.

    Args:
        encoding: the encoding.
        allow_nul: take files with NUL bytes at their beginning as text, too.
        replace: count bytes that are not UTF-8 as U+FFFD.
    """

    def __init__(
        self, encoding: Encoding, *, allow_nul: bool = False, replace: bool = False
    ) -> None:
        self.encoding = encoding
        self._allow_nul = allow_nul
        self._errors = "replace" if replace else "strict"

    def count(self, part: Part, advance: Callable[[int], None] = lambda size: None) -> Outcome:
        """Count a file, standard input for ``-``, or a part of a file between two cut points.

        Args:
            part: the file, or the part.
            advance: called with the number of bytes each time some are counted.
        """
        try:
            with open_bytes(part.path) as file:
                if part.start:
                    file.seek(part.start)
                return Outcome(self._count(file, part, advance))
        except OSError as error:
            return Outcome(None, error.strerror or str(error), was_read=False)
        except ValueError as error:
            return Outcome(None, str(error), is_binary=isinstance(error, BinaryError))

    def count_text(self, text: str) -> Outcome:
        """Count a text that is no file."""
        return Outcome(Counts(self.encoding.count(text), len(text.encode()), len(text)))

    def _count(self, file: BinaryIO, part: Part, advance: Callable[[int], None]) -> Counts:
        left = None if part.end is None else part.end - part.start
        block = _read(file, left)
        if part.start == 0:
            self.check_beginning(block)
        if len(block) < _BLOCK or len(block) == left:
            try:
                text = block.decode("utf-8", self._errors)
            except UnicodeDecodeError as error:
                raise not_utf8(error, part.start) from None
            counts = Counts(self.encoding.count(text), len(block), len(text))
            advance(len(block))
            return counts
        return self._count_rest(block, file, part, advance)

    def check_beginning(self, data: bytes) -> None:
        """Raise ``ValueError`` if a file that begins so is not text."""
        check_beginning(
            data,
            allow_nul=self._allow_nul,
            any_bytes=self._errors == "replace",
            advice="--text takes it as text",
        )

    def _count_rest(
        self, block: bytes, file: BinaryIO, part: Part, advance: Callable[[int], None]
    ) -> Counts:
        """Count what was read of a file and what is still to be read."""
        from ..fit.stream import Cutter, portions  # only large files need it

        cutter = Cutter(self.encoding, frozenset())
        decoder = codecs.getincrementaldecoder("utf-8")(self._errors)
        tokens = size = characters = 0
        counted = told = 0  # characters and bytes
        while True:
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                # What it was given began with what was left of an earlier block.
                before = part.start + size + len(block) - len(error.object)
                raise not_utf8(error, before) from None
            size += len(block)
            characters += len(text)
            for portion in portions(text):
                certain = cutter.feed(portion)
                tokens += self.encoding.count(certain)
                counted += len(certain)
                # In bytes, as they are on average: what is held back is not done yet.
                done = size * counted // characters
                if done > told:
                    advance(done - told)
                    told = done
            if not block:
                tokens += self.encoding.count(cutter.finish())
                advance(size - told)
                return Counts(tokens, size, characters)
            block = _read(file, None if part.end is None else part.end - part.start - size)


def _read(file: BinaryIO, left: int | None) -> bytes:
    block = file.read(_BLOCK if left is None else min(_BLOCK, left))
    if block is None:
        raise BlockingIOError("it is in non-blocking mode and has nothing to read yet")
    return block


def count_files(
    counter: Counter,
    files: Sequence[Found],
    jobs: int | None,
    progress: FileProgress,
    announce: Callable[[str], None] = announce_wait,
) -> Generator[Outcome, None, None]:
    """Yield the outcome of each of some files, in their order; several processes count many bytes.

    Args:
        counter: counts them.
        files: the files.
        jobs: the number of processes at most; None for as many as can run at the same time.
        progress: is told of what is done.
        announce: is called before a path is opened where a read may wait.
    """

    def count_here(file: Found) -> Outcome:
        if file.problem:
            return Outcome(None, file.problem, was_read=False)
        if not file.is_regular:
            progress.clear()
            announce(file.path)
        return counter.count(Part(file.path), progress.advance)

    most = _most_workers(files, jobs)
    parts: list[list[tuple[Part, int]]] = []
    if most:
        from .parts import parts_of  # small inputs do not need it

        parts = [
            parts_of(counter, file.path, file.size or 0) if file.is_regular else []
            for file in files
        ]
    if sum(map(len, parts)) < 2:
        for file in files:
            outcome = count_here(file)
            progress.file_done()
            yield outcome
        return

    from .workers import Workers

    jobs_of = [(number, slot) for number, some in enumerate(parts) for slot in range(len(some))]
    outcomes: list[list[Outcome | None]] = [[None] * len(some) for some in parts]
    with Workers(counter, [part for some in parts for part in some], most) as workers:
        arriving = workers.outcomes(progress.advance)
        for number, file in enumerate(files):
            while None in outcomes[number]:
                arrived = next(arriving, None)
                if arrived is None:  # the worker that had it was killed
                    outcomes[number] = []
                else:
                    owner, slot = jobs_of[arrived[0]]
                    outcomes[owner][slot] = arrived[1]
                    if None not in outcomes[owner]:
                        progress.file_done()
            found = [outcome for outcome in outcomes[number] if outcome is not None]
            if not found:
                found = [count_here(file)]
                progress.file_done()
            outcomes[number].clear()
            yield _joined(found)


def _most_workers(files: Sequence[Found], jobs: int | None) -> int:
    """Return the number of workers at most; 0 if they are not worth it or cannot be started."""
    size = sum(file.size or 0 for file in files if file.is_regular)
    if jobs == 1 or size < WORTH_WORKERS:
        return 0
    from ..parallel.processes import may_start, processors  # small inputs do not need it

    most = jobs or processors()
    return most if most > 1 and may_start() else 0


def _joined(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of a file from those of its parts, in their order."""
    tokens = size = characters = 0
    for outcome in outcomes:
        if outcome.counts is None:  # the first is the one that reading it from the start meets
            return outcome
        tokens += outcome.counts.tokens
        size += outcome.counts.bytes
        characters += outcome.counts.characters
    return outcomes[0]._replace(counts=Counts(tokens, size, characters))
