"""``compat-bpe count``: the numbers of tokens in files."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import closing, nullcontext
from itertools import chain
from typing import Any, NamedTuple

import click

from ... import Encoding
from ...encodings.resolve import is_path
from ...files.text import STDIN
from ...files.walk import Found
from ..app import options_of
from ..count_view import (
    CountedFile,
    Rest,
    Table,
    counts_as_json,
    flat_lines,
    in_order,
    largest,
    limit_as_json,
    limit_of,
    over_limit,
    rows,
    share,
    share_as_json,
    tree_lines,
)
from ..counting import Counts, FileCounter, Outcome, count_files
from ..input import announce_wait, read_list
from ..options.count import GROUPS, Choice, CountCommand, CountOptions
from ..options.encoding import chosen_answer, loaded
from ..output import (
    CommandError,
    complaint,
    is_terminal,
    plural,
    shown_name,
    skipped_note,
    write_line,
    write_message,
)
from ..progress import FileProgress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...chat.limits import ContextLimit
    from ...encodings.estimates import Estimate

#: The largest number of directories that an error names; the others are counted.
_NAMED = 3

#: The width of columns if the sizes of files are not known; wc's are as wide.
_WIDTH_OF_UNKNOWN = 7


@click.command(cls=CountCommand, groups=GROUPS, short_help="Count the tokens of files.")
@options_of(CountOptions)
def count(**values: Any) -> None:
    """Count the tokens of each file, and of all together.

    \b
    Examples:
      $ compat-bpe count --model gpt-4o README.md src/*.py
      $ compat-bpe count --tree --top 20 --exclude "*.lock" .
      $ compat-bpe count -c "How many tokens is this?"
      $ git diff | compat-bpe count --max 8000
      $ git ls-files -z "*.md" | compat-bpe count --files-from - -0 --total-only
      $ compat-bpe count --model gpt-4o --context prompt.txt
      $ compat-bpe count --model gpt-4o --messages chat.json
      $ compat-bpe count --model claude-sonnet-4-5 --estimate src
      $ compat-bpe count -m gpt-4o -m deepseek-chat --price 2.50 --price 0.28 src
      $ compat-bpe count --encoding o200k_base --factor 1.18 src

    PATH is a file, a directory whose files are counted, a glob, or - for standard input. Without
    PATH, standard input is counted if it is a pipe or a file; on a terminal, or with --tree, the
    current directory.

    In a directory, hidden files and files that git ignores are left out, and symbolic links are
    not followed. Git ignores files by .gitignore and, in a repository, by its info/exclude and
    your own core.excludesFile, but never a file that it tracks. .ignore files take precedence, as
    in ripgrep. --include and --exclude take a GLOB, a pattern as in a .gitignore of the current
    directory (of PATH, if that is elsewhere). These rules are for files found in a directory: a
    file that you name is always counted.

    The exact content of a file is counted, as UTF-8: line ends are not translated, and a
    byte-order mark is text. So is the name of a special token, such as <|endoftext|>. A compressed
    file is binary, unless --decompress is given: then its text is counted, and "bytes" of --json
    are those of the text. With --encoding-of-file, they are those of the text in UTF-8.

    The exit status is 1 if there are more tokens than --max allows, and 2 for an error: a file
    cannot be read; a PATH is binary (a NUL is in its first 8,000 bytes) or not UTF-8; or nothing
    was counted, because no file matches or all were skipped (unless --errors skip is given). The
    other files are still counted. An empty directory has 0 tokens; with --max, it is an error, as
    is an empty list.

    On a terminal, large numbers have thousands separators, and each line of a --tree has a bar for
    its share; in a pipe or a file they have none. Numbers from --estimate or --factor have a ≈
    before them, with --total-only, too.

    Each --model and --encoding has a column, in their order; each file is read once. --sort and
    --top use the first column; --max and --per-file apply to each. --price adds a column with
    the exact cost.

    The object that --json prints has "encoding"; "files", a list of objects with "path", "tokens",
    "bytes" and "characters", in the order of the lines; "total", with these sums; "errors", a list
    of objects with "path" and "error"; and "skipped", with "path" and "reason". The page on JSON in
    the documentation (docs/json.md) describes it, and what options add.
    """
    run = _Run(values)
    if run.messages is not None:
        from ..count_request import count_request  # only this form needs it

        sys.exit(count_request(run))
    sys.exit(run.status())


class _Tokenizer(NamedTuple):
    """A chosen tokenizer: the encoding that counts, and what makes an estimate of that number."""

    choice: Choice
    encoding: Encoding
    factor: Estimate | None

    @classmethod
    def of(cls, choice: Choice, options: CountOptions) -> _Tokenizer:
        """Return the tokenizer of a choice.

        Raises:
            CommandError, click.UsageError: as in ``chosen_encoding``.
        """
        pattern = options.pattern
        if any(map(is_path, options.encoding)) and not is_path(choice.encoding or ""):
            pattern = None  # it is for the vocabularies that are files
        is_estimate = options.estimate or options.factor is not None
        answer = chosen_answer(choice.model, choice.encoding, estimate=is_estimate)
        encoding = loaded(answer, pattern)
        if options.factor is not None:
            answer = answer._replace(encoding_name=encoding.name).times(options.factor)
        return cls(choice, encoding, answer.estimate)

    def most(self, size: int, files: int) -> int:
        """Return a number that no count of some files exceeds, from the sum of their sizes.

        A file has at most as many tokens as bytes, since no token is empty. An estimate may be
        more, and that of each file is rounded up.
        """
        return size if self.factor is None else max(size, self.factor.tokens(size) + files)

    def as_json(self, *, with_estimate: bool) -> dict[str, Any]:
        """Return the members that say how tokens were counted."""
        estimate = None if self.factor is None else self.factor.reason
        encoding = self.encoding.name if self.factor is None else None
        members: dict[str, Any] = {"encoding": encoding}
        return {**members, "estimate": estimate} if estimate or with_estimate else members


class _Run(CountOptions):
    """One run of the command, with its options as attributes."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self._contexts: list[ContextLimit] = []
        self._arguments: Sequence[str] = ()
        self._counted: list[CountedFile] = []
        self._failed: list[tuple[str, str]] = []
        self._skipped: list[tuple[str, str]] = []
        #: The skipped files that were found in directories: binary ones, and others.
        self._binary: list[str] = []
        self._not_utf8: list[str] = []
        #: The number of files that were named and are errors because they are not text.
        self._not_text = 0

    def status(self) -> int:
        """Count, print, and return the exit status."""
        self._tokenizers = [_Tokenizer.of(choice, self) for choice in self.choices]
        self._encodings = list(dict.fromkeys(one.encoding for one in self._tokenizers))
        self._columns = self.columns(one.factor is not None for one in self._tokenizers)
        self._table = Table(
            self._columns, separators=not self.total_only and is_terminal(sys.stdout)
        )
        if self.context:
            self._contexts = [limit_of(one.choice.model) for one in self._tokenizers]
        files = self._found()
        with_total = len(self._arguments) > 1 or len(files) != 1 or not files[0].is_named
        if with_total or self._table.has_header:
            self._align(files)
        self._count(files)
        if not self.quiet:
            self._write_notes()
        self._print(with_total)
        is_over = self._is_over_limit()
        if self._failed:
            return 2
        if self._skipped and not self._counted and self.errors != "skip":
            all_skipped = "the only file was" if len(self._skipped) == 1 else "all files were"
            write_message(f"nothing was counted: {all_skipped} skipped")
            return 2
        if not files and self.limit is not None and self.errors != "skip":
            write_message("nothing was counted, so --max was not checked (--errors skip allows it)")
            return 2
        return 1 if is_over else 0

    def _align(self, files: Sequence[Found]) -> None:
        """Make the columns as wide as any count may be, so that a line can be printed at once.

        wc does the same.
        """
        size = sum(file.size or 0 for file in files)
        is_unknown = any(file.size is None and not file.problem for file in files)
        most = [one.most(size, len(files)) for one in self._tokenizers]
        self._table.align(most, _WIDTH_OF_UNKNOWN if is_unknown else 0)

    def _found(self) -> list[Found]:
        """Return the files to count.

        Raises:
            CommandError: there are none, and not because a directory is empty.
        """
        if self.string is not None:
            self._arguments = ("",)
            return [Found("", "", 0)]
        listed: list[str] = []
        if self.files_from is not None:
            listed = read_list(self.files_from, is_null=self.null, announce=self._announce_wait)
        elif not self.paths:
            listed = ["." if self.as_tree or is_terminal(sys.stdin) else STDIN]
        self._arguments = (*self.paths, *listed)
        files = list(self.walk.find(self._arguments))
        reasons = self.walk.why_nothing()
        if not files and self._arguments and reasons:
            names = ", ".join(self._arguments[:_NAMED])
            if len(self._arguments) > _NAMED:
                names += f" and {len(self._arguments) - _NAMED:,} more"
            raise CommandError(f"no files to count in {names}: {reasons}")
        return files

    def _announce_wait(self, path: str) -> None:
        if not self.quiet:
            announce_wait(path)

    def _count(self, found: Sequence[Found]) -> None:
        # A line is printed as soon as its file is counted, unless another may come before it.
        in_the_end = (self.is_json, self.as_tree, self.total_only, self.percent)
        at_once = not any((*in_the_end, self.separator, self.order, self.top))
        if at_once and self._table.has_header:
            write_line(self._table.header())
        with (
            FileProgress(len(found), _size(found), is_quiet=self.quiet) as progress,
            closing(self._outcomes(found, progress)) as outcomes,
        ):
            for file, outcome in zip(found, outcomes):
                if outcome.counts is None:
                    progress.clear()
                    self._add_failure(file, outcome)
                    continue
                if outcome.note and not self.quiet:
                    progress.clear()
                    write_message(complaint(file.path, outcome.note))
                counts = self._by_column(outcome.counts)
                self._counted.append(CountedFile(file, counts))
                if at_once:
                    progress.clear()
                    self._write(counts.tokens, self._name(file.path))

    def _by_column(self, counts: Counts) -> Counts:
        """Return the counts of encodings as those of the columns."""
        by_encoding = dict(zip(self._encodings, counts.tokens))
        tokens = (
            by_encoding[one.encoding]
            if one.factor is None
            else one.factor.tokens(by_encoding[one.encoding])
            for one in self._tokenizers
        )
        return counts._replace(tokens=tuple(tokens))

    def _outcomes(
        self, found: Sequence[Found], progress: FileProgress
    ) -> Generator[Outcome, None, None]:
        counter = FileCounter(
            *self._encodings,
            allow_nul=self.text,
            replace=self.errors == "replace",
            decompress=self.decompress,
            notebooks=self.notebooks,
            encoding_of_file=self.encoding_of_file,
        )
        if self.string is not None:
            yield counter.count_text(self.string)
            return
        cache = None if self.no_cache else counter.cache(found)
        try:
            with cache or nullcontext():  # it keeps the counts also if this is ended early
                yield from count_files(
                    counter, found, self.jobs, progress, self._announce_wait, cache
                )
        finally:
            if cache and cache.problem and self.verbose:
                write_message(f"the cache of counts: {cache.problem}")

    def _add_failure(self, file: Found, outcome: Outcome) -> None:
        """Note a file that was not counted, and name it if it is an error or was named."""
        may_skip = self.errors == "skip" or (self.errors != "strict" and not file.is_named)
        if not (outcome.was_read and may_skip):
            self._not_text += outcome.was_read and self.errors is None
            self._failed.append((file.path, outcome.message))
            write_message(complaint(file.path, outcome.message))
            return
        self._skipped.append((file.path, outcome.message))
        if self.quiet:
            return
        if self.verbose or file.is_named:
            write_message(f"{shown_name(file.path)}: skipped: {outcome.message}")
        elif outcome.is_binary:
            self._binary.append(file.path)
        else:
            self._not_utf8.append(file.path)

    def _write_notes(self) -> None:
        """Write notes on skipped files, on files that are not text, and on estimates."""
        for one in self._tokenizers:
            if one.factor is not None and not self.is_json:
                which = f"{one.choice.name}: " if len(self._tokenizers) > 1 else ""
                write_message(f"an estimate: {which}{one.factor.reason}")
        if self._not_text and len(self._arguments) > 1:
            write_message(
                f"{plural(self._not_text, 'PATH')} cannot be counted as text: --errors skip leaves "
                "such files out"
            )
        if self._binary:
            write_message(skipped_note("binary file", "binary files", self._binary))
        if self._not_utf8:
            what = ("file that is not UTF-8", "files that are not UTF-8")
            write_message(skipped_note(*what, self._not_utf8))

    def _print(self, with_total: bool) -> None:
        """Print the results that were not printed at once."""
        counted, columns = self._counted, self._columns
        sums = Counts.total((one.counts for one in counted), len(columns))
        if self.total_only:
            write_line(" ".join(self._table.cells(sums.tokens)))
            return
        number = len(counted) if self.top is None else self.top
        shown, rest = largest(counted, number, len(columns))
        order = self.order or ("tokens" if self.top else None)
        if self.separator is not None:
            is_csv = self.separator == ","
            for cells in rows(columns, in_order(shown, order), quotes=is_csv):
                write_line(*cells, separator=self.separator)
            return
        if self.is_json:
            write_line(self._as_json(in_order(shown, order), rest if self.top else None, sums))
            return
        if self.as_tree or order or self.percent:
            has_bars = self.as_tree and is_terminal(sys.stdout) and not self._table.has_header
            self._table = Table(
                columns,
                separators=is_terminal(sys.stdout),
                percent_of=sums.tokens if self.percent else None,
                bars_of=sums.tokens[0] if has_bars else None,
            )
            self._table.align(sums.tokens)
            if self._table.has_header:
                write_line(self._table.header())
            lines = (
                tree_lines(
                    self._arguments,
                    counted,
                    shown,
                    len(columns),
                    by_tokens=order == "tokens",
                    depth=self.depth,
                )
                if self.as_tree
                else flat_lines(in_order(shown, order), rest)
            )
            for tokens, name in lines:
                self._write(tokens, self._name(name))
        # A directory's line in a tree has its total.
        if with_total and not (self.as_tree and len(self._arguments) == 1):
            self._write(sums.tokens, "total")
        for tokens_of_one, context in zip(sums.tokens, self._contexts):
            write_line(share(tokens_of_one, context))

    def _as_json(self, listed: Sequence[CountedFile], rest: Rest | None, sums: Counts) -> str:
        """Return one line of ASCII; bytes of a name that are not UTF-8 become lone surrogates."""
        import json  # only this form needs it

        columns, is_alone = self._columns, len(self._columns) == 1
        limit_of_file = self.limit if self.per_file else None
        limit_of_total = None if self.per_file else self.limit
        counted_by = [
            {
                **({} if is_alone else {"name": one.choice.name}),
                **one.as_json(with_estimate=self.estimate or not is_alone),
                **({} if column.price is None else {"price": f"{column.price:f}"}),
            }
            for one, column in zip(self._tokenizers, columns)
        ]
        result: dict[str, Any] = {
            **(counted_by[0] if is_alone else {"tokenizers": counted_by}),
            "files": [
                {
                    "path": one.found.path or None,
                    **counts_as_json(columns, one.counts),
                    **limit_as_json(one.counts.tokens, limit_of_file),
                }
                for one in listed
            ],
            "total": {
                **counts_as_json(columns, sums),
                **limit_as_json(sums.tokens, limit_of_total),
            },
            "errors": [{"path": path, "error": reason} for path, reason in self._failed],
            "skipped": [{"path": path, "reason": reason} for path, reason in self._skipped],
        }
        if rest is not None:
            result["more"] = {"files": rest.files, **counts_as_json(columns, rest.counts)}
        if self._contexts:
            shares = list(map(share_as_json, sums.tokens, self._contexts))
            result["context"] = shares[0] if is_alone else shares
        return json.dumps(result)

    def _is_over_limit(self) -> bool:
        """Write a message for each count that is over the limit; return True if there is one."""
        columns = self._columns
        sums = Counts.total((one.counts for one in self._counted), len(columns))
        counts = [("total", sums.tokens)]
        if self.per_file:
            counts = [
                (shown_name(one.found.path) or "the text", one.counts.tokens)
                for one in self._counted
            ]
        over = [over_limit(name, columns, tokens, self.limit) for name, tokens in counts]
        for message in chain.from_iterable(over):
            write_message(message)
        return any(over)

    def _write(self, tokens: Sequence[int], name: str) -> None:
        write_line(self._table.line(tokens, name))

    def _name(self, path: str) -> str:
        """Return the name on a line: none if standard input was read because there is no PATH."""
        is_given = self.paths or self.files_from
        return path if is_given or self._arguments != (STDIN,) else ""


def _size(found: Sequence[Found]) -> int | None:
    """Return the bytes of all files, if they are known."""
    sizes = [file.size for file in found if not file.problem]
    return None if None in sizes else sum(size for size in sizes if size is not None)
