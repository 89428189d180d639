"""Counts of chunks: equal to those of one machine, however the corpus is partitioned."""

from __future__ import annotations

import gc
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.spark import chunk_counts, partition_counts
from compat_bpe.spark import counts as counts_module
from compat_bpe.spark.counts import Count, chunks_of, splitter_of
from compat_bpe.train import train_bpe
from tests.spark.corpora import counted, few, frame, of_one_machine, real_corpora, texts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@few
@given(texts, st.integers(1, 5), st.sampled_from(["gpt2", "o200k_base", "deepseek", r"\w|\W"]))
def test_counts_are_those_of_one_machine(
    spark: SparkSession, some: list[str | None], partitions: int, pattern: str
) -> None:
    df = frame(spark, [(text,) for text in some], "text string", partitions)
    assert counted(chunk_counts(df, "text", pattern=pattern)) == of_one_machine(some, pattern)


@pytest.mark.parametrize("name", list(real_corpora()))
def test_counts_of_real_corpora(spark: SparkSession, name: str) -> None:
    some: list[Any] = real_corpora()[name]
    expected = of_one_machine(some)
    for partitions, rows in ((2, some), (7, some[::-1])):
        df = frame(spark, [(text,) for text in rows], "text string", partitions)
        assert counted(chunk_counts(df, "text")) == expected
    least = chunk_counts(df, "text", min_count=3)
    assert counted(least) == {chunk: count for chunk, count in expected.items() if count >= 3}
    assert partition_counts(some) == expected


def test_counts_go_on_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker gives its counts several times, also within a document."""
    import pyarrow

    monkeypatch.setattr(counts_module, "HELD", 20_000)
    some = ["".join(f"{number} dogs and " for number in range(60_000)), "a dog", ""] * 2
    count = Count(chunks_of(splitter_of("gpt2")), "text", "strict")
    batches = [pyarrow.RecordBatch.from_pydict({"text": some, "group": [""] * len(some)})]
    found: Counter[str] = Counter()
    given = [batch.to_pydict() for batch in count(iter(batches))]
    for batch in given:
        found.update(dict(zip(batch["chunk"], batch["count"])))
    assert sum("a" in batch["chunk"] for batch in given) > 0
    # A portion of text after which the chunks are too many is the last that is counted with them.
    assert max(len(batch["chunk"]) for batch in given) < 45_000
    assert sum(" and" in batch["chunk"] for batch in given) >= 4
    assert found == of_one_machine([*some])
    assert [list(batch) for batch in given] == [["chunk", "count"]] * len(given)


@pytest.mark.parametrize("most", [20, 300])
def test_approximate_counts_keep_their_bound(spark: SparkSession, most: int) -> None:
    some: list[Any] = real_corpora(60_000)["english"]
    expected = of_one_machine(some)
    df = frame(spark, [(text,) for text in some], "text string", 3)
    rows = chunk_counts(df, "text", approximate=most).collect()
    (error,) = {row.error for row in rows}
    assert 0 < error <= sum(expected.values()) / (most + 1)
    found = {row.chunk: row["count"] for row in rows}
    assert len(found) == len(rows) <= 3 * most
    for chunk, count in expected.items():
        assert count - error <= found.get(chunk, 0) <= count


def test_a_bound_that_is_not_reached(spark: SparkSession) -> None:
    df = frame(spark, GROUPED, "lang string, text string", 2)
    rows = chunk_counts(df, "text", group="lang", approximate=9).collect()
    assert {row.error for row in rows} == {0}
    assert len(rows) == 7
    assert chunk_counts(df.where("false"), "text", approximate=9).collect() == []


GROUPED = [("en", "a dog"), ("en", "a cat"), ("fr", "un chien"), (None, "a dog"), ("zh", None)]


def test_groups_and_weights(spark: SparkSession) -> None:
    df = frame(spark, GROUPED, "lang string, text string", 3)
    by_group = counted(chunk_counts(df, "text", group="lang"))
    assert by_group == {
        ("a", "en"): 2,
        (" dog", "en"): 1,
        (" cat", "en"): 1,
        ("un", "fr"): 1,
        (" chien", "fr"): 1,
        ("a", ""): 1,
        (" dog", ""): 1,
    }
    # "" has 5 bytes, en 10 and fr 8; with these weights, fr is to be as large as en.
    weighted = counted(chunk_counts(df, "text", group="lang", weights={"": 0.5}))
    assert weighted["un"] == 1250
    assert weighted["a"] == 2000 + 1000
    groups = {"en": ["a dog", "a cat"], "fr": ["un chien"], "": ["a dog"]}
    expected = train_bpe(groups, num_merges=5, weights={"": 0.5})
    learned = train_bpe(counts=weighted, num_merges=5)
    assert learned._mergeable_ranks == expected._mergeable_ranks
    with pytest.raises(ValueError, match="there is a weight for 'de'"):
        chunk_counts(df, "text", group="lang", weights={"de": 2})


def test_a_group_that_has_nearly_all(spark: SparkSession) -> None:
    some = real_corpora(60_000)["english"]
    rows = [("en", text) for text in some] + [("de", "ein Hund"), ("fr", "un chien")]
    df = frame(spark, rows, "lang string, text string", 4)
    expected = {(chunk, "en"): count for chunk, count in of_one_machine([*some]).items()}
    for lang, text in rows[-2:]:
        expected.update({(chunk, lang): 1 for chunk in of_one_machine([text])})
    assert counted(chunk_counts(df, "text", group="lang")) == expected


def test_counts_that_are_kept_are_dropped(spark: SparkSession) -> None:
    """They are not in the session's cache, which keeps what it has until the end."""

    def kept() -> set[int]:
        return set(context.getPersistentRDDs().keySet())

    context: Any = spark.sparkContext._jsc
    df = frame(spark, GROUPED, "lang string, text string", 2)
    before = kept()
    weighted = chunk_counts(df, "text", group="lang", weights={"en": 2.0})
    rare = chunk_counts(df, "text", approximate=9)
    assert len(kept() - before) == 2
    assert weighted.count() == rare.count() == 5
    del weighted, rare
    end = time.monotonic() + 300
    while kept() - before:
        assert time.monotonic() < end, "some are still there"
        gc.collect()
        spark._jvm.System.gc()
        time.sleep(0.1)


