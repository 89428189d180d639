"""What goes wrong on a cluster: the result is right, or there is none."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.columns.batches import Carried
from compat_bpe.spark import chunk_counts, train, training, truncate
from compat_bpe.spark.counts import Count, chunks_of, splitter_of, summed
from compat_bpe.spark.frames import mapped, picked
from compat_bpe.train import TrainingSettings
from tests.spark.corpora import counted, frame, of_one_machine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_a_worker_that_is_killed(spark: SparkSession, tmp_path: Path) -> None:
    """Its task is tried again, and what it had counted does not count twice."""
    some = [f"a dog and {number} cats" for number in range(40)]
    df = frame(spark, [(text,) for text in some], "text string", 3)
    mark = str(tmp_path / "killed")
    count = Count(chunks_of(splitter_of("gpt2")), "text", "strict")

    def killed(batches: Iterator[Any]) -> Iterator[Any]:
        def dying() -> Iterator[Any]:
            for number, batch in enumerate(batches):
                if number == 2 and not os.path.exists(mark):
                    with open(mark, "x"):
                        os.kill(os.getpid(), signal.SIGKILL)
                yield batch
                # Counts of a part of the partition are given before it ends.
                counted_before.append(number)

        counted_before: list[int] = []
        yield from count(dying())

    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "3")
    try:
        rows = mapped(picked(df, "text", None), killed, count.schema)
        found = counted(summed(rows, ["chunk"]))
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert os.path.exists(mark)
    assert found == of_one_machine(list(some))


def test_a_row_of_100_megabytes(spark: SparkSession) -> None:
    from pyspark.sql import functions

    repeated = functions.repeat(functions.lit("one row that is long "), 5_000_000)
    df = spark.range(1).select(repeated.alias("text"))
    assert counted(chunk_counts(df, "text")) == {
        "one": 1,
        **dict.fromkeys([" row", " that", " is", " long"], 5_000_000),
        " one": 4_999_999,
        " ": 1,
    }
    assert df.select(truncate("text", "gpt2", 4)).collect()[0][0] == "one row that is"


def test_a_driver_that_stops_leaves_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    df = frame(spark, [("a dog",), ("a cat",)], "text string", 2)

    def stopped(*arguments: Any, **others: Any) -> None:
        raise KeyboardInterrupt

    for name in ("_without_figures", "write_vocabulary"):
        with monkeypatch.context() as patch:
            patch.setattr(training, name, stopped)
            with pytest.raises(KeyboardInterrupt):
                train(df, "text", tmp_path / "own", TrainingSettings(num_merges=3))
        assert list(tmp_path.iterdir()) == []
    train(df, "text", tmp_path / "own", TrainingSettings(num_merges=3))
    assert (tmp_path / "own/manifest.json").exists()


def test_an_encoding_is_made_once_in_a_worker(spark: SparkSession) -> None:
    """By value it is unpickled once, however many tasks use it."""
    encoding = get_encoding("gpt2")
    own = Carried(
        type(encoding)(
            "own",
            pat_str=encoding._pat_str,
            mergeable_ranks=dict(encoding._mergeable_ranks),
            special_tokens={},
        )
    )

    def seen(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        for batch in batches:
            first, second = own.get(), own.get()
            rows = [(os.getpid(), id(first), first is second)] * batch.num_rows
            columns = [pyarrow.array(values) for values in zip(*rows)]
            yield pyarrow.RecordBatch.from_arrays(columns, ["pid", "object", "same"])

    df = spark.range(40).repartition(8)
    rows = df.mapInArrow(seen, "pid bigint, object bigint, same boolean").distinct().collect()
    assert all(row.same for row in rows)
    assert len({row.pid for row in rows}) == len({(row.pid, row.object) for row in rows})
    assert len(rows) < 8
