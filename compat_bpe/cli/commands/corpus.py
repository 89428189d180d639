"""``compat-bpe corpus``: counting the chunks of a corpus before training."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from math import gcd
from typing import Any, BinaryIO

import click
from click.core import ParameterSource

from ...corpus.chunk_counts import ChunkCounter, Counts, Spill
from ...corpus.counts_file import (
    MOST_ROWS,
    CountsMerger,
    Row,
    check_output,
    collapsed,
    frequent_rows,
    write_rows,
)
from ...corpus.prepare import CorpusCounts, Preparation, prepare
from ...encodings.encoding import Encoding
from ...encodings.load import load
from ...encodings.sentencepiece import SentencePiece
from ...encodings.tokenizer import Tokenizer
from ...files.text import STDIN
from ...files.write import written_whole
from ...formats.tokenizer_json import TokenizerDefinition
from ...pattern.splitter import Splitter
from ...train.bpe.byte_level import ByteLevelBpe
from ...train.bpe.growing import make_encoding
from ...train.kinds import KINDS, TOKENIZER_KINDS
from ...train.sentencepiece.settings import SentencePieceKind
from ...train.tokenizer_kind import parts_around
from ...train.words import multipliers_of, word_splitter
from ..app import JOBS, GroupedCommand, gathered, option
from ..options.corpus import (
    CORPUS_OPTIONS,
    CorpusArguments,
    CountedInput,
    corpus_options,
    preparation_options,
)
from ..options.training import setting_option
from ..output import (
    CommandError,
    check_new_file,
    check_outputs,
    command_errors,
    plural,
    vocabulary_inputs,
    write_line,
    write_message,
)
from ..progress import json_progress_option

#: The parameters of ``splitting_options``.
_SPLITTING = ("model", "like", "pattern", "normalizer", "pre_tokenizer")


def _splitter(
    model: str,
    like: str | None,
    pattern: str | None,
    normalizer: str | None,
    pre_tokenizer: str | None,
) -> Encoding:
    steps = {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer}
    has_steps = any(one is not None for one in steps.values())
    if pattern is not None and (like is not None or has_steps or model != ByteLevelBpe.name):
        raise CommandError("--pattern is for --model bpe, and excludes other options for splitting")
    kind = KINDS[model]
    if like is not None:
        encoding = load(like)
        if isinstance(encoding, SentencePiece):
            kind = SentencePieceKind
        elif isinstance(encoding, Tokenizer) and isinstance(
            encoding.definition, TokenizerDefinition
        ):
            return word_splitter(parts_around(steps, encoding.definition.parts))
        elif isinstance(encoding.core.splitter, Splitter):
            pattern = encoding.core.splitter.pattern
        else:
            raise ValueError(f"{like}: a tokenizer.json cannot describe this tokenizer")
    if has_steps and kind.usual_pattern is not None:
        raise CommandError("--normalizer and --pre-tokenizer are for other models: see --model")
    if pattern is None or (kind.usual_pattern and "pattern" not in kind.option_names()):
        pattern = kind.usual_pattern
    if pattern is not None:
        return make_encoding("chunks", pattern)
    return word_splitter(parts_around(steps, TOKENIZER_KINDS[model].defaults))


def _splitter_or_failure(**options: Any) -> Encoding:
    with command_errors(options["like"] or ""):
        return _splitter(**options)


#: The options that decide how text is split, as ``splitter``, whose chunks are counted.
splitting_options = gathered(
    "splitter",
    _splitter_or_failure,
    option(
        "--model MODEL",
        "Count the units that a model of this kind is learned from: chunks, words or "
        "(SentencePiece) lines. The kinds are those of train.",
        type=click.Choice(list(KINDS)),
        default=ByteLevelBpe.name,
    ),
    setting_option("like", help="Split as this tokenizer does."),
    *map(setting_option, ("pattern", "normalizer", "pre_tokenizer")),
)

#: The parameters that --merge refuses: they are about texts.
_OF_TEXTS = (
    *_SPLITTING,
    "field",
    "group_field",
    "jsonl",
    "errors",
    "include",
    "exclude",
    "hidden",
    "no_ignore",
    "normalize",
    "mask",
    "drop_duplicates",
    "validation",
)


@click.group(short_help="Count the chunks of a corpus.")
def corpus() -> None:
    """Count the chunks of a corpus, to learn vocabularies from their counts.

    \b
    Examples:
      $ compat-bpe corpus counts -o counts.tsv.gz corpus/
      $ compat-bpe train -n 8000 -o vocabulary --counts counts.tsv.gz
    """


@corpus.command(
    cls=GroupedCommand,
    groups={
        "Splitting": ["--model", "--like", "--pattern", "--normalizer", "--pre-tokenizer"],
        "Corpus": CORPUS_OPTIONS,
        "Preparation": ["--normalize", "--mask", "--drop-duplicates", "--weight", "--validation"],
        "Counts": ["--merge", "--by-group", "--min-count"],
        "Output": ["--output", "--force", "--json", "--json-progress"],
    },
)
@json_progress_option
@corpus_options
@splitting_options
@preparation_options(
    "Leave out this share of the corpus: the text that train holds out with the same option."
)
@setting_option("weights")
@option("--merge", "Add up files of counts: each PATH is one.")
@option("--by-group", "Count each group separately, and write its name with each count.")
@option(
    "--min-count N",
    "Leave out chunks that occur fewer than N times. The vocabulary learned may then differ.",
    type=click.IntRange(min=1),
    default=1,
)
@option(
    "-o --output FILE",
    "Write to FILE: .tsv, .tsv.gz, .jsonl or .jsonl.gz. Default: TSV on standard output.",
    type=click.Path(),
    default=STDIN,
    show_default=False,
)
@option("--force", "Overwrite FILE.")
@JOBS
@option("--json", "Print figures as a JSON object.", to="as_json")
@click.pass_context
def counts(
    context: click.Context,
    corpus: CorpusArguments,
    splitter: Encoding,
    preparation: Preparation,
    weights: dict[str, float],
    merge: bool,
    by_group: bool,
    min_count: int,
    output: str,
    force: bool,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Count the chunks of a corpus, or add up such counts.

    \b
    Examples:
      $ compat-bpe corpus counts -o counts.tsv.gz corpus/
      $ compat-bpe corpus counts --merge counts.tsv.gz counts.tsv.gz -o more.tsv.gz
      $ compat-bpe corpus counts --model wordpiece -o words.jsonl corpus/
      $ compat-bpe corpus counts corpus/ | compat-bpe train -n 8000 -o vocabulary --counts -

    PATH is read as by compat-bpe train. Each distinct chunk is written once, with its count, in
    the order of code points. The same text gives the same bytes with any number of processes.
    Memory is bounded: sorted counts wait in temporary files (TMPDIR) until they are merged.

    A line is chunk, tab and count. In a chunk, a tab is \\t, a line feed \\n, a carriage return \\r
    and a backslash \\\\; the first line names the columns. A line of .jsonl is an object with
    "chunk" and "count". With --by-group, a column or key "group" follows.

    With --weight, the counts of each group are multiplied by integers that bring the groups into
    these proportions; --min-frequency of train is then compared with multiplied counts.

    With --merge, a PATH may also be .parquet, or a directory of such files, as Spark writes them.
    The group of a row without one is its file's name up to the first dot.

    The JSON object has "chunks", the number of distinct ones; "total", the sum of all counts;
    "dropped", the chunks below --min-count and the sum of their counts; "factors", the multiplier
    of each group; "corpus", the input; and "errors" and "skipped", the input left out.
    """
    to_stdout = output == STDIN
    if to_stdout and as_json:
        raise click.UsageError("--json needs --output.")
    with command_errors():
        check_output(output)
    if not to_stdout:
        check_new_file(output, force=force)
    if merge:
        _refuse(context, _OF_TEXTS)
    counted = CountedInput((corpus.paths or (STDIN,)) if merge else ())
    documents = corpus.empty() if merge else corpus.find()
    read = CorpusCounts()
    if not to_stdout:
        others = [context.params["mask"], *vocabulary_inputs(context.params["like"])]
        inputs = [*counted.reader.files, *(file.path for file in documents.files)]
        check_outputs([output], [*inputs, *filter(None, others)])
    sums = _Sums(keeps_groups=by_group or bool(weights))
    figures: dict[str, Any] = {}
    with command_errors("standard output" if to_stdout else output), sums.merger:
        if merge:
            for row in counted.rows():
                sums.add_row(*row)
        else:
            parts = prepare(documents.read(), preparation, counts=read)
            with ChunkCounter(splitter, jobs, Spill(sums.add, MOST_ROWS)) as counter:
                for part in parts:
                    counter.feed(part.text, part.group, is_last=part.is_last)
                counter.finish()
        factors = sums.factors(weights)
        rows = ((chunk, n * factors.get(group, 1), group) for chunk, n, group in sums.merger.rows())
        kept = frequent_rows(rows if by_group else collapsed(rows), min_count, figures)
        chunks, total = _write(kept, output, by_group)
    if as_json:
        made = {"chunks": chunks, "total": total, "dropped": figures, "factors": factors}
        texts = {"paths": list(corpus.paths), **read.as_dict()}
        source = {"corpus": counted.as_dict() if merge else texts}
        write_line(json.dumps({**made, **source, **documents.left_out()}))
    else:
        dropped = f", without {plural(figures['chunks'], 'rarer one')}" * (min_count > 1)
        say = write_message if to_stdout else write_line
        say(f"{plural(chunks, 'distinct chunk')}{dropped}; {plural(total, 'chunk')} in all")
    if documents.failed:
        sys.exit(2)


