"""``compat-bpe train``: a vocabulary from a corpus."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import click

from ...corpus.documents import CorpusFile, Part, read_corpus
from ...corpus.masking import read_rules
from ...corpus.prepare import CorpusCounts, Preparation, prepare
from ...encodings.patterns import PATTERNS
from ...train.trainer import DEEPSEEK, Trained, Trainer
from ...train.write import FORMATS, MANIFEST, check_folder, check_name, write_vocabulary
from ...version import __version__
from ..options.corpus import Corpus, CorpusArguments, corpus_options
from ..options.vocabulary import vocabulary_options
from ..output import failure, write_line, write_message
from ..progress import Progress
from ..streams import write_bytes

#: The file with what was held out, as JSON lines that can be read as a corpus.
_VALIDATION = "validation.jsonl"

#: The most frequent and the longest tokens that the report on it lists.
_TOP = 5


def _parse_weights(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, float]:
    weights = {}
    for value in values:
        group, separator, number = value.rpartition("=")
        try:
            weight = float(number)
        except ValueError:
            weight = 0.0
        if not separator or not 0 < weight < float("inf"):
            raise click.BadParameter(f"{value!r} is not GROUP=NUMBER, the number above 0.")
        if group in weights:
            raise click.BadParameter(f"{group!r} has two weights.")
        weights[group] = weight
    return weights


@click.command()
@corpus_options
@click.option(
    "-n",
    "--vocab-size",
    metavar="N",
    type=click.IntRange(min=1),
    help="How many tokens there are in the end, the 256 bytes and the special tokens included.",
)
@click.option(
    "--merges", metavar="N", type=click.IntRange(min=0), help="Learn N merges at the most."
)
@vocabulary_options("all of them")
@click.option(
    "--pattern",
    metavar="NAME|REGEX",
    default="gpt2",
    show_default=True,
    help="How text is split into chunks, across which nothing is merged: "
    f"{', '.join(PATTERNS)}, {DEEPSEEK}, or a pattern.",
)
@click.option(
    "--special", "specials", metavar="NAME", multiple=True, help="A special token; may be repeated."
)
@click.option(
    "--min-frequency",
    metavar="N",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Merge no two tokens that stand together less often.",
)
@click.option(
    "--max-token-length",
    metavar="N",
    type=click.IntRange(min=1),
    help="Make no token of more than N bytes.",
)
@click.option(
    "--weight",
    "weights",
    metavar="GROUP=NUMBER",
    multiple=True,
    callback=_parse_weights,
    help="Count the text of a group so many times that its bytes are to those of the others as "
    "their weights, which are 1 if not given; may be repeated.",
)
@click.option(
    "--normalize",
    type=click.Choice(["NFC", "NFD", "NFKC", "NFKD"]),
    help="Bring the corpus into this Unicode form. The vocabulary will not do that to a text.",
)
@click.option(
    "--mask",
    metavar="FILE",
    help="Replace what matches the rules of a file, a line each: a regular expression, an arrow "
    "(→ or =>) and a replacement.",
)
@click.option(
    "--drop-duplicates",
    type=click.Choice(["lines", "documents"]),
    help="Leave out lines, or whole documents, that have come before.",
)
@click.option(
    "--validation",
    metavar="SHARE",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    help="Hold out this share of the corpus, 0.01 for instance, chosen by its content, as "
    f"{_VALIDATION}, and report on it.",
)
def train(
    corpus: CorpusArguments,
    vocab_size: int | None,
    merges: int | None,
    output: Path,
    name: str | None,
    formats: tuple[str, ...],
    force: bool,
    pattern: str,
    specials: tuple[str, ...],
    min_frequency: int,
    max_token_length: int | None,
    weights: dict[str, float],
    normalize: Any,
    mask: str | None,
    drop_duplicates: Any,
    validation: float,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Learn a vocabulary from a corpus.

    PATH is a text file, a file of JSON lines (.jsonl, .ndjson), either compressed by gzip or not,
    or a directory, whose files are read; with no PATH, or where PATH is -, standard input is. Each
    file, and each JSON line, is a document. Its group, for --weight and for reports, is the folder
    of PATH that it is in, or its name up to the first dot if it is in none.

    The merges are those that Hugging Face tokenizers learns from the same documents, with the same
    pattern. The same input gives the same files, whatever the number of processes.

    \b
    The formats, and what reads them:
      tiktoken        NAME.tiktoken: tiktoken, load_tiktoken
      gpt2            encoder.json, vocab.bpe: tiktoken, GPT-2's own code
      vocab-merges    vocab.json, merges.txt, tokenizer_config.json: transformers
      tokenizer-json  tokenizer.json: tokenizers; the only one that says how text is split
      token-map       token_map.tsv: you; each token with its parts

    With them is manifest.json: the settings, the corpus and its SHA-256, and those of the files.

    \b
    Examples:
      $ compat-bpe train -n 8000 -o vocabulary src/ docs/
      $ compat-bpe train -n 32000 -o vocabulary --pattern o200k_base --special '<|endoftext|>' \\
          --validation 0.01 --weight zh=4 --weight en=4 --weight fr=1 corpus/
      $ zcat texts.gz | compat-bpe train --merges 1000 -o vocabulary --format tiktoken
    """
    if vocab_size is None and merges is None:
        raise click.UsageError("How large? Give --vocab-size, or --merges.")
    name = output.resolve().name if name is None else name
    preparation = Preparation(
        normalization=normalize,
        rules=_rules(mask),
        drop_duplicates=drop_duplicates,
        validation=validation,
    )
    counts = CorpusCounts()
    try:
        check_folder(output, force=force)
        check_name(name)
        found = corpus.find()
        with (
            tempfile.TemporaryFile() as held_out,
            Trainer(
                vocab_size,
                num_merges=merges,
                pattern=pattern,
                special_tokens=specials,
                min_frequency=min_frequency,
                max_token_length=max_token_length,
                weights=weights,
                workers=jobs,
                name=name,
            ) as trainer,
        ):
            _feed(trainer, found, preparation, counts, held_out)
            with Progress(trainer.most_merges, "merges") as progress:
                trained = trainer.train(progress.advance)
            settings = {
                "vocab_size": vocab_size,
                "num_merges": merges,
                "min_frequency": min_frequency,
                "max_token_length": max_token_length,
                "weights": weights,
                "normalization": normalize,
                "mask": [[rule.pattern.pattern, rule.replacement] for rule in preparation.rules],
                "drop_duplicates": drop_duplicates,
                "validation": validation,
                "field": corpus.field,
                "group_field": corpus.group_field,
                "errors": corpus.errors,
            }
            files = write_vocabulary(
                output,
                trained.encoding,
                pattern=pattern,
                formats=formats or tuple(FORMATS),
                merges=trained.merges,
                manifest={
                    "settings": settings,
                    "corpus": {"paths": list(corpus.paths), **counts.as_dict()},
                    "versions": {"compat_bpe": __version__, "unicode": "16.0"},
                    "metrics": _metrics(trained),
                },
                force=force,
                extra={_VALIDATION: held_out} if validation else None,
            )
    except (OSError, ValueError) as error:
        raise failure(error, output) from None
    if as_json:
        write_bytes((output / MANIFEST).read_bytes())
    else:
        for line in _summary(trained, counts, output, files):
            write_line(line)
        if counts.held_out.parts:
            for line in _report(trained, output):
                write_line(line)
    if validation and not counts.held_out.parts:
        write_message(f"nothing was held out: {validation:g} of this corpus is less than a part")
    if trained.stopped != "size":
        least = max(min_frequency, 1)
        write_message(
            f"{len(trained.merges):,} merges, not {trainer.most_merges:,}: "
            f"no two tokens that may be merged stand together {least} times or more"
        )


