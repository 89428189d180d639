"""``compat-bpe report``: the tokens that vocabularies make of a corpus."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path

import click

from ... import __version__
from ...corpus.documents import CorpusFile
from ...encodings.resolve import is_path
from ...files.write import written_whole
from ...report.figures import Check, Report, by_difference, curve_of, notes
from ...report.measure import report_parts
from ...report.text import as_json, line_width, summary_lines, table_lines
from ..app import GroupedCommand, option
from ..input import INPUT_PATH, notebooks_option, read_terms
from ..options.corpus import CORPUS_OPTIONS, CorpusArguments, corpus_options
from ..options.encoding import ESTIMATE, chosen_encodings, encoding_options
from ..output import (
    CommandError,
    check_new_file,
    check_outputs,
    command_errors,
    vocabulary_inputs,
    write_line,
    write_message,
)
from ..progress import json_progress_option

#: A mark in the beginning of every page that this command writes.
_GENERATOR = b'<meta name="generator" content="compat_bpe '


@click.command(
    cls=GroupedCommand,
    short_help="Compare vocabularies on a corpus.",
    groups={
        "Vocabularies": ["--encoding", "--model", "--pattern", "--estimate"],
        "Corpus": [*CORPUS_OPTIONS, "--notebooks"],
        "Report": """
            --summary --by --groups --terms --top --json --html --force --json-progress
        """.split(),
    },
)
@json_progress_option
@corpus_options
@notebooks_option
@partial(encoding_options, several=True)
@ESTIMATE
@option(
    "--by",
    "Report figures for each group or for each file.",
    type=click.Choice(["group", "file"]),
    default="group",
)
@option(
    "--summary", "Print a few lines: a row for each vocabulary, and the groups that differ most."
)
@option(
    "--groups N",
    "Show the N groups in which the vocabularies differ most; totals are of all groups.",
    type=click.IntRange(min=1),
    default=10,
)
@option(
    "--terms FILE",
    "Show how the terms in FILE, one per line, are split into tokens.",
    to="terms_file",
    type=INPUT_PATH,
)
@option(
    "--top N",
    "List the N most frequent and the N longest tokens.",
    type=click.IntRange(min=0),
    default=10,
)
@option("--json", "Print one JSON object instead.", to="as_one_object")
@option("--html FILE", "Also write an HTML page with charts to FILE.", type=click.Path())
@option("--force", "Let --html overwrite a file that is not a page of this command.")
def report(
    corpus: CorpusArguments,
    notebooks: bool,
    encoding: tuple[str, ...],
    model: tuple[str, ...],
    pattern: str | None,
    estimate: bool,
    by: str,
    summary: bool,
    groups: int,
    terms_file: str | None,
    top: int,
    as_one_object: bool,
    html: str | None,
    force: bool,
) -> None:
    """Compare the tokens that vocabularies make of a corpus.

    \b
    Examples:
      $ compat-bpe report --summary -e cl100k_base -e o200k_base corpus/
      $ compat-bpe report -e own/ -e gpt2 --terms names.txt --html report.html corpus/
      $ zcat wiki.jsonl.gz | compat-bpe report --jsonl --group-field lang --json

    PATH is a file or a directory, of text or JSON lines (.jsonl, .ndjson), compressed (.gz, .bz2,
    .xz, .zst) or not, or of tables (.parquet, .arrow, .feather). Without PATH, or where it is -,
    standard input is read. Files are grouped by the first
    directory below PATH; a file directly in PATH, or named itself, is its own group.

    The report has the tokens of each group and in total; bytes per token; tokens per character and
    per word; and the share of chunks (the pieces that text is split into before merging) that are
    one token. If a vocabulary has a token for unknown text, its share follows; if decoding loses
    text, so does the share of words that decoding gives back. The baselines have one token for each
    character, byte or word. Words are separated by white space; for a script without it, such as
    Chinese, compare by characters.

    The groups in which the vocabularies differ most come first; with a single vocabulary, those
    with the most tokens per character. --groups sets how many are shown.

    Then come the balance (tokens per character of each group, relative to the best group); the
    used, unused and unreachable tokens of each vocabulary (unreachable ones only for byte-level
    BPE, and perhaps not all of them); the most frequent and the longest tokens; and the terms.

    With --estimate, a model without a public tokenizer has a column of estimated figures, with a ≈
    before each. An estimate has no chunks, ids or balance: those figures are of encodings only.

    Special tokens in the text count as plain text. Binary files and files that are not UTF-8 in a
    directory are skipped. If a file cannot be read, a message names it, the report covers the
    other files, and the exit status is 2.

    The JSON object has "groups" and "total", the sizes of the text; "encodings", a list with the
    figures of each, by group and in "total", and its "vocabulary", "most_frequent", "longest",
    "tokens_by_bytes" and "terms"; "baselines"; "estimates", if there are some; "errors", with
    "path" and "error"; and "skipped", with "path" and "reason". Unknown values, and ratios that
    would divide by zero, are null.
    """
    if by == "file" and corpus.group_field is not None:
        raise click.UsageError("--by file and --group-field exclude each other.")
    if summary and as_one_object:
        raise click.UsageError("--summary and --json exclude each other.")
    encodings, estimates = chosen_encodings(model, encoding, pattern, estimate=estimate)
    if html is not None and not encodings:
        raise click.UsageError("--html needs an encoding (-e): an estimate has no tokens to draw.")
    terms = [] if terms_file is None else _read_terms(terms_file, corpus.paths)
    if html is not None:
        check_new_file(html, force=force, is_own=_is_page)
    documents = corpus.find(notebooks=notebooks)
    if html is not None:
        others = [*filter(None, [terms_file]), *chain(*map(vocabulary_inputs, encoding))]
        check_outputs([html], [*(file.path for file in documents.files), *others])
    if by == "file":
        documents.files = [CorpusFile(file.path, file.path) for file in documents.files]
    with command_errors():
        made = report_parts(encodings, documents.read(), terms=terms)
    if not made.total.documents:
        raise CommandError(f"there is no text in {corpus.shown}")
    curves = {name: _curve(name) for name in encodings if is_path(name)}
    made = made._replace(
        curves={name: curve for name, curve in curves.items() if curve}, estimates=estimates
    )
    ordered = by_difference(made)
    if html is not None:
        _write_page(ordered, html, top, groups, corpus.paths)
    if as_one_object:
        write_line(as_json(made, top, documents.left_out()))
    else:
        width = line_width()
        shown = summary_lines if summary else partial(table_lines, top=top, groups=groups)
        for line in shown(ordered, width):
            write_line(line)
        for note in notes(made):
            write_message(note)
    if documents.failed:
        sys.exit(2)


def _curve(path: str) -> list[Check]:
    """Return the learning curve of a vocabulary; none if it has none."""
    with command_errors(path):
        return curve_of(Path(path))


def _is_page(beginning: bytes) -> bool:
    return beginning.startswith(b"<!doctype html>") and _GENERATOR in beginning


def _read_terms(path: str, paths: Sequence[str]) -> list[str]:
    """Return the lines of a file that are not blank."""
    if path == "-" and (not paths or "-" in paths):
        raise click.UsageError("--terms - and a corpus from standard input exclude each other.")
    return read_terms(path)


def _write_page(made: Report, path: str, top: int, groups: int, corpus: Sequence[str]) -> None:
    from ...report.html import page, page_time  # only this form needs them

    with command_errors():
        made_at = page_time(os.environ)
    data = page(
        made, top, groups=groups, corpus=corpus or ["-"], version=__version__, made_at=made_at
    ).encode()
    try:
        with written_whole(path) as file:
            file.write(data)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from None
