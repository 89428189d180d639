"""``compat-bpe extend``: more tokens for a vocabulary, and no other ids for those it has."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from compat_bpe import Encoding, __version__
from compat_bpe.cli.corpus_option import CorpusArguments, corpus_options
from compat_bpe.cli.encoding_option import chosen_encoding, encoding_options
from compat_bpe.cli.output import CommandError, failure, write_line, write_message
from compat_bpe.cli.progress import Progress
from compat_bpe.cli.streams import write_bytes
from compat_bpe.cli.vocabulary_option import vocabulary_options
from compat_bpe.encodings.deepseek import PARTS as DEEPSEEK_PARTS
from compat_bpe.encodings.patterns import PATTERNS
from compat_bpe.formats.manifest import AS_TOKENIZER_JSON
from compat_bpe.formats.plain_text import read_text
from compat_bpe.tokenizer import Tokenizer
from compat_bpe.train.extend import Extended, Extender
from compat_bpe.train.output import (
    MANIFEST,
    check_folder,
    check_name,
    readable,
    write_vocabulary,
)
from compat_bpe.train.trainer import DEEPSEEK

#: What is written if it is not said, as far as it can hold the vocabulary.
_DEFAULT_FORMATS = ("tiktoken", "gpt2", "tokenizer-json", "token-map")

#: The file that says what is new.
_CHANGES = "changes.json"
#: Chunks that are in it: those that the new tokens save most in.
_MOST_CHUNKS = 1000


@click.command()
@corpus_options
@encoding_options
@click.option(
    "-n",
    "--number",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    help="Learn N tokens on the text; fewer if no pair is left that comes often enough.",
)
@click.option(
    "--terms",
    "terms_file",
    metavar="FILE",
    type=click.Path(),
    help="Make each line of FILE, in UTF-8, one token.",
)
@click.option(
    "--no-space",
    is_flag=True,
    help="Make terms tokens only as they stand, not also with a space before them.",
)
@click.option(
    "--min-frequency",
    metavar="N",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    help="Learn no token whose parts come together less often.",
)
@click.option(
    "--max-token-length",
    metavar="BYTES",
    type=click.IntRange(min=1),
    help="Learn no token that is longer.",
)
@vocabulary_options(f"{', '.join(_DEFAULT_FORMATS)}, as far as they can hold it")
def extend(
    corpus: CorpusArguments,
    model: str | None,
    encoding: str | None,
    pattern: str | None,
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
    """Add tokens to a vocabulary: for terms, and learned on text.

    No id that the vocabulary has changes: those of new tokens follow after the highest. Text in
    which no two tokens stand beside each other that a new one joins is encoded as before.

    The text is that of files, of those in directories, and of the lines of .jsonl files; with no
    PATH, it is standard input if -n is given. A term becomes a token by joining the first two of
    the tokens that it has until it is one, so it takes an id for each of them but one. One that the
    encoding splits cannot be a token: it is named, and the exit status is 2.

    DIR gets the vocabulary in each format, a manifest.json, and changes.json: the new tokens, what
    became of the terms, how many tokens the text has before and after, and the chunks in which most
    are saved.

    \b
    Examples:
      $ compat-bpe extend -e cl100k_base -n 1000 -o medical/ abstracts/
      $ compat-bpe extend -e tokenizer.json --terms drugs.txt -o new/
      $ compat-bpe count -e new/tokenizer.json notes.txt
    """
    if not number and terms_file is None:
        raise click.UsageError("say what to add: -n NUMBER, --terms FILE, or both.")
    name = output.resolve().name if name is None else name
    try:
        check_folder(output, force=force)
        check_name(name)
    except (OSError, ValueError) as error:
        raise failure(error, output) from None
    terms = [] if terms_file is None else _terms(terms_file)
    old = chosen_encoding(model, encoding, pattern)
    found_corpus = corpus.find() if corpus.paths or number else None
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
    try:
        with extender:
            if found_corpus is not None:
                for part in found_corpus.read():
                    extender.feed(part.text, part.group, is_last=part.is_last)
            with Progress(number, "tokens") as progress:
                found = extender.extend(progress.advance)
        written = write_vocabulary(
            output,
            found.encoding,
            pattern=_pattern(old),
            formats=formats or _DEFAULT_FORMATS,
            merges=found.merges,
            manifest={
                "extends": old.name,
                "versions": {"compat_bpe": __version__, "unicode": "16.0"},
                "metrics": _metrics(found),
            },
            force=force,
            extra={_CHANGES: io.BytesIO(_changes(old, found))},
            left_out=None if formats else _left_out,
        )
    except (OSError, ValueError) as error:
        raise failure(error, output) from None
    if as_json:
        write_bytes((output / MANIFEST).read_bytes())
    else:
        for line in _summary(found, output, written, found_corpus is not None):
            write_line(line)
    learned = sum(merge.frequency > 0 for merge in found.merges)
    if learned < number:
        least = max(min_frequency, 1)
        write_message(
            f"{learned:,} tokens learned, not {number:,}: no two tokens that may be merged stand "
            f"together {least} times or more"
        )
    failed = [term for term in found.terms if term.reason]
    for term in failed:
        write_message(f"{terms_file}: {term.text!r} cannot be one token: {term.reason}")
    if failed:
        sys.exit(2)


def _terms(path: str) -> list[str]:
    """The lines of a file, without those that are empty."""
    try:
        text, _ = read_text(path)
    except OSError as error:
        raise failure(error, path) from None
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from None
    return [line for line in text.removeprefix("\ufeff").splitlines() if line.strip()]


def _left_out(kind: str, reason: str) -> None:
    write_message(f"{kind} is not written: {reason}")


def _pattern(encoding: Encoding) -> str:
    """How text is split, as the manifest has it."""
    if isinstance(encoding, Tokenizer):
        steps = encoding.definition.parts.get("pre_tokenizer")
        return DEEPSEEK if steps == DEEPSEEK_PARTS["pre_tokenizer"] else AS_TOKENIZER_JSON
    names = [name for name, known in PATTERNS.items() if known == encoding._pat_str]
    return names[0] if names else encoding._pat_str


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
    ids = f", ids {merges[0].id} to {merges[-1].id}" if merges else ""
    yield f"new tokens: {len(merges):,}{ids}"
    if has_text:
        before, after = found.changes.before, found.changes.after
        share = f" ({after / before - 1:+.2%})" if before else ""
        yield f"tokens of the text: {before:,} before, {after:,} after{share}"
    yield f"written to {folder}: {', '.join(written)}"


def _changes(old: Encoding, found: Extended) -> bytes:
    """The content of ``changes.json``, with a line for each item of a list."""
    lists: dict[str, list[dict[str, Any]]] = {
        "tokens": [
            {
                "id": merge.id,
                "token": readable(merge.left + merge.right),
                "left": readable(merge.left),
                "right": readable(merge.right),
                "frequency": merge.frequency,
            }
            for merge in found.merges
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
