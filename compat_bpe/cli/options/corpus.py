"""The argument and the options that give a command its corpus: texts, counts, preparation."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Callable, NamedTuple

import click

from ...corpus.chunk_counts import NotAChunkError
from ...corpus.counts_file import CountsReader, Row, escape
from ...corpus.documents import (
    CorpusFile,
    DocumentPart,
    Errors,
    group_of,
    is_json_lines,
    read_corpus,
)
from ...corpus.prepare import Preparation, read_rules
from ...corpus.tables import is_table
from ...files.text import STDIN
from ...files.walk import Found, Walk
from ..app import gathered, option
from ..input import INPUT_PATH, announce_wait, paths_argument, reason_of, walk_options
from ..output import (
    CommandError,
    command_errors,
    complaint,
    failure,
    plural,
    shown_name,
    skipped_note,
    write_message,
)
from ..progress import FileProgress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...train.trainer import AnyTrainer

#: The most damaged lines of one file that --verbose names; the others are only counted.
_NAMED = 10


#: The options that ``corpus_options`` gives, for a section of a command's help.
CORPUS_OPTIONS = tuple(
    """
        --field --group-field --jsonl --errors --include --exclude --hidden --no-ignore --verbose
    """.split()
)


class CorpusArguments(NamedTuple):
    """The corpus as given on the command line: the paths, and the options for reading them."""

    paths: Sequence[str]
    field: str
    group_field: str | None
    jsonl: bool
    errors: Errors | None
    walk: Walk
    verbose: bool

    @property
    def shown(self) -> str:
        """The paths, for messages."""
        return ", ".join(map(shown_name, self.paths or (STDIN,)))

    def find(self, *, notebooks: bool = False) -> Corpus:
        """Find the files of the corpus; it is standard input if there is no path.

        Args:
            notebooks: True to read only the source of notebooks.

        Raises:
            CommandError: there are no files.
        """
        files = list(self.walk.find(self.paths or (STDIN,)))
        if not files:
            reasons = self.walk.why_nothing()
            raise CommandError(
                f"no files to read in {self.shown}{f': {reasons}' if reasons else ''}"
            )
        return Corpus(files, self, notebooks=notebooks)

    def empty(self) -> Corpus:
        """Return a corpus without files."""
        return Corpus([], self)


#: The options for a corpus, as the parameter ``corpus``.
corpus_options = gathered(
    "corpus",
    CorpusArguments,
    paths_argument("paths", "[PATH|-]..."),
    option(
        "--field NAME",
        "The field of each JSON line, or the column of a table, that holds the text.",
        default="text",
    ),
    option(
        "--group-field NAME", "The field or column that holds the group. Default: the file's group."
    ),
    option("--jsonl", "Read all input as JSON lines, regardless of file names."),
    option(
        "--errors",
        "Treat damaged input (binary, not UTF-8, invalid JSON, cut short) as an error (strict), or "
        "skip it (skip); replace reads bytes that are not UTF-8 as U+FFFD. Default: skip for text "
        "files in a directory, else strict.",
        type=click.Choice(["strict", "replace", "skip"]),
    ),
    walk_options,
    option("-v --verbose", "Name everything that is skipped, with the reason."),
)


class Skipped(NamedTuple):
    """A file that was skipped, or damaged lines of one."""

    path: str
    #: For lines, the reason of the first one.
    reason: str
    #: The number of lines; 0 for the whole file.
    lines: int = 0


class Corpus:
    """The files of a corpus, with the options for reading them.

    Args:
        found: the files, and directories that could not be searched.
        arguments: the options.
        notebooks: True to read only the source of notebooks.
    """

    def __init__(
        self, found: Sequence[Found], arguments: CorpusArguments, *, notebooks: bool = False
    ) -> None:
        self._arguments = arguments
        self._notebooks = notebooks
        self._number = len(found)
        self._found = [file for file in found if not file.problem]
        self.files = [CorpusFile(file.path, group_of(file.path, file.root)) for file in self._found]
        #: The files that cannot be read, each with the reason. This and ``skipped`` are complete
        #: when all parts have been taken.
        self.failed = [(file.path, file.problem) for file in found if file.problem]
        self.skipped: list[Skipped] = []
        #: The bytes whose text has been taken so far, counted as in ``size``.
        self.done = 0

    @property
    def size(self) -> int | None:
        """The size of all files in bytes, compressed ones as they are; None if it is unknown."""
        sizes = [file.size for file in self._found]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def left_out(self) -> dict[str, list[dict[str, Any]]]:
        """Return everything that was not read, for a JSON file."""
        return {
            "errors": [{"path": path, "error": reason} for path, reason in self.failed],
            "skipped": [
                {"path": path, "reason": reason, **({"lines": lines} if lines else {})}
                for path, reason, lines in self.skipped
            ],
        }

    def parts(
        self,
        advance: Callable[[int], None] = lambda size: None,
        file_done: Callable[[], None] = lambda: None,
        say: Callable[[str], None] = write_message,
    ) -> Iterator[DocumentPart]:
        """Yield the parts of all documents, with messages about files that are left out.

        A file that cannot be opened is named and added to ``failed``; the others are read.

        Args:
            advance: called with the number of bytes that were read since, counted as in ``size``.
            file_done: called after each file.
            say: writes a message.

        Raises:
            CommandError: a file is damaged, or cannot be read to its end; or all are left out.
        """

        def fail(path: str, reason: str) -> None:
            if self._number == 1:
                raise CommandError(complaint(path, reason)) from None
            say(complaint(path, reason))

        def worked(size: int) -> None:
            self.done += size
            advance(size)

        for path, problem in self.failed:
            fail(path, problem)
        has_text = False
        for file_found, file in zip(self._found, self.files):
            announce_wait(file.path)
            is_begun = False
            try:
                for part in self._read(file_found, file, worked, say):
                    is_begun = has_text = True
                    yield part
            except OSError as error:
                if is_begun or error.filename not in (None, file.path):
                    # Parts of the file are already used, or the error is of another file.
                    where = os.fspath(error.filename or shown_name(file.path))
                    raise CommandError(f"{where}: {error.strerror or error}") from None
                reason = reason_of(error, file.path)
                fail(file.path, reason)
                self.failed.append((file.path, reason))
                worked(file_found.size or 0)
            except (ImportError, ValueError) as error:
                may_skip = self._arguments.errors is None and not self._is_of_records(file_found)
                advice = "; --errors skip leaves such files out"
                raise CommandError(f"{error}{advice * (may_skip and self._number > 1)}") from None
            file_done()
        if self.skipped and not self._arguments.verbose:
            for message in _summary(self.skipped):
                say(message)
        if not has_text and (self.failed or self.skipped):
            raise CommandError(
                "the corpus has no text: every file was skipped, unreadable or empty"
            )

    def _read(
        self,
        found: Found,
        file: CorpusFile,
        advance: Callable[[int], None],
        say: Callable[[str], None],
    ) -> Iterator[DocumentPart]:
        """Yield the parts of one file, and note everything in it that is skipped."""
        arguments = self._arguments
        lines = 0

        def skip(source: str, reason: str) -> None:
            nonlocal lines
            if source == file.path:
                self.skipped.append(Skipped(source, reason))
            elif lines == 0:
                self.skipped.append(Skipped(file.path, reason, 1))
            else:
                self.skipped[-1] = self.skipped[-1]._replace(lines=lines + 1)
            lines += source != file.path
            if arguments.verbose and lines <= _NAMED:
                say(f"{source}: skipped: {reason}")

        def not_notebook(path: str, reason: str) -> None:
            say(f"{path}: not a notebook: {reason}; read as it is")

        yield from read_corpus(
            [file],
            field=arguments.field,
            group_field=arguments.group_field,
            jsonl=arguments.jsonl,
            errors=arguments.errors or self._default_errors(found),
            advance=advance,
            skipped=skip,
            not_notebook=not_notebook if self._notebooks else None,
        )
        if arguments.verbose and lines > _NAMED:
            say(f"{file.path}: skipped: {lines - _NAMED:,} more")

    def read(self) -> Iterator[DocumentPart]:
        """Yield the same parts, with a progress bar if standard error is a terminal.

        Raises:
            CommandError: as in ``parts``.
        """
        with FileProgress(len(self.files), self.size) as progress:
            yield from self.parts(progress.advance, progress.file_done)

    def _default_errors(self, found: Found) -> Errors:
        """Return the default of ``--errors`` for a file.

        A directory may well have pictures in it, but a line that is not JSON is a mistake, and so
        is a table without the column.
        """
        return "strict" if found.is_named or self._is_of_records(found) else "skip"

    def _is_of_records(self, found: Found) -> bool:
        return self._arguments.jsonl or is_json_lines(found.path) or is_table(found.path)


def _summary(skipped: Iterable[Skipped]) -> Iterator[str]:
    """Yield a message for each kind of skipped files, and one for lines.

    >>> list(_summary([Skipped("a", "binary: NUL byte"), Skipped("b", "", 1), Skipped("c", "", 2)]))
    ['1 binary file skipped: a', '3 damaged lines skipped (--verbose names them)']
    """
    paths: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    lines = 0
    for one in skipped:
        lines += one.lines
        if not one.lines:
            kind = one.reason.partition(":")[0]
            paths[kind if kind in _KINDS else "damaged"].append(one.path)
    for kind, nouns in _KINDS.items():
        if paths[kind]:
            yield skipped_note(*nouns, paths[kind])
    if lines:
        yield f"{plural(lines, 'damaged line')} skipped (--verbose names them)"


#: The nouns for each kind of skipped files; a kind is the beginning of the reason.
_KINDS = {
    "binary": ("binary file", "binary files"),
    "not UTF-8": ("file that is not UTF-8", "files that are not UTF-8"),
    "damaged": ("damaged file", "damaged files"),
}


class CountedInput:
    """Files of counts as named on the command line.

    Args:
        paths: the files, or folders of them.

    Raises:
        CommandError: a file's name has no known ending, or a folder has no file of counts.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self._progress: FileProgress | None = None
        with command_errors("".join(paths[:1])):
            self.reader = CountsReader(paths, self._advance)
        self._hash = sha256()

    def as_dict(self) -> dict[str, Any]:
        """Return the input, for a JSON file; complete when all rows have been taken.

        ``sha256`` is the digest of the rows as lines of a TSV file with groups, as they came.
        """
        reader = self.reader
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
        with FileProgress(len(self.reader.files), self.reader.size) as self._progress:
            for path in self.reader.files:
                announce_wait(path)
            try:
                for row in self.reader.read():
                    chunk, count, group = row
                    update(f"{escape(chunk)}\t{count}\t{escape(group)}\n".encode())
                    yield row
            except (OSError, ValueError) as error:
                raise failure(error, self.reader.place) from None
            except ImportError as error:
                raise CommandError(str(error)) from None

    def feed(self, trainer: AnyTrainer) -> None:
        """Give all rows to a trainer; nothing if there are no files.

        Raises:
            CommandError: as in ``rows``; or a row's text is not a chunk.
            ValueError: the trainer does not learn from counts.
        """
        if not self.paths:
            return
        try:
            trainer.feed_counts(self.rows())
        except NotAChunkError as error:
            raise CommandError(f"{shown_name(self.reader.place)}: {error}") from None

    def _advance(self, size: int) -> None:
        if self._progress is not None:
            self._progress.advance(size)


