"""Encoding a large file by several processes."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterator, Sequence, Set
from contextlib import suppress
from typing import Callable, NamedTuple

from .. import Encoding
from ..encodings.baselines import Baseline
from ..files.text import STDIN, check_mark, not_utf8
from ..unicode.surrogates import has_surrogates
from .counting import Part, cut_parts, most_workers
from .ids import encoded
from .input import STRICT, Reading
from .output import CommandError, shown_name
from .progress import FileProgress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..parallel.pool import Pool, Tell

#: Writes ids as bytes, without what is between two portions of ids.
Write = Callable[[Sequence[int]], bytes]

#: Seconds to wait for the next message of a worker.
_PATIENCE = 0.2


def encoded_by_workers(
    encoding: Encoding,
    path: str,
    allowed: Set[str],
    write: Write,
    jobs: int | None,
    reading: Reading = STRICT,
) -> Generator[bytes, None, None] | None:
    """Return the ids of a file as bytes, in portions; None if workers do not pay.

    Args:
        encoding: the encoding.
        path: the file.
        allowed: the names of special tokens that are tokens in it.
        write: writes ids; other processes import it by its name.
        jobs: the largest number of processes; None for as many as can run at the same time.
        reading: how the file is read.

    Raises:
        CommandError: the file cannot be read or is not UTF-8; the vocabulary has no token for a
            part of the text. It is raised after the portions before it.
    """
    # The words of a baseline are numbered as they come, in one process.
    if path == STDIN or isinstance(encoding, Baseline) or reading.encoding is not None:
        return None
    try:
        status = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    most = most_workers(status.st_size, jobs)
    if not most:
        return None
    parts = cut_parts([encoding], path, status.st_size, allowed)
    encoder = _PartEncoder(encoding, reading, allowed, write)
    return _portions(encoder, parts, most) if len(parts) > 1 else None


def _portions(
    encoder: _PartEncoder, parts: Sequence[tuple[Part, int]], most: int
) -> Generator[bytes, None, None]:
    """Yield the ids of the parts, each with its size, in order; those of a part may be empty."""
    from ..parallel.pool import Pool

    size = sum(size for _, size in parts)
    with (
        Pool(_Worker, (encoder,), min(most, len(parts)), forks=True) as pool,
        FileProgress(1, size, until_output=True) as progress,
    ):
        outcomes = _outcomes(pool, encoder, [part for part, _ in parts])
        for outcome, (_, size) in zip(outcomes, parts):
            if outcome.error:
                raise CommandError(outcome.error)
            yield outcome.ids
            progress.advance(size)


class _Outcome(NamedTuple):
    """The outcome of a part: its ids, or an error."""

    ids: bytes
    error: str = ""


def _outcomes(pool: Pool, encoder: _PartEncoder, parts: Sequence[Part]) -> Iterator[_Outcome]:
    """Yield the outcome of each part in order."""
    from ..parallel.pool import WorkerKilled

    waiting: dict[int, _Outcome] = {}
    given = 0
    ahead = 2 * pool.size  # few, since their ids wait for those of the parts before them
    for index, part in enumerate(parts):
        with suppress(WorkerKilled):
            while given < min(len(parts), index + ahead):
                for number, outcome in pool.give((given, parts[given])):
                    waiting[number] = outcome
                given += 1
            while index not in waiting and pool.is_busy:
                for number, outcome in pool.arrived(_PATIENCE):
                    waiting[number] = outcome
        if index not in waiting:  # no worker could be started, or the one that had it was killed
            waiting[index] = encoder.encode(part)
        yield waiting.pop(index)


class _PartEncoder:
    """An encoder of parts of files."""

    def __init__(
        self, encoding: Encoding, reading: Reading, allowed: Set[str], write: Write
    ) -> None:
        self._encoding = encoding
        self._reading = reading
        self._allowed = allowed
        self._write = write

    def encode(self, part: Part) -> _Outcome:
        """Return the ids of a part, or why there are none."""
        name = shown_name(part.path)
        try:
            with open(part.path, "rb") as file:
                file.seek(part.start)
                data = file.read(-1 if part.end is None else part.end - part.start)
        except OSError as error:
            return _Outcome(b"", f"{name}: {error.strerror or error}")
        try:
            if part.start == 0 and self._reading.errors != "replace":
                check_mark(data)
            text = data.decode("utf-8", self._reading.handler)
        except UnicodeDecodeError as error:
            return _Outcome(b"", f"{name}: {not_utf8(error, part.start)}")
        except ValueError as error:
            return _Outcome(b"", f"{name}: {error}")
        encoding = self._encoding.continued if part.start else self._encoding
        try:
            if has_surrogates(text):
                ids = list(encoded(encoding, [text], self._allowed, name))
            else:
                ids = encoding.encode(text, allowed_special=self._allowed, disallowed_special=())
        except CommandError as error:
            return _Outcome(b"", error.message)
        except ValueError as error:
            return _Outcome(b"", f"{name}: {encoding.name}: {error}")
        return _Outcome(self._write(ids))


class _Worker:
    """A worker that encodes parts."""

    def __init__(self, encoder: _PartEncoder) -> None:
        self._encoder = encoder

    def do(self, task: tuple[int, Part], tell: Tell) -> None:
        """Tell the index and the outcome of a part."""
        index, part = task
        tell((index, self._encoder.encode(part)))

    def finish(self, tell: Tell) -> None:
        pass