def _refuse(context: click.Context, names: tuple[str, ...]) -> None:
    """Raise ``UsageError`` if one of some options, which are for texts, was given."""
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in names and source is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[-1]} is for texts, not for --merge.")


class _Sums:
    """The counts so far, and the size of each group.

    Args:
        keeps_groups: count each group for itself.
    """

    def __init__(self, *, keeps_groups: bool) -> None:
        self.merger = CountsMerger()
        self._keeps_groups = keeps_groups
        self._sizes: dict[str, int] = {}

    def add_row(self, chunk: str, count: int, group: str) -> None:
        """Add the count of a chunk."""
        if self._keeps_groups:
            self._sizes[group] = self._sizes.get(group, 0) + len(chunk.encode()) * count
        self.merger.add_row(chunk, count, group if self._keeps_groups else "")

    def add(self, counts: Counts) -> None:
        """Add the counts of some groups."""
        for group, own in counts.items():
            for chunk, count in own.items():
                self.add_row(chunk, count, group)

    def factors(self, weights: Mapping[str, float]) -> dict[str, int]:
        """Return the multiplier of each group: the smallest integers in the right proportion."""
        if not weights:
            return {}
        multipliers = multipliers_of(self._sizes, weights)
        divisor = gcd(*multipliers.values())
        return {group: number // divisor for group, number in multipliers.items()}


def _write(rows: Iterator[Row], output: str, by_group: bool) -> tuple[int, int]:
    """Write rows; return the number of distinct chunks, and the sum of their counts."""
    chunks = total = 0

    def counted() -> Iterator[Row]:
        nonlocal chunks, total
        last = None
        for row in rows:
            chunks += row[0] != last
            last = row[0]
            total += row[1]
            yield row

    def write(file: BinaryIO) -> None:
        write_rows(file, counted(), output, with_groups=by_group)

    if output == STDIN:
        if sys.stdout is None:
            raise CommandError("standard output: closed")
        write(sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        with written_whole(output) as file:
            write(file)
    return chunks, total
