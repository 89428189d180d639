"""Counts of the chunks of a corpus, added up on the cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any, Callable, NamedTuple

from ..columns.batches import AnyEncoding, Carried, Errors, check_errors
from ..corpus.chunk_counts import ChunkCounter, Counts, Spill, Summary, merged, summary
from ..corpus.documents import DocumentPart, parts_of
from ..corpus.prepare import Amount, CorpusCounts, Preparation, prepare
from ..encodings.encoding import Encoding
from ..train.bpe.growing import make_encoding
from ..train.options import check_least, check_weights
from ..train.words import multipliers_of
from ..unicode.surrogates import repair
from .frames import documents_of, mapped, needed, picked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The most distinct chunks that a worker holds before it gives them to Spark; see ``Spill``. 128
#: MB of English have fewer, so each goes through Java once.
HELD = 1 << 19

#: The parts of 16 bits of the sum of digests, so that no sum of Spark's overflows.
_LIMBS = 16


class Prepared(NamedTuple):
    """A document that was prepared.

    Args:
        kept: the documents that are left of it, each as its parts.
        held_out: the parts that are held out.
        counts: the counts of it alone.
    """

    kept: list[list[DocumentPart]]
    held_out: list[DocumentPart]
    counts: CorpusCounts


class _Recorder(list[bytes]):
    """A set that claims to be empty, and records every digest added."""

    def __contains__(self, digest: object) -> bool:
        return False

    add = list.append


class _Player:
    """A set of digests that is asked for in a known order, and lacks those numbered ``first``."""

    def __init__(self, first: Iterable[int]) -> None:
        self._first = frozenset(first)
        self._number = -1

    def __contains__(self, digest: object) -> bool:
        self._number += 1
        return self._number not in self._first

    def add(self, digest: bytes) -> None:
        pass


def digests_of(text: str, preparation: Preparation) -> list[bytes]:
    r"""Return the digests of all lines, or of the document, that may be duplicates; in order.

    >>> lines = Preparation(drop_duplicates="lines")
    >>> first, second, third = digests_of("a\nb\n\na\n", lines)
    >>> first == third, first == second
    (True, False)
    """
    seen = _Recorder()
    for _ in prepare(parts_of([repair(text)], "", ""), preparation, seen=seen):
        pass
    return [*seen]


def prepared(
    text: str, group: str, preparation: Preparation, first: Sequence[int] = ()
) -> Prepared:
    r"""Prepare one document with the functions that prepare a corpus on one machine.

    Args:
        text: its text.
        group: the group of its parts.
        preparation: the steps.
        first: the numbers of those of ``digests_of`` that came first in the corpus.

    >>> found = prepared("a\nb\n\na\n", "", Preparation(drop_duplicates="lines"), [1])
    >>> [part.text for part in found.kept[0]], found.counts.dropped_lines
    (['b\n\n'], 2)
    """
    counts = CorpusCounts()
    kept: list[list[DocumentPart]] = [[]]
    held_out: list[DocumentPart] = []
    parts = parts_of([repair(text)], group, "")
    for part in prepare(parts, preparation, held_out.append, counts, _Player(first)):
        kept[-1].append(part)
        if part.is_last:
            kept.append([])
    return Prepared(kept[:-1], held_out, counts)


class Figures:
    """The sums of the counts of documents, by names that Spark adds up by.

    Instead of the digest of all text, which depends on the order of the rows, they have the sum of
    the digests of the kept text of each row, modulo 2**256.
    """

    def __init__(self, rules: int = 0) -> None:
        self.sums: Counter[str] = Counter()
        self._rules = rules

    def add(self, document: Prepared) -> None:
        """Add the counts of a document."""
        counts, sums = document.counts, self.sums
        for kind in ("read", "kept", "held_out"):
            for name, value in vars(getattr(counts, kind)).items():
                sums[f"{kind}.{name}"] += value
        for number, value in enumerate(counts.masked):
            sums[f"masked.{number}"] += value
        sums["dropped_lines"] += counts.dropped_lines
        sums["dropped_documents"] += counts.dropped_documents
        if document.kept:
            value = int(counts.sha256, 16)
            for limb in range(_LIMBS):
                sums[f"sha256.{limb}"] += value >> 16 * limb & 0xFFFF

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as ``CorpusCounts.as_dict`` does, without the digest of all text."""
        sums = self.sums
        total = sum(sums[f"sha256.{limb}"] << 16 * limb for limb in range(_LIMBS))
        figures: dict[str, Any] = {
            kind: {name: sums[f"{kind}.{name}"] for name in vars(Amount())}
            for kind in ("read", "kept", "held_out")
        }
        return {
            **figures,
            "masked": [sums[f"masked.{number}"] for number in range(self._rules)],
            "dropped_lines": sums["dropped_lines"],
            "dropped_documents": sums["dropped_documents"],
            "sha256": None,
            "sha256_sum": f"{total % 2**256:064x}",
        }


