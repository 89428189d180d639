"""``compat-bpe count``: how many tokens files have."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

import click

from ...files.text import STDIN
from ...files.walk import Found, Walk
from ..counting import Counter, Counts, Outcome, count_files
from ..options.encoding import chosen_encoding, encoding_options
from ..options.walk import walk_options
from ..output import can_show, write_line, write_message
from ..progress import FileProgress
from ..sorting import ORDERS, Counted, Rest, in_order, largest, more_files, total

# The width of wc's columns if it cannot know the sizes beforehand.
_WIDTH_OF_UNKNOWN = 7


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(allow_dash=True), metavar="[PATH|-]...")
@encoding_options
@click.option("--tree", "as_tree", is_flag=True, help="Show directories with what is in them.")
@click.option(
    "--sort",
    "order",
    type=click.Choice(ORDERS),
    help="By name, by path, or most tokens first; as they were given if not said.",
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=1),
    help="Show only the N files with the most tokens, and the sum of the others.",
)
@click.option(
    "--max",
    "limit",
    metavar="N",
    type=click.IntRange(min=0),
    help="Exit with status 1 if there are more than N tokens in all.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of lines.")
@walk_options
@click.option("-a", "--text", is_flag=True, help="Take files with NUL bytes for text, too.")
@click.option(
    "--errors",
    type=click.Choice(["strict", "replace", "skip"]),
    help="A file that is not UTF-8 or is binary: an error (strict); not UTF-8, counted with U+FFFD "
    "(replace); named and skipped (skip). If not said: an error if it is a PATH, else skipped.",
)
@click.option(
    "-j",
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    help="Use N processes at most; if not said, as many as there are processors.",
)
def count(
    paths: tuple[str, ...],
    model: str | None,
    encoding: str | None,
    pattern: str | None,
    as_tree: bool,
    order: str | None,
    top: int | None,
    limit: int | None,
    as_json: bool,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    hidden: bool,
    no_ignore: bool,
    text: bool,
    errors: str | None,
    jobs: int | None,
) -> None:
    """Count the tokens of each file, and of all together.

    PATH is a file, or a directory, whose files are counted. With no PATH, or where PATH is -,
    standard input is read; with --tree and no PATH, it is the current directory.

    In a directory, hidden files are left out, and what its .gitignore files, and those of the
    repository that it is in, say is ignored; symbolic links are not followed. A PATH itself is
    counted in any case, unless a GLOB says otherwise. A GLOB is read like a line of a .gitignore
    in the current directory; of a directory elsewhere, in that.

    What is counted is the exact content of a file as UTF-8: line ends are not translated, and a
    byte-order mark is text like everything else. So is the name of a special token, for
    instance <|endoftext|>.

    A PATH that cannot be read, is binary (there is a NUL in its first 8,000 bytes) or is not
    UTF-8 is reported on standard error, and so is what cannot be read in a directory. The others
    are counted all the same, and the exit status is 2. Binary files and such that are not UTF-8
    in a directory are named and skipped.

    \b
    Examples:
      $ compat-bpe count --model gpt-4o README.md src/*.py
      $ compat-bpe count --tree --top 20 --exclude "*.lock" .
      $ git diff | compat-bpe count --max 8000

    The object that --json prints has the keys "encoding"; "files", a list of objects with
    "path", "tokens", "bytes" and "characters", in the order of the lines; "total", with the sums of
    these three; "errors", a list of objects with "path" and "error"; "skipped", with "path" and
    "reason"; and with --top "more", with the number of "files" that are not listed, and sums.
    """
    chosen = chosen_encoding(model, encoding, pattern)
    arguments = paths or ("." if as_tree else STDIN,)
    walk = Walk(hidden=hidden, ignore=not no_ignore, include=include, exclude=exclude)
    found = list(walk.find(arguments))
    with_total = len(arguments) > 1 or len(found) != 1 or not found[0].is_named
    width = _column_width(found) if with_total else 1
    # As soon as a file is counted there is a line for it, unless another may come before it.
    at_once = not (as_json or as_tree or order or top)

    counter = Counter(chosen, allow_nul=text, replace=errors == "replace")
    counted: list[Counted] = []
    failed: list[tuple[str, str]] = []
    skipped: list[tuple[str, str]] = []
    with (
        FileProgress(len(found), _size(found)) as progress,
        closing(count_files(counter, found, jobs, progress)) as outcomes,
    ):
        for file, outcome in zip(found, outcomes):
            if outcome.counts is not None:
                counted.append(Counted(file, outcome.counts))
                if at_once:
                    progress.clear()
                    write_line(_line(outcome.counts.tokens, width, file.path if paths else ""))
                continue
            progress.clear()
            if _is_error(file, outcome, errors):
                failed.append((file.path, outcome.reason))
                write_message(f"{file.path}: {outcome.reason}")
            else:
                skipped.append((file.path, outcome.reason))
                write_message(f"{file.path}: skipped: {outcome.reason}")

    sums = total(one.counts for one in counted)
    shown, rest = largest(counted, len(counted) if top is None else top)
    order = order or ("tokens" if top else None)
    if as_json:
        listed = in_order(shown, order)
        write_line(_as_json(chosen.name, listed, rest if top else None, sums, failed, skipped))
    elif not at_once:
        width = len(str(sums.tokens))
        lines = (
            _tree(arguments, counted, shown, order)
            if as_tree
            else _flat(in_order(shown, order), rest)
        )
        for tokens, name in lines:
            write_line(_line(tokens, width, name if paths or as_tree else ""))
    # A directory's line has its total.
    if with_total and not as_json and not (as_tree and len(arguments) == 1):
        write_line(_line(sums.tokens, width, "total"))
    if limit is not None and sums.tokens > limit:
        write_message(f"the total of {sums.tokens} is over the limit of {limit}")
    if failed:
        sys.exit(2)
    if limit is not None and sums.tokens > limit:
        sys.exit(1)


def _line(tokens: int, width: int, name: str) -> str:
    return f"{tokens:{width}} {name}" if name else f"{tokens}"


def _is_error(file: Found, outcome: Outcome, errors: str | None) -> bool:
    """Whether the exit status tells that a file was not counted."""
    if not outcome.was_read or errors == "strict":
        return True
    return file.is_named and errors != "skip"


def _size(found: Sequence[Found]) -> int | None:
    """The bytes of all files, if they are known."""
    sizes = [file.size for file in found if not file.problem]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _column_width(found: Sequence[Found]) -> int:
    """A width that no count exceeds, from the sizes of the files: no token is empty.

    So a line can be printed as soon as its file is counted. wc does the same.
    """
    size = sum(file.size or 0 for file in found)
    unknown = any(file.size is None and not file.problem for file in found)
    return max(_WIDTH_OF_UNKNOWN if unknown else 1, len(str(size)))


def _flat(shown: Sequence[Counted], rest: Rest) -> Iterator[tuple[int, str]]:
    for one in shown:
        yield one.counts.tokens, one.found.path
    if rest.files:
        yield rest.counts.tokens, more_files(rest.files)


def _tree(
    arguments: Sequence[str],
    counted: Sequence[Counted],
    shown: Sequence[Counted],
    order: str | None,
) -> Iterator[tuple[int, str]]:
    from ..tree import LINES, tree_lines  # only this form needs it

    return tree_lines(
        arguments,
        counted,
        shown,
        by_tokens=order == "tokens",
        ascii_only=not can_show("".join(LINES)),
    )


def _as_json(
    encoding_name: str,
    listed: Sequence[Counted],
    rest: Rest | None,
    sums: Counts,
    failed: Sequence[tuple[str, str]],
    skipped: Sequence[tuple[str, str]],
) -> str:
    """One line of ASCII: a file name's bytes that are not UTF-8 are lone surrogates in it."""
    import json  # only this form needs it

    result: dict[str, Any] = {
        "encoding": encoding_name,
        "files": [{"path": one.found.path, **one.counts._asdict()} for one in listed],
        "total": sums._asdict(),
        "errors": [{"path": path, "error": reason} for path, reason in failed],
        "skipped": [{"path": path, "reason": reason} for path, reason in skipped],
    }
    if rest is not None:
        result["more"] = {"files": rest.files, **rest.counts._asdict()}
    return json.dumps(result)