def _rules(mask: str | None) -> Any:
    if mask is None:
        return ()
    try:
        return read_rules(mask)
    except (OSError, ValueError) as error:
        raise failure(error, mask) from None


def _feed(
    trainer: Trainer,
    corpus: Corpus,
    preparation: Preparation,
    counts: CorpusCounts,
    held_out: BinaryIO,
) -> None:
    """Give all of a corpus to a trainer, but what is held out."""

    def hold_out(part: Part) -> None:
        line = {"text": part.text, "group": part.group, "source": part.source}
        held_out.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    for part in prepare(corpus.read(), preparation, hold_out, counts):
        trainer.feed(part.text, part.group, is_last=part.is_last)


def _metrics(trained: Trained) -> dict[str, Any]:
    """Figures of the corpus, without what was held out, as the vocabulary sees it."""
    return {
        "merges": len(trained.merges),
        "stopped": trained.stopped,
        "bytes": trained.bytes,
        "chunks": trained.chunks,
        "distinct_chunks": trained.distinct_chunks,
        "tokens": trained.tokens,
        "factors": trained.factors,
    }


def _summary(
    trained: Trained, counts: CorpusCounts, output: Path, files: list[str]
) -> Iterator[str]:
    kept = counts.kept
    yield (
        f"{trained.encoding.n_vocab:,} tokens, {len(trained.merges):,} of them merges, from "
        f"{kept.documents:,} documents of {kept.bytes / 1e6:,.1f} MB"
    )
    yield f"{output}: {', '.join(files)}"


def _report(trained: Trained, output: Path) -> Iterator[str]:
    """What the vocabulary makes of the text that was held out."""
    from ...report.measure import report_parts
    from ...report.text import line_width, table_lines

    held_out = read_corpus([CorpusFile(str(output / _VALIDATION), "")], group_field="group")
    made = report_parts({trained.encoding.name: trained.encoding}, held_out)
    yield ""
    yield f"Of what was held out ({made.total.documents:,} parts):"
    yield ""
    yield from table_lines(made, line_width(), _TOP)
