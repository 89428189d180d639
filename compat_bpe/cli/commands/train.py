"""``compat-bpe train``: a vocabulary from a corpus."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import click

from ...corpus.documents import CorpusFile, DocumentPart, read_corpus
from ...corpus.prepare import CorpusCounts, Preparation, prepare
from ...files.text import STDIN
from ...train import options as settings
from ...train.checkpoint import Checkpoint, CheckpointedTrainer, has_state
from ...train.estimate import Costs, Estimate, Sample, estimate, share_for
from ...train.kind import Settings
from ...train.trainer import AnyTrained, AnyTrainer, Trainer, trainer_of
from ...train.write import ALL_FORMATS, MANIFEST, write_vocabulary
from ...version import __version__
from ..app import GroupedCommand, gathered, option
from ..options.corpus import (
    CORPUS_OPTIONS,
    Corpus,
    CorpusArguments,
    CountedInput,
    corpus_options,
    counts_option,
    preparation_options,
)
from ..options.training import (
    OUTPUT_OPTIONS,
    Training,
    check_inputs,
    checked_name,
    flags_of,
    say_left_out,
    training_options,
    vocabulary_options,
)
from ..output import (
    CommandError,
    command_errors,
    plural,
    vocabulary_inputs,
    write_bytes,
    write_line,
    write_message,
)
from ..progress import Progress, current, json_progress_option


class Checkpointing:
    """A folder for checkpoints as named on the command line.

    Args:
        folder: the folder; None for no checkpoints.
        every: the seconds between two checkpoints.
    """

    def __init__(self, folder: str | None, every: float) -> None:
        self._folder = folder
        self._every = every
        self._checkpoint: Checkpoint | None = None

    @property
    def goes_on(self) -> bool:
        """True if there is a checkpoint."""
        return self._folder is not None and has_state(self._folder)

    def check(self, output: Path, corpus: Iterable[str]) -> None:
        """Raise ``UsageError`` if the folder belongs to the vocabulary or to the corpus."""
        if self._folder is None:
            return
        folder, target = (Path(os.path.realpath(path)) for path in (self._folder, output))
        if folder in (target, *target.parents) or target in folder.parents:
            raise click.UsageError("--checkpoint and --output need separate folders.")
        for path in corpus:
            if Path(os.path.realpath(path)) in (folder, *folder.parents):
                raise click.UsageError(
                    f"--checkpoint: {path} contains this folder, whose files would be read as part "
                    "of the corpus."
                )

    @contextmanager
    def around(self, trainer: AnyTrainer, settings: Settings[Any]) -> Iterator[AnyTrainer]:
        """Give a trainer that writes checkpoints; the trainer itself if there is no folder.

        Raises:
            CommandError: the kind is not learned from counts.
            OSError, ValueError: as ``Checkpoint``.
        """
        with trainer:
            if self._folder is None:
                yield trainer
                return
            if not isinstance(trainer, Trainer):
                raise CommandError(
                    "--checkpoint is not available for SentencePiece models, which keep their "
                    "texts in a temporary file"
                )
            with Checkpoint(self._folder, settings, self._every) as checkpoint:
                if checkpoint.fed:
                    shown = checkpoint.shown
                    write_message(f"{self._folder}: going on from the checkpoint: {shown}")
                yield CheckpointedTrainer(trainer, checkpoint)
            self._checkpoint = checkpoint

    def remove(self) -> None:
        """Remove the checkpoint, when the vocabulary is written."""
        if self._checkpoint is not None:
            self._checkpoint.remove()


#: The options for a run that may be stopped, as the parameter ``checkpointing``.
checkpoint_options = gathered(
    "checkpointing",
    lambda checkpoint, checkpoint_every: Checkpointing(checkpoint, checkpoint_every),
    option(
        "--checkpoint DIR",
        "Save the work done so far in DIR. If the command is stopped, run it again to continue "
        "from there. DIR is removed when the vocabulary is written.",
        type=click.Path(),
    ),
    option(
        "--checkpoint-every SECONDS",
        "Write a checkpoint every SECONDS, or less often if writing takes long; with 0, after each "
        "text and each merge.",
        type=click.FloatRange(min=0),
        default=60,
    ),
)

#: The options, for a section of a command's help.
CHECKPOINT_OPTIONS = ("--checkpoint", "--checkpoint-every")


#: The bytes of text after which the estimate is made, and the least size of a corpus that has one.
_AFTER = 4_000_000
_LEAST = 8_000_000

#: The share of the beginning that is looked at.
_SHARE = 0.25

#: A training of more seconds is long.
_LONG = 60.0


class Forecast:
    """Estimates of a training: one after the first megabytes, and one before learning begins.

    The first is based on the beginning of the corpus, the second on all of it. They are made if
    the size of the corpus is known, and shown if the training is long or a program asks for
    progress.

    Args:
        costs: the costs of the kind of vocabulary; None if they are not known.
        corpus: the corpus that is read.
        counts: the counts of the text read so far.
        workers: the most processes that count.
    """

    def __init__(
        self, costs: Costs | None, corpus: Corpus, counts: CorpusCounts, workers: int | None
    ) -> None:
        self._costs = costs
        self._corpus = corpus
        self._counts = counts
        self._workers = workers
        self._beginning: Sample | None = None
        self._whole: Sample | None = None
        if corpus.size:
            self._beginning = Sample(_SHARE)
            self._whole = Sample(share_for(corpus.size))

    def see(self, text: str) -> None:
        """Take a part of the corpus; say the first estimate once there is enough text."""
        if self._whole is not None:
            self._whole.see(text)
        if self._beginning is None:
            return
        self._beginning.see(text)
        read = self._counts.kept.bytes
        if read < _AFTER or not self._beginning.is_full or not self._corpus.done:
            return
        texts, self._beginning = self._beginning.texts, None
        # Bytes on disk, which may be compressed, and JSON around the text, are in proportion.
        self._estimate(texts, int(read * (self._corpus.size or 0) / self._corpus.done))

    def all_read(self) -> None:
        """Say the second estimate; the whole corpus has been read."""
        if self._whole is not None:
            self._estimate(self._whole.texts, self._counts.kept.bytes, is_read=True)

    def _estimate(self, texts: Sequence[str], size: int, *, is_read: bool = False) -> None:
        if size >= _LEAST:
            made = estimate(self._costs, texts, size, self._workers, is_read=is_read)
            if made is not None:
                _say(made)


def _say(made: Estimate) -> None:
    progress = current()
    if progress is not None:
        progress.write(
            "estimate",
            least_seconds=round(made.seconds.least, 1),
            most_seconds=round(made.seconds.most, 1),
            least_bytes=int(made.bytes.least),
            most_bytes=int(made.bytes.most),
            size=made.size,
        )
    elif made.seconds.most >= _LONG:
        write_message(in_words(made))


def in_words(made: Estimate) -> str:
    """Return an estimate as a message.

    >>> from compat_bpe.train.estimate import Range
    >>> in_words(Estimate(Range(31.0, 95.0), Range(120e6, 410e6), 50_000_000))
    'an estimate for 50 MB of text: 31 to 95 seconds more, and 120 to 410 MB of memory'
    >>> in_words(Estimate(Range(400.0, 5000.0), Range(1e9, 2e9), 50_000_000))
    'an estimate for 50 MB of text: 7 to 83 minutes more, and 1,000 to 2,000 MB of memory'
    """
    unit, of = ("seconds", 1) if made.seconds.most < 120 else ("minutes", 60)
    time = " to ".join(f"{one / of:,.0f}" for one in made.seconds)
    memory = " to ".join(f"{one / 1e6:,.0f}" for one in made.bytes)
    size = f"{made.size / 1e6:,.0f} MB of text"
    return f"an estimate for {size}: {time} {unit} more, and {memory} MB of memory"


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
            "--normalize",
            "--mask",
            "--drop-duplicates",
            *flags_of(settings.PREPARATION),
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

    --counts reads chunks that were counted before; see compat-bpe corpus counts.

    The merges are those that Hugging Face tokenizers learns from the same documents and pattern,
    except that its order of characters with a mark is random. Here, the same input always gives
    the same files.

    \b
    Models:
      bpe            byte-level BPE, as in GPT-2
      wordpiece      as in BERT: pieces with ## where they do not begin a word
      character-bpe  BPE over characters, with </w> at the end of a word
      unigram        as in T5 and XLNet: pieces with scores, ▁ for a space
      word-level     whole words
      characters     each character
      bytes          each byte
      sentencepiece-bpe, sentencepiece-unigram
                     models of SentencePiece, as in Llama 2 and T5

    \b
    Formats, and what reads them:
      tiktoken        NAME.tiktoken: tiktoken, load_tiktoken
      gpt2            encoder.json, vocab.bpe: tiktoken, GPT-2's own code
      vocab-merges    vocab.json, merges.txt: transformers, for GPT-2's pattern
      tokenizer-json  tokenizer.json: tokenizers, transformers, for any pattern
      token-map       token_map.tsv: people; each token with its parts
      sentencepiece   NAME.model, NAME.vocab: sentencepiece

    A model other than bpe is written as tokenizer-json and token-map; a model of SentencePiece as
    sentencepiece. For the latter, --special names control symbols; --bos, --eos, --unk and --pad
    name the special pieces; and one process does the work.

    tokenizer_config.json, for transformers, has the roles of special tokens: --bos, --eos, --unk
    and --pad, which become special tokens if --special does not name them. manifest.json has the
    settings, the corpus and its SHA-256, the input left out of it, and the SHA-256 of each file.

    If a file cannot be read, a message names it, the vocabulary is learned from the other files,
    and the exit status is 2.

    The time and memory of a run of more than a minute are estimated from the first megabytes, and
    again before learning begins. The objects of --json-progress have the keys "stage" and
    "seconds"; those of "read" and "learn" also "done", "total" (or null) and "unit"; of "estimate"
    "least_seconds", "most_seconds", "least_bytes", "most_bytes" and "size"; of "finished"
    "status", "stopped" and "tokens"; and of "failed" "status" and "error". "finished" or "failed"
    comes last.
    """
    validation = preparation.validation
    kind = training.kind
    needs_held_out = kind.convergence is not None
    if needs_held_out and not validation:
        raise click.UsageError("--patience and --check-every need --validation.")
    # The earlier run may have been stopped after everything was written.
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
    mask = click.get_current_context().params["mask"]
    others = [mask, *vocabulary_inputs(training.like), *counted.reader.files]
    others += vocabulary_inputs(training.start)
    check_inputs(output, name, formats, extra, documents, others)
    with command_errors(output):
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
                    # Pattern and special tokens are elsewhere in it.
                    "settings": {
                        **training.described(),
                        **preparation.described(),
                        "field": corpus.field,
                        "group_field": corpus.group_field,
                        "errors": corpus.errors,
                    },
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
        write_message(
            f"--validation {validation:g} is too small for this corpus; nothing was held out"
        )
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


def _summary(
    trained: AnyTrained, counts: CorpusCounts, counted: CountedInput, output: Path, files: list[str]
) -> Iterator[str]:
    kept = counts.kept
    size = plural(kept.bytes, "byte") if kept.bytes < 100_000 else f"{kept.bytes / 1e6:,.1f} MB"
    merges = f"{len(trained.merges):,} of them merges, " if trained.merges else ""
    sources = [f"{plural(kept.documents, 'document')} of {size}"] * bool(
        kept.documents or not counted.paths
    )
    sources += [plural(counted.reader.total, "counted chunk")] * bool(counted.paths)
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
