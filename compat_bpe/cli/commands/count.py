"""``compat-bpe count``: the numbers of tokens in files."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any

import click

from ... import Encoding
from ...files.text import STDIN
from ...files.walk import Found, Walk
from ..context_share import limit_of, share
from ..count_files import count_files
from ..count_output import Style, as_json, estimate_mark, flat_lines, tree, widest
from ..counting import FileCounter, Outcome
from ..input import announce_wait
from ..options.count import GROUPS, CountOptions, count_options
from ..options.encoding import chosen_encoding, chosen_factor
from ..options.groups import GroupedCommand
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
from ..sorting import Counted, in_order, largest, total

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...chat.limits import ContextLimit
    from ...encodings.estimates import Estimate

#: The largest number of directories that an error names; the others are counted.
_NAMED = 3


@click.command(cls=GroupedCommand, groups=GROUPS, short_help="Count the tokens of files.")
@count_options
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
      $ compat-bpe count --encoding o200k_base --factor 1.18 src

    PATH is a file, a directory whose files are counted, a glob, or - for standard input. Without
    PATH, standard input is counted if it is a pipe or a file; on a terminal, or with --tree, the
    current directory.

    In a directory, hidden files and files that git ignores are left out, and symbolic links are
    not followed. Git ignores what .gitignore files say, and in a repository what its info/exclude
    and your own core.excludesFile say, but no file that it tracks. .ignore files come before
    these, as in ripgrep. --include and --exclude take a GLOB, a pattern as in a
    .gitignore of the current directory (of PATH, if that is elsewhere). All this is about files
    found in a directory: a file that you name is always counted.

    The exact content of a file is counted, as UTF-8: line ends are not translated, and a
    byte-order mark is text. So is the name of a special token, such as <|endoftext|>. A compressed
    file is binary, unless --decompress is given: then its text is counted, and "bytes" of --json
    are those of the text. With --encoding-of-file, they are those of the text in UTF-8.

    The exit status is 1 if there are more tokens than --max allows, and 2 if anything is wrong: a
    file cannot be read; a PATH is binary (a NUL is in its first 8,000 bytes) or not UTF-8; or
    nothing at all was counted, because no file matches or all were skipped (unless --errors skip
    allows it). The other files are counted all the same. An empty directory has 0 tokens; to
    --max, it and an empty list are nothing that was counted.

    On a terminal, large numbers have thousands separators, and the lines of a --tree have bars, of
    their shares; in a pipe or a file they have none. Each number of an --estimate or by a --factor
    has a ≈ before it, with --total-only, too.

    The object that --json prints has the keys "encoding"; "files", a list of objects with
    "path", "tokens", "bytes" and "characters", in the order of the lines; "total", with the sums of
    these three; "errors", a list of objects with "path" and "error"; "skipped", with "path" and
    "reason"; with --top "more", with the number of "files" that are not listed, and sums; and with
    --context "context", with the "model", its "tokens" and the "share" used. The path of standard
    input is "-", and that of a --string is null. With --estimate or --factor, there is also
    "estimate": null, or the reason for which the numbers are one; "encoding" is null then. With
    --messages, the keys are "model", "tokens", "estimate" (null, or the reason for which the number
    is one) and "context"; and with --parts "parts", a list of objects with "name", "messages"
    (their indexes from 0 on) and "tokens". If FILE has a request on each line, they are "requests",
    a list of objects with "name" (the line), "model", "tokens" and "estimate"; and "total".
    """
    options = CountOptions(**values)
    options.check()
    if options.messages is not None:
        from ..count_request import Chosen, count_request  # only this form needs it

        sys.exit(
            count_request(
                options.messages,
                Chosen(
                    options.model,
                    options.encoding,
                    options.pattern,
                    options.estimate,
                    options.strict,
                    options.as_of,
                    options.factor,
                ),
                limit=options.limit,
                with_parts=options.parts,
                with_context=options.context,
                json_wanted=options.as_json,
                quiet=options.quiet,
            )
        )
    sys.exit(_Run(options, *_chosen(options)).status())


def _chosen(options: CountOptions) -> tuple[Encoding, Estimate | None]:
    """Return what counts files, and what makes an estimate of their numbers if one is wanted."""
    makers = None
    if options.estimate or options.factor is not None:
        makers = chosen_factor(options.model, options.encoding)
    if makers is None:
        chosen = chosen_encoding(options.model, options.encoding, options.pattern)
    else:
        chosen = chosen_encoding(None, "characters", options.pattern)
    if options.factor is None:
        return chosen, makers
    from ...encodings.estimates import OwnFactor  # only estimates need it

    return chosen, OwnFactor.of_text(options.factor, makers or chosen.name)