def splitter_of(pattern: str) -> Encoding:
    """Return an encoding that splits by a pattern, or by the name of one, as training does.

    Raises:
        ValueError: the pattern is not valid.
    """
    return make_encoding("chunks", pattern)


def partition_counts(texts: Iterable[str], pattern: str = "gpt2") -> Counter[str]:
    """Return the chunks of texts and their counts: the work of one task.

    It needs neither Spark nor Arrow, so other systems such as Dask and Ray can use it, and add up
    the counts of all parts of a corpus.

    Args:
        texts: the documents of a part of the corpus.
        pattern: the pattern that splits them, or its name, as in ``train_bpe``.

    Raises:
        ValueError: the pattern is not valid.
        TypeError: a text is not a str.

    >>> partition_counts(["a dog", "a cat"])
    Counter({'a': 2, ' dog': 1, ' cat': 1})
    """
    with ChunkCounter(splitter_of(pattern), workers=1) as counter:
        for text in texts:
            counter.feed(text)
        return counter.finish().get("", Counter())


#: The columns of counts, of which a task gives those that are needed: each costs time in Java. A
#: row without a chunk is a figure, by its name.
_TYPES = {"chunk": "string", "count": "bigint", "group": "string", "figure": "string"}

#: The figure for how much too low a count of a group may be.
ERROR = "error"

#: The most rows of a batch that a worker gives Spark.
_ROWS = 1 << 16


def chunk_counts(
    df: DataFrame,
    column: str,
    *,
    pattern: str = "gpt2",
    group: str | None = None,
    weights: Mapping[str, float] | None = None,
    min_count: int = 1,
    approximate: int | None = None,
    errors: Errors = "strict",
) -> DataFrame:
    """Return the chunks of all texts and their counts, for ``train_bpe(counts=…)`` for instance.

    Each task adds up the counts of its part of the corpus before they go to other machines. The
    number and the order of the partitions make no difference, nor do tasks that run twice.

    Args:
        df: the corpus, one document a row.
        column: the column of the texts, of type string or binary. Null and empty texts have no
            chunks.
        pattern: the pattern that splits the texts, or its name, as in ``train_bpe``.
        group: a column of groups, languages for instance; null is the group "". The result then
            has a column ``group``, and counts for each.
        weights: the weights of some groups, as in ``train_bpe``. The counts of each group are
            multiplied so that group sizes in bytes are in these proportions, and added up. They
            are in thousandths. They are made at once; see below.
        min_count: the lowest count that is kept.
        approximate: the most chunks of a group that a task counts. Rare ones are left out, and
            counts are too low by at most the number in the column ``error`` of the result, which is
            at most the number of all chunks divided by ``approximate + 1``. A missing chunk occurs
            at most that many times. These counts depend on the partitions. They are made at once;
            see below.
        errors: as in ``count_tokens``; ``"skip"`` leaves the text out.

    With ``weights`` or ``approximate``, the corpus is counted at once, and the executors keep the
    counts, in memory or on disk, until no DataFrame uses them any more
    (``DataFrame.localCheckpoint``). If an executor is lost, the job fails and must be run again.

    Returns:
        A DataFrame with the columns ``chunk`` and ``count``, and perhaps ``group``.

    Raises:
        ValueError: there is no such column; the pattern is not valid; an argument is impossible; a
            group with a weight has no text.
        TypeError: the column is not of strings or bytes.
        ImportError: PySpark or PyArrow is not installed.
    """
    check_errors(errors)
    check_least("min_count", min_count, 0)
    check_weights(weights or {})
    if weights and approximate is not None:
        raise ValueError("weights and approximate exclude each other")
    check_least("approximate", approximate, 1)
    if weights and group is None:
        raise ValueError("weights need group, the column of the groups")
    functions = needed("pyspark.sql.functions")
    count = Count(chunks_of(splitter_of(pattern)), column, errors, group, approximate)
    rows = mapped(picked(df, column, group), count, count.schema)
    by = ["chunk"] if group is None else ["chunk", "group"]
    extra = [] if group is None or weights else ["group"]
    counts = summed(rows, by)
    if approximate is not None:
        counts = counts.localCheckpoint()
        most = counts.where(functions.col("chunk").isNull()).agg(functions.max("count"))
        error = functions.lit(most.collect()[0][0] or 0).cast("bigint")
        counts = counts.where(functions.col("chunk").isNotNull()).withColumn(ERROR, error)
        extra.append(ERROR)
    if weights:
        counts = _weighted(counts, weights)
    if min_count > 1:
        counts = counts.where(functions.col("count") >= min_count)
    return counts.select("chunk", "count", *extra)


def summed(rows: DataFrame, by: list[str]) -> DataFrame:
    """Return the sums of the counts of rows that are equal otherwise.

    Each task has added up its own rows already, so they are shuffled at once. Spark alone would
    first look for equal rows within a task, in vain.
    """
    functions = needed("pyspark.sql.functions")
    return rows.repartition(*by).groupBy(*by).agg(functions.sum("count").alias("count"))


