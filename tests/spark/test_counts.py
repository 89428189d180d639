"""Counts, prepared corpora and reports of Spark are those of one machine."""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.corpus.documents import PART, DocumentPart, parts_of
from compat_bpe.corpus.prepare import CorpusCounts, Preparation, rule
from compat_bpe.corpus.prepare import prepare as prepare_here
from compat_bpe.report.figures import Report
from compat_bpe.report.html import page
from compat_bpe.report.measure import report as report_here
from compat_bpe.report.text import as_json
from compat_bpe.spark import chunk_counts, partition_counts, prepare, report
from compat_bpe.spark import counts as counts_module
from compat_bpe.spark.counts import Count, chunks_of, splitter_of
from compat_bpe.train import WordPieceSettings, train, train_bpe
from tests.examples import check_refused
from tests.spark.corpora import (
    counted,
    few,
    frame,
    of_one_machine,
    preparations,
    real_corpora,
    texts,
)

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
    for _ in range(1000):
        if not kept() - before:
            return
        gc.collect()
        spark._jvm.System.gc()
        time.sleep(0.1)
    raise AssertionError("some are still there")


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


WRONG = """
chunk_counts(df, "number") → …the column 'number' is of type int… → TypeError
chunk_counts(df, "text") → …there is no column 'text'; the columns are 'number', 'a…
chunk_counts(df, "a text", group="lang") → …there is no column 'lang'…
chunk_counts(df, "a text", pattern="(") → …the pattern cannot be used…
chunk_counts(df, "a text", approximate=0) → …approximate is 0…
chunk_counts(df, "a text", weights={"en": 2}) → …weights need group…
prepare(df, "a text", drop_duplicates="lines") → …needs order…
prepare(df, "a text", drop_duplicates="lines", order="nothing") → …there is no column 'nothing'…
prepare(df, "a text", validation=0.1) → …there is a column 'held_out' already…
prepare(df, "a text", normalization="nfc") → …normalization is 'nfc'…
prepare(df, "held_out") → …the column 'held_out' is of type boolean… → TypeError
report(df, "a text", ["gpt3"]) → …unknown encoding 'gpt3'…
report(df, "number", ["gpt2"]) → …the column 'number' is of type int… → TypeError
report(df, "a text", ["gpt2"], group="lang") → …there is no column 'lang'…
"""


def test_what_is_wrong_is_said_before_a_job_starts(spark: SparkSession) -> None:
    df = frame(spark, [(1, "a", True)], "number int, `a text` string, held_out boolean", 1)
    check_refused(WRONG, {**globals(), "df": df})
    assert counted(chunk_counts(df, "a text")) == {"a": 1}


def prepared_by_one_machine(
    some: list[Any], preparation: Preparation
) -> tuple[list[tuple[int, str]], list[tuple[int, str]], CorpusCounts]:
    """The kept documents, the parts that are held out, and the counts; each with its number."""
    counts = CorpusCounts()
    held_out: list[DocumentPart] = []
    kept: list[tuple[int, str]] = []
    text = ""
    parts = (p for n, text in enumerate(some) for p in parts_of([text or ""], str(n), ""))
    for part in prepare_here(parts, preparation, held_out.append, counts):
        text += part.text
        if part.is_last:
            kept.append((int(part.group), text))
            text = ""
    return kept, [(int(part.group), part.text) for part in held_out], counts


def same_rows(
    spark: SparkSession, some: list[Any], preparation: Preparation, partitions: int
) -> None:
    rows = list(enumerate(some))
    df = frame(spark, rows[::-1], "number int, text string", partitions)
    made = prepare(df, "text", **vars(preparation), order="number")
    found = [row.asDict() for row in made.collect()]
    kept, held_out, _ = prepared_by_one_machine(some, preparation)
    assert made.columns == ["number", "text", *(["held_out"] if preparation.validation else [])]
    for expected, out in ((kept, False), (held_out, True)):
        own = [(row["number"], row["text"]) for row in found if row.get("held_out", False) is out]
        assert sorted(own) == sorted(expected)


