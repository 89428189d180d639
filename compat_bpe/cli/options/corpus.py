"""The argument and the options by which a command is told its corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import wraps
from typing import Any, Callable, NamedTuple

import click

from ...corpus.documents import CorpusFile, Errors, Part, group_of, is_json_lines, read_corpus
from ...files.text import STDIN
from ...files.walk import Found, Walk
from ..output import CommandError, write_message
from ..progress import FileProgress
from .walk import walk_options

#: Things left out of one file that are named; of the others, only the number.
_NAMED = 10


def corpus_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the parameter ``corpus``, a ``CorpusArguments``, by arguments and options."""
    paths = click.argument(
        "paths", nargs=-1, type=click.Path(allow_dash=True), metavar="[PATH|-]..."
    )
    field = click.option(
        "--field",
        metavar="NAME",
        default="text",
        show_default=True,
        help="The field of a JSON line that has the text.",
    )
    group_field = click.option(
        "--group-field",
        metavar="NAME",
        help="The field of a JSON line that has the group, for instance the language; if not said, "
        "the folder or the name of the file is the group.",
    )
    jsonl = click.option(
        "--jsonl",
        is_flag=True,
        help="Take all input for JSON lines, whatever its name; standard input, too.",
    )
    errors = click.option(
        "--errors",
        type=click.Choice(["strict", "replace", "skip"]),
        help="What is damaged (binary, not UTF-8, no JSON, incomplete): an error (strict); not "
        "UTF-8, read with U+FFFD (replace); named and left out (skip). If not said: skip for text "
        "files found in a directory, else strict.",
    )

    @wraps(function)
    def with_corpus(**options: Any) -> Any:
        own = {name: options.pop(name) for name in CorpusArguments._fields}
        return function(corpus=CorpusArguments(**own), **options)

    return paths(field(group_field(jsonl(errors(walk_options(with_corpus))))))


class CorpusArguments(NamedTuple):
    """What was given on the command line to say what the corpus is."""

    paths: Sequence[str]
    field: str
    group_field: str | None
    jsonl: bool
    errors: Errors | None
    include: Sequence[str]
    exclude: Sequence[str]
    hidden: bool
    no_ignore: bool

    def find(self) -> Corpus:
        """The corpus; standard input if there is no path.

        Raises:
            CommandError: a directory cannot be searched, or there are no files.
        """
        walk = Walk(
            hidden=self.hidden,
            ignore=not self.no_ignore,
            include=self.include,
            exclude=self.exclude,
        )
        found = list(walk.find(self.paths or (STDIN,)))
        for file in found:
            if file.problem:
                raise CommandError(f"{file.path}: {file.problem}")
        if not found:
            raise CommandError(
                f"no files to read in {', '.join(self.paths)}; "
                "--hidden and --no-ignore look for more"
            )
        return Corpus(found, self.field, self.group_field, self.jsonl, self.errors)


class Corpus:
    """Files that were found, and how to read them.

    Args:
        found: the files, of which none has a problem.
        field, group_field, jsonl: as in ``read_corpus``.
        errors: the same; None for what ``--errors`` has as its default.
    """

    def __init__(
        self,
        found: Sequence[Found],
        field: str,
        group_field: str | None,
        jsonl: bool,
        errors: Errors | None,
    ) -> None:
        self._found = found
        self._field = field
        self._group_field = group_field
        self._jsonl = jsonl
        self._errors = errors
        self.files = [CorpusFile(file.path, group_of(file.path, file.root)) for file in found]

    @property
    def size(self) -> int | None:
        """The bytes of all files, compressed ones as they are; None if that is not known."""
        sizes = [file.size for file in self._found]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def parts(
        self,
        advance: Callable[[int], None] = lambda size: None,
        file_done: Callable[[], None] = lambda: None,
        say: Callable[[str], None] = write_message,
    ) -> Iterator[Part]:
        """The documents of all files, in parts, and a message for each thing that is left out.

        Args:
            advance: called with the number of bytes each time some are read, as ``size`` has them.
            file_done: called after each file.
            say: what writes a message.

        Raises:
            CommandError: a file cannot be read or is damaged.
        """
        for found, file in zip(self._found, self.files):
            left_out = 0

            def skipped(source: str, reason: str) -> None:
                nonlocal left_out
                left_out += 1
                if left_out <= _NAMED:
                    say(f"{source}: skipped: {reason}")

            try:
                yield from read_corpus(
                    [file],
                    field=self._field,
                    group_field=self._group_field,
                    jsonl=self._jsonl,
                    errors=self._errors or self._default_errors(found),
                    advance=advance,
                    skipped=skipped,
                )
            except OSError as error:
                raise CommandError(f"{error.filename or file.path}: {_reason(error)}") from None
            except ValueError as error:
                raise CommandError(str(error)) from None
            if left_out > _NAMED:
                say(f"{file.path}: skipped: {left_out - _NAMED:,} more")
            file_done()

    def read(self) -> Iterator[Part]:
        """The same parts, with a progress bar on a terminal while they are read.

        Raises:
            CommandError: as in ``parts``.
        """
        with FileProgress(len(self.files), self.size) as progress:

            def say(message: str) -> None:
                progress.clear()
                write_message(message)

            yield from self.parts(progress.advance, progress.file_done, say)

    def _default_errors(self, found: Found) -> Errors:
        """A directory may well have pictures in it, but a line that is no JSON is a mistake."""
        if found.is_named or self._jsonl or is_json_lines(found.path):
            return "strict"
        return "skip"


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
