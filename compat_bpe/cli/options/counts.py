"""The option that gives a command chunks that have been counted before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from hashlib import sha256
from typing import Any

import click

from ...corpus.chunk_counts import NotAChunkError
from ...corpus.counts_file import CountsReader, Row, escape
from ...train.trainer import AnyTrainer
from ..input import INPUT_PATH, announce_wait
from ..output import CommandError, failure, shown_name
from ..progress import FileProgress


class CountedInput:
    """Files of counts as named on the command line.

    Args:
        paths: the files, or folders of them.

    Raises:
        CommandError: the name of a file tells no format, or a folder has no file of counts.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self._progress: FileProgress | None = None
        try:
            self._reader = CountsReader(paths, self._advance)
        except (OSError, ValueError) as error:
            raise failure(error, paths[0]) from None
        self._hash = sha256()

    @property
    def files(self) -> list[str]:
        """The files that are read."""
        return self._reader.files

    @property
    def total(self) -> int:
        """The sum of all counts that were read."""
        return self._reader.total

    def as_dict(self) -> dict[str, Any]:
        """Return what was read, for a JSON file; complete when all rows have been taken.

        ``sha256`` is the digest of the rows as lines of a TSV file with groups, as they came.
        """
        reader = self._reader
        return {
            "paths": list(self.paths),
            "rows": reader.rows,
            "total": reader.total,
            "sha256": self._hash.hexdigest(),
        }

    def rows(self) -> Iterator[Row]:
        """Yield all rows, with a progress bar if standard error is a terminal.

        Raises:
            CommandError: a file cannot be read, or a row is wrong.
        """
        update = self._hash.update
        with FileProgress(len(self.files), self._reader.size) as self._progress:
            for path in self.files:
                announce_wait(path)
            try:
                for row in self._reader.read():
                    chunk, count, group = row
                    update(f"{escape(chunk)}\t{count}\t{escape(group)}\n".encode())
                    yield row
            except (OSError, ValueError) as error:
                raise failure(error, self._reader.place) from None
            except ImportError as error:
                raise CommandError(str(error)) from None

    def feed(self, trainer: AnyTrainer) -> None:
        """Give all rows to a trainer; nothing if there are no files.

        Raises:
            CommandError: as in ``rows``; or a row's text is no chunk.
            ValueError: the trainer takes no counts.
        """
        if not self.paths:
            return
        try:
            trainer.feed_counts(self.rows())
        except NotAChunkError as error:
            raise CommandError(f"{shown_name(self._reader.place)}: {error}") from None

    def _advance(self, size: int) -> None:
        if self._progress is not None:
            self._progress.advance(size)


def counts_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``counted``, a ``CountedInput``."""

    @wraps(function)
    def with_counts(counts: tuple[str, ...], **options: Any) -> Any:
        return function(counted=CountedInput(counts), **options)

    return click.option(
        "--counts",
        metavar="FILE",
        multiple=True,
        type=INPUT_PATH,
        help="Read chunks and their counts from FILE: .tsv, .jsonl (compressed or not) or "
        ".parquet, or a directory of such files. May be repeated.",
    )(with_counts)
