"""Training on a cluster: words are counted there, and the driver learns from the counts.

Models of SentencePiece are learned from the words of sentences. One machine reads all sentences,
and counts their words. Here the executors do: each normalizes its sentences, splits them, and
counts the words; the driver learns from these. The words and their frequencies are the same, and
BPE, words and characters are learned from nothing else. Unigram also looks at substrings of the
running text, which go on over several words.
"""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from ..columns.batches import Errors
from ..corpus.chunk_counts import Counted, Counts
from ..corpus.chunk_counts import rows_of as counted_rows
from ..corpus.documents import DocumentPart
from ..corpus.prepare import Preparation
from ..encodings.sentencepiece import SentencePiece
from ..train.kind import Advance, Settings
from ..train.kinds import check_settings
from ..train.options import check_least
from ..train.sentencepiece.corpus import corpus_of, lines_of, sentences_of, word_splitter
from ..train.sentencepiece.settings import SentencePieceSettings
from ..train.sentencepiece.trainer import (
    SentencePieceTrainer,
    TrainedSentencePiece,
    check_some_are_short,
    check_takes_counts,
    learn_from_corpus,
)
from ..train.trainer import AnyTrained, AnyTrainer, Trainer
from ..train.write import check_folder, check_name, write_vocabulary
from ..version import __version__
from . import counts
from .counts import ERROR, Count, Figures, Portions, chunks_of, prepared, summed
from .frames import mapped, needed, picked, rows_of
from .prepared import FIRST, with_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The characters that are counted for each of the most words that are held: words may be long.
_LENGTH = 128

#: The figures of a corpus of sentences.
_BYTES, _LINES, _SKIPPED = "sentences.bytes", "sentences.lines", "sentences.skipped"


def check_learned_from_words(settings: SentencePieceSettings) -> None:
    """Raise ``ValueError`` if a model cannot be learned from counted words alone."""
    check_takes_counts(settings)
    if settings.input_sentence_size:
        raise ValueError(
            "input_sentence_size: Spark learns from all lines; take a sample of the rows with "
            "DataFrame.sample"
        )


def sentence_words(
    settings: SentencePieceSettings,
    parts: Iterable[DocumentPart],
    by_group: bool,
    figures: Counter[str],
) -> Iterator[Counts]:
    """Yield the counts of the words of sentences, as ``Portions``; each line of a text is one."""
    split = word_splitter(settings)
    longest = settings.max_sentence_length
    words: Counter[str] = Counter()
    size = 0
    for text in _documents(parts):
        size += len(text)
        figures[_BYTES] += len(text.encode())
        for line in text.split("\n"):
            figures[_LINES] += line != ""
            figures[_SKIPPED] += 4 * len(line) > longest and len(line.encode()) > longest
        for sentence in sentences_of(lines_of([text], settings), settings):
            words.update(split(sentence))
        if len(words) >= counts.HELD or size >= counts.HELD * _LENGTH:
            yield {"": words}
            words = Counter()
            size = 0
    yield {"": words}


def _documents(parts: Iterable[DocumentPart]) -> Iterator[str]:
    """Yield the texts of documents that come in parts."""
    waiting: list[str] = []
    for text, _, _, is_last in parts:
        waiting.append(text)
        if is_last:
            yield "".join(waiting)
            waiting = []


class WordsTrainer(SentencePieceTrainer):
    """Learns a model of SentencePiece from counted words.

    Args:
        settings: the settings.
        name: the name of the encoding.
        figures: the figures of the corpus, complete when all words have come.
    """

    def __init__(self, settings: SentencePieceSettings, name: str, figures: Counter[str]) -> None:
        super().__init__(settings, name=name)
        self._figures = figures
        self._words: Counter[str] = Counter()

    def feed_counts(self, counts: Counted, group: str = "") -> None:
        """Take words and their counts."""
        for word, count, _ in counted_rows(counts, group):
            self._words[word] += count

    def train(self, advance: Advance = lambda steps: None) -> TrainedSentencePiece:
        """Learn from all words.

        Raises:
            ValueError: as in ``learn_sentencepiece``.
        """
        size, lines, skipped = (self._figures[name] for name in (_BYTES, _LINES, _SKIPPED))
        check_some_are_short(lines, skipped, self.settings)
        model = learn_from_corpus(corpus_of(self._words, self.settings), self.settings)
        return TrainedSentencePiece(SentencePiece(self._name, model), size, lines, skipped)


#: The file with the held-out text, as JSON lines that can be read as a corpus.
VALIDATION = "validation.jsonl"

