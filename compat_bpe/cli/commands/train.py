"""``compat-bpe train``: a vocabulary from a corpus."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from ...corpus.documents import CorpusFile, DocumentPart, read_corpus
from ...corpus.prepare import CorpusCounts, Preparation, prepare
from ...files.text import STDIN
from ...train import options as settings
from ...train.trainer import AnyTrained, AnyTrainer, trainer_of
from ...train.write import ALL_FORMATS, MANIFEST, write_vocabulary
from ...version import __version__
from ..forecast import Forecast
from ..options.checkpoint import CHECKPOINT_OPTIONS, Checkpointing, checkpoint_options
from ..options.corpus import CORPUS_OPTIONS, Corpus, CorpusArguments, corpus_options
from ..options.counts import CountedInput, counts_option
from ..options.groups import GroupedCommand
from ..options.preparation import preparation_options
from ..options.training import Training, flags_of, training_options
from ..options.vocabulary import (
    OUTPUT_OPTIONS,
    check_inputs,
    checked_name,
    say_left_out,
    vocabulary_options,
)
from ..output import failure, plural, vocabulary_inputs, write_bytes, write_line, write_message
from ..progress import Progress, current, json_progress_option

#: The file with the held-out text, as JSON lines that can be read as a corpus.
_VALIDATION = "validation.jsonl"

#: The number of most frequent and of longest tokens that the report on the held-out text lists.
_TOP = 5


@click.command(
    cls=GroupedCommand,
    options_metavar="-o DIR -n N [OPTIONS]",
    groups={
        "Required (DIR and a size)": ["--output", *flags_of(settings.SIZE)],
        settings.STOP: flags_of(settings.STOP),
        settings.MODEL: ["--model", *flags_of(settings.MODEL)],
        **{group: flags_of(group) for group in settings.OF_KINDS},
        settings.SPECIAL: [*flags_of(settings.SPECIAL), "--bos", "--eos", "--unk", "--pad"],
        "Corpus": [*CORPUS_OPTIONS, "--counts"],
        settings.PREPARATION: [
            *("--normalize", "--mask", "--drop-duplicates", *flags_of(settings.PREPARATION)),
            "--validation",
        ],
        "Output": [*OUTPUT_OPTIONS, *CHECKPOINT_OPTIONS, "--json-progress"],
    },
)
@json_progress_option
@corpus_options
@training_options
@vocabulary_options("all that fit the model", ALL_FORMATS)
@preparation_options(f"Hold out this share of the corpus in {_VALIDATION}, and report on it.")
@counts_option
@checkpoint_options
def train(
    corpus: CorpusArguments,
    training: Training,
    output: Path,
    name: str | None,
    formats: tuple[str, ...],
    force: bool,
    preparation: Preparation,
    mask: str | None,
    counted: CountedInput,
    checkpointing: Checkpointing,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Learn a vocabulary from a corpus.

    \b
    Examples:
      $ compat-bpe train -n 8000 -o vocabulary src/ docs/
      $ compat-bpe train -n 32000 -o vocabulary --pattern o200k_base --eos '<|endoftext|>' \\
          --validation 0.01 --weight zh=4 --weight en=4 --weight fr=1 corpus/
      $ compat-bpe train --model wordpiece -n 8000 -o vocabulary corpus/
      $ compat-bpe train --like tokenizer.json -n 8000 -o vocabulary corpus/
      $ compat-bpe train -n 8000 -o vocabulary --counts counts.tsv.gz
      $ compat-bpe train -n 10000 -o superwords --from vocabulary --pattern superbpe \\
          --max-words 4 --not-joined ': ' corpus/
      $ zcat texts.gz | compat-bpe train --merges 1000 -o vocabulary --format tiktoken

    PATH is a text file or a file of JSON lines (.jsonl, .ndjson), compressed (.gz, .bz2, .xz, .zst)
    or not, a table (.parquet, .arrow, .feather), or a directory of such files. Without PATH, or
    where it is -, standard input is read. Each file, JSON line and row is a document. Its group is
    the first directory below PATH, or else the file's name up to the first dot.

    With --counts, chunks are read that have been counted before; see compat-bpe corpus counts.

    The merges are those that Hugging Face tokenizers learns from the same documents and pattern,
    given the order of the alphabet. The same input always gives the same files.

    \b
    Models:
      bpe            byte-level BPE, as GPT-2 has
      wordpiece      as BERT has: pieces with ## where they do not begin a word
      character-bpe  BPE over characters, with </w> at the end of a word
      unigram        as T5 and XLNet have it: pieces with scores, ▁ for a space
      word-level     whole words
      characters     each character
      bytes          each byte
      sentencepiece-bpe, sentencepiece-unigram
                     models of SentencePiece, as Llama 2 and T5 have them

    \b
    Formats, and what reads them:
      tiktoken        NAME.tiktoken: tiktoken, load_tiktoken
      gpt2            encoder.json, vocab.bpe: tiktoken, GPT-2's own code
      vocab-merges    vocab.json, merges.txt: transformers, for GPT-2's pattern
      tokenizer-json  tokenizer.json: tokenizers, transformers, for any pattern
      token-map       token_map.tsv: people; each token with its parts
      sentencepiece   NAME.model, NAME.vocab: sentencepiece

    Of models other than bpe, tokenizer-json and token-map are written. Of models of SentencePiece,
    sentencepiece is written; --special names control symbols, --bos, --eos, --unk and --pad the
    special pieces, and one process does the work.

    tokenizer_config.json, for transformers, has the roles of special tokens: --bos, --eos, --unk
    and --pad, which are made special tokens if --special does not name them. manifest.json has the
    settings, the corpus and its SHA-256, what was left out of it, and the SHA-256 of each file.

    A file that cannot be read is named, the vocabulary is learned from the others, and the exit
    status is 2.

    If a run takes more than a minute, its time and memory are estimated from the first megabytes,
    and again before learning begins. The objects of --json-progress have the keys "stage" and
    "seconds"; those of "read" and "learn" also "done", "total" (or null) and "unit"; of "estimate"
    "least_seconds", "most_seconds", "least_bytes", "most_bytes" and "size"; of "finished"
    "status", "stopped" and "tokens"; and of "failed" "status" and "error". One of these two comes
    last.
    """
    validation = preparation.validation
    kind = training.kind
    needs_held_out = kind.convergence is not None
    if needs_held_out and not validation:
        raise click.UsageError("--patience and --check-every need --validation.")
    # The run before may have ended when all was written.
    may_be_whole = checkpointing.goes_on and (output / MANIFEST).is_file()
    name = checked_name(output, name, force=force or may_be_whole)
    # A format that was asked for is an error if it cannot hold the vocabulary.
    left_out = None if formats else say_left_out
    formats = formats or kind.formats
    checkpointing.check(output, corpus.paths)
    extra = [_VALIDATION] if validation else []
    counts = CorpusCounts()
    if STDIN in counted.paths and STDIN in corpus.paths:
        raise click.UsageError("Standard input cannot be both PATH and --counts.")
    # Without PATH, counts stand for the corpus.
    documents = corpus.find() if corpus.paths or not counted.paths else corpus.empty()
    others = [mask, *vocabulary_inputs(training.like), *counted.files]
    others += vocabulary_inputs(training.start)
    check_inputs(output, name, formats, extra, documents, others)
    try:
        with (
            tempfile.TemporaryFile() as held_out,
            checkpointing.around(
                trainer_of(kind.settings, workers=jobs, name=name), kind.settings
            ) as trainer,
        ):
            counted.feed(trainer)
            watch = trainer.hold_out if needs_held_out else None
            forecast = Forecast(kind.costs, documents, counts, jobs)
            _feed(trainer, documents, preparation, counts, held_out, watch, forecast)
            with Progress(kind.most_steps, kind.steps) as progress:
                trained = trainer.train(progress.advance)
            read = {"paths": list(corpus.paths), **counts.as_dict(), **documents.left_out()}
            if counted.paths:
                read["counts"] = counted.as_dict()
            files = write_vocabulary(
                output,
                trained.encoding,
                pattern=kind.pattern_name,
                formats=formats,
                merges=trained.merges,
                manifest={
                    "settings": _settings(training, preparation, corpus),
                    "corpus": read,
                    "versions": {"compat_bpe": __version__, "unicode": "16.0"},
                    "metrics": trained.metrics(),
                },
                roles=training.roles,
                force=force,
                extra={_VALIDATION: held_out} if validation else None,
                left_out=left_out,
            )
        checkpointing.remove()
    except (OSError, ValueError) as error:
        raise failure(error, output) from None
    progress_lines = current()
    if progress_lines is not None:
        progress_lines.add_result(stopped=trained.stopped, tokens=trained.encoding.n_vocab)
    if as_json:
        write_bytes((output / MANIFEST).read_bytes())
    else:
        for line in _summary(trained, counts, counted, output, files):
            write_line(line)
        if counts.held_out.parts:
            for line in _report(trained, output):
                write_line(line)
    if validation and not counts.held_out.parts:
        write_message(f"nothing was held out: {validation:g} of this corpus is less than one part")
    note = training.note(trained)
    if note:
        write_message(note)
    if documents.failed:
        sys.exit(2)