#: The option for counts, as the parameter ``counted``.
counts_option = gathered(
    "counted",
    lambda counts: CountedInput(counts),
    option(
        "--counts FILE",
        "Read chunks and their counts from FILE: .tsv, .jsonl (compressed or not) or .parquet, or "
        "a directory of such files. May be repeated.",
        multiple=True,
        type=INPUT_PATH,
    ),
)


def preparation_options(validation: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command ``preparation``, a ``Preparation``.

    Args:
        validation: the help of ``--validation``.
    """
    return gathered(
        "preparation",
        _preparation,
        option(
            "--normalize",
            "Normalize the corpus. The vocabulary itself will not normalize text.",
            type=click.Choice(["NFC", "NFD", "NFKC", "NFKD"]),
        ),
        option(
            "--mask FILE",
            "Replace text by the rules in FILE, one per line: a regular expression, an arrow (→ or "
            "=>) and the replacement.",
            type=INPUT_PATH,
        ),
        option(
            "--drop-duplicates",
            "Drop repeated lines, or repeated documents.",
            type=click.Choice(["lines", "documents"]),
        ),
        option(
            "--validation SHARE",
            validation,
            type=click.FloatRange(0, 1, max_open=True),
            default=0.0,
        ),
    )


def _preparation(
    normalize: Any, mask: str | None, drop_duplicates: Any, validation: float
) -> Preparation:
    with command_errors(mask or ""):
        rules = [] if mask is None else read_rules(mask)
    return Preparation(
        normalization=normalize, rules=rules, drop_duplicates=drop_duplicates, validation=validation
    )