@few
@given(texts, preparations, st.integers(1, 4))
def test_rows_are_those_of_one_machine(
    spark: SparkSession, some: list[Any], preparation: Preparation, partitions: int
) -> None:
    same_rows(spark, some, preparation, partitions)


@pytest.mark.parametrize("name", list(real_corpora()))
def test_rows_of_real_corpora(spark: SparkSession, name: str) -> None:
    some = real_corpora()[name]
    # Long documents, whose parts are prepared one by one, and duplicates.
    long = "".join(some)[: PART + 5000].replace("\n", " ")
    corpus = [*some[:300], None, "", long + "\n" + long, *some[:100], long]
    rules = (rule(r"\d+", "0"), rule(r"^The.*$", ""))
    same_rows(spark, corpus, Preparation("NFKC", rules, "lines", 0.3), 3)
    same_rows(spark, corpus, Preparation("NFC", rules, "documents", 0.3), 2)


def test_equal_documents_without_an_order(spark: SparkSession) -> None:
    rows = [("b", "x"), ("a", "x"), (None, "y"), ("c", ""), ("c", None), ("a", "x")]
    df = frame(spark, rows, "name string, text string", 3)
    found = prepare(df, "text", drop_duplicates="documents").collect()
    assert sorted(map(tuple, found), key=str) == [("a", "x"), (None, "y")]


def test_bytes_become_text(spark: SparkSession) -> None:
    df = frame(spark, [(1, b"caf\xc3\xa9"), (2, b"caf\xe9")], "number int, data binary", 1)
    skipped = prepare(df, "data", errors="skip")
    assert [tuple(row) for row in skipped.collect()] == [(1, "café")]
    assert dict(skipped.dtypes) == {"number": "int", "data": "string"}
    replaced = prepare(df, "data", normalization="NFD", errors="replace").collect()
    assert [row.data for row in replaced] == ["cafe\u0301", "caf\ufffd"]


TERMS = ["naïve", "<b>"]


def written(made: Report) -> tuple[str, str]:
    """All that is shown of a report."""
    return page(made, corpus=["a"]), as_json(made, 5, {})


def by_group(rows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for group, text in sorted(rows):
        found.setdefault(group, []).append(text)
    return found


@few
@given(texts, st.lists(st.sampled_from(["de", "en", None]), min_size=12), st.integers(1, 4))
def test_figures_are_those_of_one_machine(
    spark: SparkSession, some: list[Any], groups: list[Any], partitions: int
) -> None:
    rows = list(zip(groups, some))
    df = frame(spark, rows, "lang string, text string", partitions)
    encodings = {"gpt2": get_encoding("gpt2"), "characters": get_encoding("characters")}
    here = by_group((group or "", text) for group, text in rows if text)
    made = report(df, "text", list(encodings), group="lang", terms=TERMS)
    assert written(made) == written(report_here(encodings, here, terms=TERMS))


def test_words_are_numbered_by_each_process(spark: SparkSession) -> None:
    some = ["one two", "three two", "two one", "four"] * 3
    df = frame(spark, [(text,) for text in some], "text string", 5)
    made = report(df, "text", ["words"]).encodings["words"]
    expected = report_here({"words": get_encoding("words")}, {"": some}).encodings["words"]
    for one in (made, expected):
        assert one.total.tokens == 21
        assert sorted((use.token, use.times) for use in one.uses) == [
            (b"four", 3),
            (b"one", 6),
            (b"three", 3),
            (b"two", 9),
        ]


@pytest.mark.parametrize("partitions", [1, 5])
def test_report_on_real_corpora(spark: SparkSession, partitions: int) -> None:
    corpora = real_corpora()
    rows = [(name, text) for name, some in corpora.items() for text in some]
    # A group that has nearly all of the text.
    rows += [("english", "one row that is long " * 20_000)]
    # One that has unknown tokens, and travels by value.
    own = train(["the dog and the cat"] * 9, WordPieceSettings(40))
    encodings: dict[str, Any] = {"own": own, "o200k_base": get_encoding("o200k_base")}
    df = frame(spark, rows, "lang string, text string", partitions)
    made = report(df, "text", {"own": own, "o200k_base": "o200k_base"}, group="lang")
    assert written(made) == written(report_here(encodings, by_group(rows)))