class _Run:
    """One run of the command."""

    def __init__(self, options: CountOptions, encoding: Encoding, factor: Estimate | None) -> None:
        self._options = options
        self._encoding = encoding
        #: What makes an estimate of the characters or tokens that are counted, if one is wanted.
        self._factor = factor
        self._mark = "" if factor is None else estimate_mark()
        self._style = Style(
            separators=not options.total_only and is_terminal(sys.stdout), mark=self._mark
        )
        self._context: ContextLimit | None = None
        self._arguments: Sequence[str] = ()
        self._counted: list[Counted] = []
        self._failed: list[tuple[str, str]] = []
        self._skipped: list[tuple[str, str]] = []
        #: The skipped files that were found in directories: binary ones, and others.
        self._binary: list[str] = []
        self._not_utf8: list[str] = []
        #: The number of files that are errors since they are no text and were named.
        self._not_text = 0

    def status(self) -> int:
        """Count, print, and return the exit status."""
        options = self._options
        if options.context:
            self._context = limit_of(options.model)
        files = self._found()
        with_total = len(self._arguments) > 1 or len(files) != 1 or not files[0].is_named
        if with_total:
            self._style = self._style._replace(width=widest(files, self._style, self._factor))
        self._count(files)
        if not options.quiet:
            self._write_notes()
        self._print(with_total)
        is_over = self._is_over_limit()
        if self._failed:
            return 2
        if self._skipped and not self._counted and options.errors != "skip":
            all_skipped = "the only file was" if len(self._skipped) == 1 else "all files were"
            write_message(f"nothing was counted: {all_skipped} skipped")
            return 2
        if not files and options.limit is not None and options.errors != "skip":
            write_message("nothing was counted, so --max was not checked (--errors skip allows it)")
            return 2
        return 1 if is_over else 0

    def _found(self) -> list[Found]:
        """Return the files to count.

        Raises:
            CommandError: there are none, and not because a directory is empty.
        """
        options = self._options
        if options.string is not None:
            self._arguments = ("",)
            return [Found("", "", 0)]
        listed: list[str] = []
        if options.files_from is not None:
            from ..file_list import read_list  # only this form needs it

            listed = read_list(
                options.files_from, is_null=options.null, announce=self._announce_wait
            )
        elif not options.paths:
            listed = ["." if options.as_tree or is_terminal(sys.stdin) else STDIN]
        self._arguments = (*options.paths, *listed)
        walk = Walk(
            hidden=options.hidden,
            ignore=not options.no_ignore,
            include=options.include,
            exclude=options.exclude,
        )
        files = list(walk.find(self._arguments))
        reasons = walk.why_nothing()
        if not files and self._arguments and reasons:
            names = ", ".join(self._arguments[:_NAMED])
            if len(self._arguments) > _NAMED:
                names += f" and {len(self._arguments) - _NAMED:,} more"
            raise CommandError(f"no files to count in {names}: {reasons}")
        return files

    def _announce_wait(self, path: str) -> None:
        if not self._options.quiet:
            announce_wait(path)

    def _count(self, found: Sequence[Found]) -> None:
        options = self._options
        # A line is printed as soon as its file is counted, unless another may come before it.
        in_the_end = (options.as_json, options.as_tree, options.total_only, options.percent)
        at_once = not any((*in_the_end, options.order, options.top))
        with (
            FileProgress(len(found), _size(found), is_quiet=options.quiet) as progress,
            closing(self._outcomes(found, progress)) as outcomes,
        ):
            for file, outcome in zip(found, outcomes):
                if outcome.counts is None:
                    progress.clear()
                    self._add_failure(file, outcome)
                    continue
                counts = outcome.counts
                if outcome.note and not options.quiet:
                    progress.clear()
                    write_message(complaint(file.path, outcome.note))
                if self._factor is not None:
                    counts = counts._replace(tokens=self._factor.tokens(counts.tokens))
                self._counted.append(Counted(file, counts))
                if at_once:
                    progress.clear()
                    self._write(counts.tokens, self._name(file.path))

    def _outcomes(
        self, found: Sequence[Found], progress: FileProgress
    ) -> Generator[Outcome, None, None]:
        options = self._options
        counter = FileCounter(
            self._encoding,
            allow_nul=options.text,
            replace=options.errors == "replace",
            decompress=options.decompress,
            notebooks=options.notebooks,
            encoding_of_file=options.encoding_of_file,
        )
        if options.string is not None:
            yield counter.count_text(options.string)
        else:
            yield from count_files(counter, found, options.jobs, progress, self._announce_wait)

    def _add_failure(self, file: Found, outcome: Outcome) -> None:
        """Note a file that was not counted, and name it if it is an error or was named."""
        options = self._options
        may_skip = options.errors == "skip" or (options.errors != "strict" and not file.is_named)
        if not (outcome.was_read and may_skip):
            self._not_text += outcome.was_read and options.errors is None
            self._failed.append((file.path, outcome.reason))
            write_message(complaint(file.path, outcome.reason))
            return
        self._skipped.append((file.path, outcome.reason))
        if options.quiet:
            return
        if options.verbose or file.is_named:
            write_message(f"{shown_name(file.path)}: skipped: {outcome.reason}")
        elif outcome.is_binary:
            self._binary.append(file.path)
        else:
            self._not_utf8.append(file.path)

    def _write_notes(self) -> None:
        """Say what was skipped or is no text, and why tokens are estimated."""
        if self._factor is not None and not self._options.as_json:
            write_message(f"an estimate: {self._factor.reason}")
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
        options, counted = self._options, self._counted
        sums = total(one.counts for one in counted)
        if options.total_only:
            self._write(sums.tokens, "")
            return
        shown, rest = largest(counted, len(counted) if options.top is None else options.top)
        order = options.order or ("tokens" if options.top else None)
        if options.as_json:
            listed = in_order(shown, order)
            more = rest if options.top else None
            write_line(
                as_json(
                    self._counted_by(),
                    listed,
                    more,
                    sums,
                    self._failed,
                    self._skipped,
                    self._context,
                )
            )
            return
        if options.as_tree or order or options.percent:
            self._style = self._style._replace(
                width=len(self._style.number(sums.tokens)),
                percent_of=sums.tokens if options.percent else None,
                bar_of=sums.tokens if options.as_tree and is_terminal(sys.stdout) else None,
            )
            lines = (
                tree(self._arguments, counted, shown, order, options.depth)
                if options.as_tree
                else flat_lines(in_order(shown, order), rest)
            )
            for tokens, name in lines:
                self._write(tokens, self._name(name))
        # A directory's line in a tree has its total.
        if with_total and not (options.as_tree and len(self._arguments) == 1):
            self._write(sums.tokens, "total")
        if self._context is not None:
            write_line(share(sums.tokens, self._context))

    def _counted_by(self) -> dict[str, str | None]:
        """Return the members of the JSON object that say how tokens were counted."""
        if self._factor is not None:
            return {"encoding": None, "estimate": self._factor.reason}
        exact: dict[str, str | None] = {"encoding": self._encoding.name}
        return {**exact, "estimate": None} if self._options.estimate else exact

    def _is_over_limit(self) -> bool:
        """Write a message for each count that is over the limit; return True if there is one."""
        limit = self._options.limit
        if limit is None:
            return False
        counts = [("total", total(one.counts for one in self._counted).tokens)]
        if self._options.per_file:
            counts = [(shown_name(one.found.path), one.counts.tokens) for one in self._counted]
        over = [(name, tokens) for name, tokens in counts if tokens > limit]
        estimated = " by the estimate" if self._factor is not None else ""
        for name, tokens in over:
            write_message(
                f"{name or 'the text'}: {self._mark}{plural(tokens, 'token')}{estimated}, "
                f"over the limit of {limit:,}"
            )
        return bool(over)

    def _write(self, tokens: int, name: str) -> None:
        write_line(self._style.line(tokens, name))

    def _name(self, path: str) -> str:
        """Return the name on a line: none if standard input was read because there is no PATH."""
        options = self._options
        is_given = options.paths or options.files_from
        return path if is_given or self._arguments != (STDIN,) else ""


def _size(found: Sequence[Found]) -> int | None:
    """Return the bytes of all files, if they are known."""
    sizes = [file.size for file in found if not file.problem]
    return None if None in sizes else sum(size for size in sizes if size is not None)
