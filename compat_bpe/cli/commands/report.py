"""``compat-bpe report``: what vocabularies make of a corpus."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click

from ... import __version__
from ...corpus.documents import CorpusFile
from ...report.figures import Report
from ...report.measure import report_parts
from ...report.text import as_json, line_width, table_lines
from ...save import write_files
from ..options.corpus import CorpusArguments, corpus_options
from ..options.encoding import chosen_encodings, encoding_options
from ..output import CommandError, write_line
from ..streams import read_all


@click.command()
@corpus_options
@partial(encoding_options, several=True)
@click.option(
    "--by",
    type=click.Choice(["group", "file"]),
    default="group",
    show_default=True,
    help="What is told apart: groups, or files.",
)
@click.option(
    "--terms",
    "terms_file",
    type=click.Path(allow_dash=True),
    metavar="FILE",
    help="A file of terms, a line each; how they are cut is shown.",
)
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="How many of the most frequent and of the longest tokens to list.",
)
@click.option("--json", "as_one_object", is_flag=True, help="Print one JSON object instead.")
@click.option(
    "--html", type=click.Path(), metavar="FILE", help="Write a page with charts to FILE as well."
)
def report(
    corpus: CorpusArguments,
    encoding: tuple[str, ...],
    model: tuple[str, ...],
    pattern: str | None,
    by: str,
    terms_file: str | None,
    top: int,
    as_one_object: bool,
    html: str | None,
) -> None:
    """Report what vocabularies make of a corpus, side by side.

    PATH is a file or a directory: of text, or of JSON lines (.jsonl, .ndjson), each also
    compressed (.gz). With no PATH, or where it is -, standard input is read. The first directory
    below a PATH is the group of the files in it; a file that is not in one is its own group.

    For each group and in total there are the tokens; bytes per token; tokens per character and per
    word; and how many chunks, which is what a text is split into before anything is merged, are one
    token. Beside the encodings stands what a token for each character, byte or word would give. A
    word is what stands between white space: in writing without it, Chinese for instance, a clause
    or a sentence, so there compare by characters.

    Then there is how even the groups are treated, tokens per character relative to the best of
    them; how much of a vocabulary came at all; how many of its tokens no text whatever can give
    (not all such are found); the most frequent and the longest tokens that came; and the terms.

    Counts are those of whole documents. Special tokens in the text are plain text.

    \b
    Examples:
      $ compat-bpe report -e cl100k_base -e o200k_base corpus/
      $ compat-bpe report -e own/ -e gpt2 --terms names.txt --html report.html corpus/
      $ zcat wiki.jsonl.gz | compat-bpe report --jsonl --group-field lang --json

    The object that --json prints has "groups" and "total" with the sizes of the text; "encodings",
    a list with the figures of each, by group and in "total", and its "vocabulary",
    "most_frequent", "longest", "tokens_by_bytes" and "terms"; and "baselines". A ratio that would
    be a division by zero is null.
    """
    if by == "file" and corpus.group_field is not None:
        raise click.UsageError("--by file and --group-field exclude each other.")
    encodings = chosen_encodings(model, encoding, pattern)
    terms = [] if terms_file is None else _read_terms(terms_file, corpus.paths)
    if html is not None:
        _check_target(html)
    found = corpus.find()
    if by == "file":
        found.files = [CorpusFile(file.path, file.path) for file in found.files]
    groups = [] if corpus.group_field is not None else [file.group for file in found.files]
    try:
        made = report_parts(encodings, found.read(), groups=groups, terms=terms)
    except ValueError as error:
        raise CommandError(str(error)) from None
    if not made.total.documents:
        raise CommandError(f"there is no text in {', '.join(corpus.paths) or 'standard input'}")
    if html is not None:
        _write_page(made, html, top, corpus.paths)
    if as_one_object:
        write_line(as_json(made, top))
    else:
        for line in table_lines(made, line_width(), top):
            write_line(line)


def _read_terms(path: str, paths: Sequence[str]) -> list[str]:
    """The lines of a file that are not blank."""
    if path == "-" and (not paths or "-" in paths):
        raise click.UsageError("--terms - and a corpus from standard input exclude each other.")
    lines = read_all(path).split("\n")
    return [line.rstrip("\r") for line in lines if line.strip()]


def _check_target(path: str) -> None:
    """Refuse now what could not be written after all is counted."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise CommandError(f"{path}: it is a directory")
    if not os.path.isdir(folder):
        raise CommandError(f"{path}: there is no directory {folder}")


def _write_page(made: Report, path: str, top: int, corpus: Sequence[str]) -> None:
    from ...report.html import page
    from ...train.report_head import page_time  # only this form needs it

    try:
        made_at = page_time(os.environ)
    except ValueError as error:
        raise CommandError(str(error)) from None
    data = page(made, top, corpus=corpus or ["-"], version=__version__, made_at=made_at).encode()
    target = os.path.realpath(path)
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            # A pipe or a device cannot be replaced by a file.
            with open(target, "wb") as file:
                file.write(data)
        else:
            write_files({Path(target): data})
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from None
