"""``compat-bpe extend``: add tokens to a vocabulary without changing an id."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from ... import Encoding
from ...pipeline.core import is_byte_level
from ...train.bpe.growing import pattern_name_of
from ...train.extend import Extended, Extender
from ...train.write import MANIFEST, readable, write_vocabulary
from ...version import __version__
from ..app import GroupedCommand, option
from ..input import INPUT_PATH, read_terms
from ..options.corpus import CORPUS_OPTIONS, CorpusArguments, corpus_options
from ..options.encoding import NamedEncoding, TokenNumber, encoding_option
from ..options.training import (
    OUTPUT_OPTIONS,
    check_inputs,
    checked_name,
    say_left_out,
    setting_option,
    vocabulary_options,
    why_stopped,
)
from ..output import (
    command_errors,
    plural,
    vocabulary_inputs,
    write_bytes,
    write_line,
    write_message,
)
from ..progress import Progress, json_progress_option

#: The formats that are written by default; one that cannot hold the vocabulary is left out.
_DEFAULT_FORMATS = ("tiktoken", "gpt2", "tokenizer-json", "token-map")
#: Those of other kinds than byte-level BPE.
_JSON_FORMATS = ("tokenizer-json", "token-map")

#: The file that lists the changes.
_CHANGES = "changes.json"
#: The number of chunks in that file, those that save most tokens.
_MOST_CHUNKS = 1000


@click.command(
    cls=GroupedCommand,
    short_help="Add tokens to a vocabulary.",
    options_metavar="-o DIR [-n N] [--terms FILE] [OPTIONS]",
    groups={
        "Required (DIR, and -n or --terms)": ["--output", "--number", "--terms"],
        "Vocabulary": [
            "--encoding",
            "--model",
            "--pattern",
            "--no-space",
            "--min-frequency",
            "--max-token-length",
        ],
        "Corpus": CORPUS_OPTIONS,
        "Output": [*OUTPUT_OPTIONS, "--json-progress"],
    },
)
@json_progress_option
@corpus_options
@encoding_option
@option(
    "-n --number N", "Learn up to N tokens from the corpus.", type=TokenNumber(min=0), default=0
)
@option("--terms FILE", "Make each line of FILE one token.", to="terms_file", type=INPUT_PATH)
@option("--no-space", "Add each term only as it is, not also with a space before it.")
@setting_option("min_frequency", default=2)
@setting_option("max_token_length")
@vocabulary_options(f"those of {', '.join(_DEFAULT_FORMATS)} that can hold it")
def extend(
    corpus: CorpusArguments,
    named: NamedEncoding,
    number: int,
    terms_file: str | None,
    no_space: bool,
    min_frequency: int,
    max_token_length: int | None,
    output: Path,
    formats: tuple[str, ...],
    name: str | None,
    force: bool,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Add tokens to a vocabulary: given terms, and tokens learned from a corpus.

    \b
    Examples:
      $ compat-bpe extend -e cl100k_base -n 1000 -o medical/ abstracts/
      $ compat-bpe extend -e tokenizer.json --terms drugs.txt -o new/
      $ compat-bpe count -e new/tokenizer.json notes.txt

    No existing id changes; new tokens get the ids after the highest. Text is encoded as before
    unless it has two neighbouring tokens that a new token joins. Byte-level BPE, BPE over
    characters, WordPiece and vocabularies of words can be extended; Unigram models and models of
    SentencePiece cannot, since their scores are learned as a whole.

    PATH is a text file or a file of JSON lines (.jsonl, .ndjson), compressed (.gz, .bz2, .xz, .zst)
    or not, a table (.parquet, .arrow, .feather), or a directory of such files. Without PATH, or
    where it is -, standard input is read if -n is given.

    To make a term one token, its first two tokens are joined until one is left: this takes one id
    fewer than the term has tokens now. A term that the encoding splits into chunks cannot become a
    token: a message names it, and the exit status is 2. The status is also 2 if a file cannot be
    read: a message names the file, and the others are used.

    DIR gets the vocabulary in each format, manifest.json, and changes.json: the new tokens, the
    terms, the number of tokens of the corpus before and after, and the chunks that save most.

    FORMAT is tiktoken, gpt2, vocab-merges, tokenizer-json or token-map; see train --help.
    """
    if not number and terms_file is None:
        raise click.UsageError("Give -n, --terms or both.")
    name = checked_name(output, name, force=force)
    terms = [] if terms_file is None else read_terms(terms_file)
    old = named.load()
    with command_errors():
        extender = Extender(
            old,
            number,
            terms=terms,
            with_space=not no_space,
            min_frequency=min_frequency,
            max_token_length=max_token_length,
            workers=jobs,
            name=name,
        )
    default = _DEFAULT_FORMATS if is_byte_level(old.core) else _JSON_FORMATS
    found_corpus = corpus.find() if corpus.paths or number else None
    others = [terms_file, *vocabulary_inputs(named.encoding)]
    check_inputs(output, name, formats or default, [_CHANGES], found_corpus, others)
    with command_errors(output):
        with extender:
            if found_corpus is not None:
                for part in found_corpus.read():
                    extender.feed(part.text, part.group, is_last=part.is_last)
            with Progress(number, "tokens") as progress:
                extended = extender.extend(progress.advance)
        read: dict[str, Any] = {}
        if found_corpus is not None:
            read["corpus"] = {"paths": list(corpus.paths), **found_corpus.left_out()}
        written = write_vocabulary(
            output,
            extended.encoding,
            pattern=pattern_name_of(old),
            formats=formats or default,
            merges=extended.merges,
            manifest={
                "extends": old.name,
                "versions": {"compat_bpe": __version__, "unicode": "16.0"},
                **read,
                "metrics": _metrics(extended),
            },
            force=force,
            extra={_CHANGES: io.BytesIO(_changes(old, extended))},
            left_out=None if formats else say_left_out,
        )
    if as_json:
        write_bytes((output / MANIFEST).read_bytes())
    else:
        for line in _summary(extended, output, written, found_corpus is not None):
            write_line(line)
    learned = sum(merge.frequency > 0 for merge in extended.merges)
    if learned < number:
        why = why_stopped(min_frequency)
        if not is_byte_level(old.core):
            why = f"nothing else occurs {plural(max(min_frequency, 1), 'time')} or more"
        write_message(f"{plural(learned, 'token')} learned, not {number:,}: {why}")
    failed = [term for term in extended.terms if term.reason]
    for term in failed:
        write_message(f"{terms_file}: {term.text!r} cannot be one token: {term.reason}")
    if failed or (found_corpus is not None and found_corpus.failed):
        sys.exit(2)