#: The figure of texts that are left out, since they are not UTF-8.
_NOT_UTF8 = "skipped"


def train(
    df: DataFrame,
    column: str,
    output: str | os.PathLike[str],
    settings: Settings[Any],
    *,
    name: str | None = None,
    group: str | None = None,
    preparation: Preparation | None = None,
    order: str | Sequence[str] | None = None,
    min_count: int = 1,
    approximate: int | None = None,
    formats: Iterable[str] | None = None,
    roles: Mapping[str, str] | None = None,
    force: bool = False,
    errors: Errors = "strict",
) -> AnyTrained:
    """Train a vocabulary on a corpus, and write it into a folder of the driver.

    The files are those of ``compat-bpe train`` with the same settings on the same documents, byte
    for byte, except ``manifest.json`` and the order and the sources of ``validation.jsonl``. The
    manifest has the same members. In place of the digest of all text, which depends on the order of
    the documents, it has ``sha256_sum`` (see ``counts.Figures``), and ``spark`` describes the job.

    Spark counts the chunks; the driver gets them sorted, one by one, so its memory grows with the
    number of distinct chunks. The folder is written after learning, all files or none.

    Args:
        df: the corpus, one document a row.
        column: the column of the texts, of type string or binary.
        output: the folder; see ``train.write.write_vocabulary``.
        settings: a ``TrainingSettings`` for byte-level BPE, or the settings of another kind. Of
            SentencePiece, models of BPE, words and characters are learned, from the words that the
            executors count; ``Unigram`` is not, as it looks at the running text.
        name: the name of the vocabulary; that of the folder unless given.
        group: the column of groups, for ``weights``; null is the group "".
        preparation: the steps that prepare the corpus; see ``prepare``. Held-out text goes into
            ``validation.jsonl``, for which the corpus is read once more.
        order: as in ``prepare``.
        min_count: the lowest count of a chunk (with weights, in its group) that is learned from.
            Above 1, the merges may differ from those learned from the texts.
        approximate: as in ``chunk_counts``; the manifest has the error.
        formats, roles, force: as in ``write_vocabulary``; the formats of the kind unless given.
        errors: as in ``count_tokens``; ``"skip"`` leaves the text out.

    Raises:
        ValueError: there is no such column or no text; an argument is impossible; a special token
            is also made by merging; the kind does not learn from counts.
        FileExistsError: the folder is not empty, and ``force`` is False.
        OSError: a file cannot be written.
        TypeError: the column is not of strings or bytes, or ``settings`` is not the settings of a
            kind.
        ImportError: PySpark or PyArrow is not installed.
    """
    folder = Path(output)
    name = folder.resolve().name if name is None else name
    check_folder(folder, force=force)
    check_name(name)
    check_least("min_count", min_count, 0)
    check_least("approximate", approximate, 1)
    preparation = preparation or Preparation()
    check_settings(settings)
    figures = Figures(len(preparation.rules))
    portions, learning = _learning(settings, name, figures)
    corpus = picked(with_first(df, column, preparation, order, errors), column, group, FIRST)
    kind = settings.kind
    weighted = group if kind.weights else None
    if kind.weights and group is None:
        raise ValueError("weights need group, the column of the groups")
    count = _CountPrepared(preparation, portions, column, errors, weighted, approximate)
    with learning as trainer, tempfile.TemporaryFile() as held_out:
        rows = _sorted(mapped(corpus, count, count.schema), min_count)
        trainer.feed_counts(_without_figures(rows, figures))
        trained = trainer.train()
        if preparation.validation:
            _write_held_out(corpus, preparation, column, errors, held_out)
        write_vocabulary(
            folder,
            trained.encoding,
            pattern=kind.pattern_name,
            formats=formats or kind.formats,
            merges=trained.merges,
            manifest={
                "settings": {
                    **kind.described(),
                    **preparation.described(),
                    "field": column,
                    "group_field": group,
                    "errors": errors,
                },
                "corpus": _described_corpus(df, figures),
                "versions": {"compat_bpe": __version__, "unicode": "16.0"},
                "metrics": trained.metrics(),
                "spark": _lineage(df, order, min_count, approximate, figures),
            },
            roles={**(roles or {}), **kind.roles},
            force=force,
            extra={VALIDATION: held_out} if preparation.validation else None,
            left_out=_warn if formats is None else None,
        )
    return trained