def _weighted(counts: DataFrame, weights: Mapping[str, float]) -> DataFrame:
    """Return the counts of all groups together, each multiplied; see ``multipliers_of``."""
    functions = needed("pyspark.sql.functions")
    counts = counts.localCheckpoint()
    size = functions.sum(functions.octet_length("chunk") * functions.col("count"))
    sizes = counts.groupBy("group").agg(size.alias("size")).collect()
    multipliers = multipliers_of({row["group"]: row["size"] for row in sizes}, weights)
    literals = chain.from_iterable(multipliers.items())
    factors = functions.create_map(*map(functions.lit, literals))
    factor = functions.element_at(factors, functions.col("group")).cast("bigint")
    weighted = functions.sum(functions.col("count") * factor)
    return counts.groupBy("chunk").agg(weighted.alias("count"))


#: Counts the parts of documents, each group for itself if it is True; yields the counts whenever
#: they are many, and adds other counts to the figures. It can be pickled.
Portions = Callable[[Iterable[DocumentPart], bool, "Counter[str]"], Iterator[Counts]]


def chunks_of(encoding: AnyEncoding) -> Portions:
    """Return the function that counts the chunks of an encoding."""
    return partial(_chunks_in_portions, Carried(encoding))


def _chunks_in_portions(
    encoding: Carried, parts: Iterable[DocumentPart], by_group: bool, figures: Counter[str]
) -> Iterator[Counts]:
    """Yield the counts of the chunks of documents, as ``Portions``; there are no other figures."""
    full: list[Counts] = []
    counter = ChunkCounter(encoding.get(), workers=1, spill=Spill(full.append, HELD))
    for text, group, _, is_last in parts:
        counter.feed(text, group if by_group else "", is_last=is_last)
        while full:
            yield full.pop()
    counter.finish()
    yield from full


@dataclass
class Count:
    """Counts the chunks of a partition, on a worker.

    Args:
        portions: the function that counts the texts.
        column: the name of the column, for messages.
        errors: as in ``count_tokens``.
        group: the column of groups; None to count all as one.
        approximate: as in ``chunk_counts``.
    """

    portions: Portions
    column: str
    errors: Errors
    group: str | None = None
    approximate: int | None = None

    @property
    def has_figures(self) -> bool:
        """True if there are rows of figures among those of chunks."""
        return self.approximate is not None

    @property
    def names(self) -> list[str]:
        """The names of the columns that it gives."""
        is_there = {"group": self.group is not None, "figure": self.has_figures}
        return [name for name in _TYPES if is_there.get(name, True)]

    @property
    def schema(self) -> str:
        """The columns that it gives, as Spark reads them."""
        return ", ".join(f"`{name}` {_TYPES[name]}" for name in self.names)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        return self.counted(documents_of(batches, self.errors, self.column), Counter())

    def counted(self, parts: Iterable[DocumentPart], figures: Counter[str]) -> Iterator[Any]:
        """Yield batches of the chunks of documents, with the columns of ``schema``.

        Args:
            parts: the parts of the documents.
            figures: other counts are added to them.
        """
        every = self.portions(parts, self.group is not None, figures)
        if self.approximate is None:
            for counts in every:
                for group, counter in counts.items():
                    yield from self._batches(counter, group)
            return
        summaries: dict[str, Summary] = {}
        for counts in every:
            for group, counter in counts.items():
                one_summary = summary(counter, self.approximate)
                known = summaries.get(group)
                summaries[group] = one_summary if known is None else merged(known, one_summary)
        for group, one_summary in summaries.items():
            yield from self._batches(one_summary.counts, group)
            yield self.figure_batch({ERROR: one_summary.error}, group)

    def figure_batch(self, figures: Mapping[str, int], group: str = "") -> Any:
        """Return a batch of figures."""
        return self._batch([None] * len(figures), list(figures.values()), group, list(figures))

    def _batches(self, counts: Mapping[str, int], group: str) -> Iterator[Any]:
        """Yield batches of the chunks of a group."""
        chunks, numbers = list(counts), list(counts.values())
        for start in range(0, len(chunks), _ROWS):
            some = chunks[start : start + _ROWS]
            yield self._batch(some, numbers[start : start + _ROWS], group, [None] * len(some))

    def _batch(
        self,
        chunks: Sequence[str | None],
        numbers: Sequence[int],
        group: str,
        figures: Sequence[str | None],
    ) -> Any:
        arrow = needed("pyarrow")
        make = {
            "chunk": lambda: arrow.array(chunks, arrow.string()),
            "count": lambda: arrow.array(numbers, arrow.int64()),
            "group": lambda: arrow.repeat(group, len(chunks)),
            "figure": lambda: arrow.array(figures, arrow.string()),
        }
        names = self.names
        return arrow.RecordBatch.from_arrays([make[name]() for name in names], names)
