"""Reports: the figures and the page of one machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.report.figures import Report
from compat_bpe.report.html import page
from compat_bpe.report.measure import report as report_here
from compat_bpe.report.text import as_json
from compat_bpe.spark import report
from compat_bpe.train import (
    WordPieceSettings,
    train,
)
from tests.spark.corpora import few, frame, real_corpora, texts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TERMS = ["naïve", "<b>"]


def written(made: Report) -> tuple[str, str]:
    """All that is shown of a report."""
    return page(made, corpus=["a"]), as_json(made, 5, {})


@few
@given(texts, st.lists(st.sampled_from(["de", "en", None]), min_size=12), st.integers(1, 4))
def test_figures_are_those_of_one_machine(
    spark: SparkSession, some: list[Any], groups: list[Any], partitions: int
) -> None:
    rows = list(zip(groups, some))
    df = frame(spark, rows, "lang string, text string", partitions)
    encodings = {"gpt2": get_encoding("gpt2"), "characters": get_encoding("characters")}
    here: dict[str, list[str]] = {}
    for group, text in sorted(rows, key=lambda row: row[0] or ""):
        if text:
            here.setdefault(group or "", []).append(text)
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
            *((b"four", 3), (b"one", 6), (b"three", 3), (b"two", 9)),
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
    here: dict[str, list[str]] = {}
    for name, text in sorted(rows):
        here.setdefault(name, []).append(text)
    made = report(df, "text", {"own": own, "o200k_base": "o200k_base"}, group="lang")
    assert written(made) == written(report_here(encodings, here))


def test_what_is_wrong_is_said_before_a_job_starts(spark: SparkSession) -> None:
    df = frame(spark, [(1, "a")], "number int, text string", 1)
    with pytest.raises(ValueError, match="unknown encoding 'gpt3'"):
        report(df, "text", ["gpt3"])
    with pytest.raises(TypeError, match="the column 'number' is of type int"):
        report(df, "number", ["gpt2"])
    with pytest.raises(ValueError, match="there is no column 'lang'"):
        report(df, "text", ["gpt2"], group="lang")