def _metrics(found: Extended) -> dict[str, int]:
    return {
        "new_tokens": len(found.merges),
        "tokens_before": found.changes.before,
        "tokens_after": found.changes.after,
    }


def _summary(
    found: Extended, folder: Path, written: Sequence[str], has_text: bool
) -> Iterator[str]:
    merges = found.merges
    ids = ""
    if len(merges) == 1:
        ids = f", id {merges[0].id}"
    elif merges:
        ids = f", ids {merges[0].id} to {merges[-1].id}"
    yield f"new tokens: {len(merges):,}{ids}"
    if has_text:
        before, after = found.changes.before, found.changes.after
        share = f" ({after / before - 1:+.2%})" if before else ""
        yield f"tokens of the corpus: {before:,} before, {after:,} after{share}"
    yield f"written to {folder}: {', '.join(written)}"


def _changes(old: Encoding, found: Extended) -> bytes:
    """Return the content of ``changes.json``, with a line for each item of a list."""
    lists: dict[str, list[dict[str, Any]]] = {
        "tokens": [
            {
                "id": merge.id,
                "token": readable(token),
                "left": readable(merge.left),
                "right": readable(merge.right),
                "frequency": merge.frequency,
            }
            for merge, token in zip(found.merges, found.tokens)
        ],
        "terms": [term._asdict() for term in found.terms],
        "chunks": [
            {**change._asdict(), "chunk": readable(change.chunk)}
            for change in found.changes.chunks[:_MOST_CHUNKS]
        ],
    }
    figures = {"extends": old.name, "name": found.encoding.name, **_metrics(found)}
    members = [f'"{key}": {json.dumps(value)}' for key, value in figures.items()]
    for key, items in lists.items():
        lines = ",\n  ".join(json.dumps(item, ensure_ascii=False) for item in items)
        members.append(f'"{key}": [\n  {lines}\n ]' if items else f'"{key}": []')
    return ("{\n " + ",\n ".join(members) + "\n}\n").encode()
