"""Preparation: the rows of one machine, in any order and partition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.corpus.documents import PART, DocumentPart, parts_of
from compat_bpe.corpus.prepare import CorpusCounts, Preparation, rule
from compat_bpe.corpus.prepare import prepare as prepare_here
from compat_bpe.spark import prepare
from tests.spark.corpora import few, frame, real_corpora, texts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def of_one_machine(
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


preparations = st.builds(
    Preparation,
    normalization=st.sampled_from([None, "NFC", "NFKD"]),
    rules=st.sampled_from([(), (rule(r"\d+", "0"), rule(r"\S+@\S+", ""))]),
    drop_duplicates=st.sampled_from(["lines", "documents", None]),
    validation=st.sampled_from([0.0, 0.4]),
)


def same_rows(
    spark: SparkSession, some: list[Any], preparation: Preparation, partitions: int
) -> None:
    rows = list(enumerate(some))
    df = frame(spark, rows[::-1], "number int, text string", partitions)
    made = prepare(df, "text", **vars(preparation), order="number")
    found = [row.asDict() for row in made.collect()]
    kept, held_out, _ = of_one_machine(some, preparation)
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


def test_what_is_wrong_is_said_before_a_job_starts(spark: SparkSession) -> None:
    df = frame(spark, [("a", True)], "text string, held_out boolean", 1)
    with pytest.raises(ValueError, match="needs order"):
        prepare(df, "text", drop_duplicates="lines")
    with pytest.raises(ValueError, match="there is no column 'number'"):
        prepare(df, "text", drop_duplicates="lines", order="number")
    with pytest.raises(ValueError, match="there is a column 'held_out' already"):
        prepare(df, "text", validation=0.1)
    with pytest.raises(ValueError, match="normalization is 'nfc'"):
        prepare(df, "text", normalization="nfc")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="the column 'held_out' is of type boolean"):
        prepare(df, "held_out")