def _learning(settings: Settings[Any], name: str, figures: Figures) -> tuple[Portions, AnyTrainer]:
    """Return the function that counts documents, and the trainer that learns from their counts.

    Raises:
        ValueError: the kind cannot be learned from counts; the pattern is not valid.
    """
    if isinstance(settings, SentencePieceSettings):
        check_learned_from_words(settings)
        portions = partial(sentence_words, settings)
        return portions, WordsTrainer(settings, name, figures.sums)
    return chunks_of(settings.kind.splitter()), Trainer(settings, workers=1, name=name)


def _warn(kind: str, reason: str) -> None:
    """Warn of a usual format that cannot hold the vocabulary; a long job must not fail for it."""
    warnings.warn(f"{kind} is not written: {reason}", stacklevel=3)


def _described_corpus(df: DataFrame, figures: Figures) -> dict[str, Any]:
    skipped = figures.sums[_NOT_UTF8]
    reason = "not UTF-8"
    return {
        "paths": sorted(df.inputFiles()),
        **figures.as_dict(),
        "errors": [],
        "skipped": [{"path": "", "reason": reason, "lines": skipped}] if skipped else [],
    }


def _lineage(
    df: DataFrame,
    order: str | Sequence[str] | None,
    min_count: int,
    approximate: int | None,
    figures: Figures,
) -> dict[str, Any]:
    """Return facts about the job that counted."""
    session = df.sparkSession
    application: dict[str, Any] = {"application": None, "application_name": None, "master": None}
    with suppress(Exception):  # a client of Spark Connect is not told
        context = session.sparkContext
        application = {
            "application": context.applicationId,
            "application_name": context.appName,
            "master": context.master,
        }
    return {
        "version": session.version,
        **application,
        "columns": dict(df.dtypes),
        "order": [order] if isinstance(order, str) else list(order or []),
        "min_count": min_count,
        "approximate": approximate,
        "count_error": figures.sums[ERROR],
    }


def _sorted(rows: DataFrame, min_count: int) -> DataFrame:
    """Return the sums of rows: figures first, and chunks in their order."""
    functions = needed("pyspark.sql.functions")
    sums = summed(rows, [name for name in rows.columns if name != "count"])
    if min_count > 1:
        is_kept = functions.col("count") >= min_count
        sums = sums.where(functions.col("chunk").isNull() | is_kept)
    group = functions.col("group") if "group" in rows.columns else functions.lit("").alias("group")
    return sums.select("chunk", "count", group, "figure").orderBy("chunk", "group")


def _without_figures(rows: DataFrame, figures: Figures) -> Iterator[tuple[str, int, str]]:
    """Yield the chunks, their counts and groups; add the rows of figures to ``figures``."""
    for chunk, count, group, figure in rows.toLocalIterator(prefetchPartitions=True):
        if chunk is None:
            figures.sums[figure] += count
        else:
            yield chunk, count, group


class _CountPrepared(Count):
    """Prepares the documents of a partition, and counts their chunks; figures come last.

    Args:
        preparation: the steps.
        arguments: as in ``Count``.
    """

    def __init__(self, preparation: Preparation, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._preparation = preparation

    @property
    def has_figures(self) -> bool:
        return True

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        figures = Figures(len(self._preparation.rules))

        def parts() -> Iterator[Any]:
            for text, group, rest in rows_of(batches, self.errors, self.column, skip):
                document = prepared(text, group, self._preparation, rest[0] or ())
                figures.add(document)
                for kept in document.kept:
                    yield from kept

        def skip(number: int) -> None:
            figures.sums[_NOT_UTF8] += number

        yield from self.counted(parts(), figures.sums)
        yield self.figure_batch(figures.sums)


def _write_held_out(
    corpus: DataFrame, preparation: Preparation, column: str, errors: Errors, file: BinaryIO
) -> None:
    """Write the text that is held out, sorted, so that it comes in the same order each time."""
    give = partial(_held_out, preparation, column, errors)
    rows = mapped(corpus, give, "text string, `group` string").orderBy("text", "group")
    for text, group in rows.toLocalIterator(prefetchPartitions=True):
        line = {"text": text, "group": group, "source": ""}
        file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")


def _held_out(
    preparation: Preparation, column: str, errors: Errors, batches: Iterable[Any]
) -> Iterator[Any]:
    """Yield the parts of the documents of a partition that are held out."""
    arrow = needed("pyarrow")
    for batch in batches:
        parts = [
            part
            for text, group, rest in rows_of([batch], errors, column)
            for part in prepared(text, group, preparation, rest[0] or ()).held_out
        ]
        texts = arrow.array([part.text for part in parts], arrow.string())
        groups = arrow.array([part.group for part in parts], arrow.string())
        yield arrow.RecordBatch.from_arrays([texts, groups], ["text", "group"])