def _feed(
    trainer: AnyTrainer,
    corpus: Corpus,
    preparation: Preparation,
    counts: CorpusCounts,
    held_out: BinaryIO,
    watch: Callable[[str], None] | None,
    forecast: Forecast,
) -> None:
    """Give a corpus to a trainer, except for the held-out text, which is watched."""

    def hold_out(part: DocumentPart) -> None:
        line = {"text": part.text, "group": part.group, "source": part.source}
        held_out.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        if watch is not None:
            watch(part.text)

    for part in prepare(corpus.read(), preparation, hold_out, counts):
        trainer.feed(part.text, part.group, is_last=part.is_last)
        forecast.see(part.text)
    forecast.all_read()


def _settings(
    training: Training,
    preparation: Preparation,
    corpus: CorpusArguments,
) -> dict[str, Any]:
    """Return the settings as the manifest has them; pattern and special tokens stand beside."""
    return {
        **training.described(),
        "normalization": preparation.normalization,
        "mask": [[rule.pattern.pattern, rule.replacement] for rule in preparation.rules],
        "drop_duplicates": preparation.drop_duplicates,
        "validation": preparation.validation,
        "field": corpus.field,
        "group_field": corpus.group_field,
        "errors": corpus.errors,
    }


def _summary(
    trained: AnyTrained,
    counts: CorpusCounts,
    counted: CountedInput,
    output: Path,
    files: list[str],
) -> Iterator[str]:
    kept = counts.kept
    size = plural(kept.bytes, "byte") if kept.bytes < 100_000 else f"{kept.bytes / 1e6:,.1f} MB"
    merges = f"{len(trained.merges):,} of them merges, " if trained.merges else ""
    sources = [f"{plural(kept.documents, 'document')} of {size}"] * bool(
        kept.documents or not counted.paths
    )
    sources += [plural(counted.total, "counted chunk")] * bool(counted.paths)
    yield f"{plural(trained.encoding.n_vocab, 'token')}, {merges}from {' and '.join(sources)}"
    yield f"{output}: {', '.join(files)}"


def _report(trained: AnyTrained, output: Path) -> Iterator[str]:
    """Yield the lines of a report on the text that was held out."""
    from ...report.figures import Check
    from ...report.measure import report_parts
    from ...report.text import line_width, table_lines

    held_out = read_corpus([CorpusFile(str(output / _VALIDATION), "")], group_field="group")
    name = trained.encoding.name
    made = report_parts({name: trained.encoding}, held_out)
    if trained.curve:
        made = made._replace(curves={name: [Check(*point) for point in trained.curve]})
    yield ""
    yield f"Held-out text ({plural(made.total.documents, 'part')}):"
    yield ""
    yield from table_lines(made, line_width(), _TOP)