def test_damaged_texts(spark: SparkSession) -> None:
    rows = [(b"a dog",), (b"a d\xf6g",), (b"\xed\xa0\x80",), (None,), (b"",)]
    df = frame(spark, rows, "data binary", 2)
    assert counted(chunk_counts(df, "data", errors="skip")) == {"a": 1, " dog": 1}
    replaced = counted(chunk_counts(df, "data", errors="replace"))
    assert replaced == of_one_machine([(row[0] or b"").decode("utf-8", "replace") for row in rows])
    with pytest.raises(
        Exception, match=r"column 'data': a text is not UTF-8: byte 0x(f6|ed) at offset \d"
    ):
        chunk_counts(df, "data").collect()


def test_what_is_wrong_is_said_before_a_job_starts(spark: SparkSession) -> None:
    df = frame(spark, [(1, "a")], "number int, `a text` string", 1)
    with pytest.raises(TypeError, match="the column 'number' is of type int"):
        chunk_counts(df, "number")
    with pytest.raises(ValueError, match="there is no column 'text'; the columns are 'number', 'a"):
        chunk_counts(df, "text")
    with pytest.raises(ValueError, match="there is no column 'lang'"):
        chunk_counts(df, "a text", group="lang")
    with pytest.raises(ValueError, match="the pattern cannot be used"):
        chunk_counts(df, "a text", pattern="(")
    with pytest.raises(ValueError, match="approximate is 0"):
        chunk_counts(df, "a text", approximate=0)
    with pytest.raises(ValueError, match="weights are of groups"):
        chunk_counts(df, "a text", weights={"en": 2})
    assert counted(chunk_counts(df, "a text")) == {"a": 1}
