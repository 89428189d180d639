"""Columns of tokens: those of one machine, whatever the rows and the partitions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from compat_bpe import Encoding, get_encoding, load
from compat_bpe.columns.batches import TERMS
from compat_bpe.fit import split_text
from compat_bpe.spark import count_tokens, encode, register, split, truncate
from compat_bpe.train import train_bpe
from tests.examples import check_refused
from tests.questions import ENCODINGS, TEXT, Question, Refused, check

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

TEXTS = ["one two three four five", None, "", "世界は広い。<|endoftext|>", "a\x00b\r\n" * 9]
GPT2 = get_encoding("gpt2")
FIXTURES = Path(__file__).parent.parent.parent / "fixtures"


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(text,) for text in TEXTS], "text string").repartition(3).cache()


def check_rows(df: DataFrame, function: Any) -> None:
    """Compare what is made of each text, which is first in its row; of null it is null."""
    found = {row[0]: tuple(row)[1:] for row in df.collect()}
    assert {*found.pop(None)} == {None}
    assert found == {text: function(text) for text in TEXTS if text is not None}


def by_each(text: str) -> tuple[Any, ...]:
    """What each function makes of a text, with GPT-2's vocabulary."""
    parts = [part.text for part in split_text(GPT2, text, 4)]
    return GPT2.count(text), GPT2.encode_ordinary(text), GPT2.truncate(text, 3).text, parts


@pytest.fixture(scope="module")
def own() -> Encoding:
    return train_bpe(["one two three four five"] * 3, 270, special_tokens=["<|end|>"], name="own")


def test_all_functions_give_what_one_machine_gives(rows: DataFrame, own: Encoding) -> None:
    path = FIXTURES / "gpt2_small"
    small = load(path)
    made = rows.select(
        "text",
        count_tokens("text", "gpt2"),
        count_tokens(rows.text, own),
        count_tokens("text", path),
        encode("text", "gpt2"),
        encode("text", GPT2, allowed_special={"<|endoftext|>"}),
        truncate("text", "gpt2", 3, keep="ends"),
        split("text", "gpt2", 4, overlap=1, boundary="word"),
    )
    check_rows(
        made,
        lambda text: (
            GPT2.count(text),
            own.count(text),
            small.count(text),
            GPT2.encode_ordinary(text),
            GPT2.encode(text, allowed_special={"<|endoftext|>"}),
            GPT2.truncate(text, 3, keep="ends").text,
            [part.text for part in split_text(GPT2, text, 4, 1, "word")],
        ),
    )


def test_the_same_through_pandas(
    spark: SparkSession, rows: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark 4.0 has no functions on Arrow arrays."""
    monkeypatch.delattr("pyspark.sql.functions.arrow_udf", raising=False)
    made = rows.select(
        "text",
        count_tokens("text", "gpt2"),
        encode("text", "gpt2"),
        truncate("text", "gpt2", 3),
        split("text", "gpt2", 4),
    )
    check_rows(made, by_each)
    damaged = spark.createDataFrame([(b"na\xefve",), (b"",)], "data binary").coalesce(1)
    strings = damaged.selectExpr("CAST(data AS string) AS data")
    for some in (damaged, strings):
        counted = some.select(count_tokens("data", "gpt2", errors="replace")).collect()
        assert [row[0] for row in counted] == [GPT2.count("na\ufffdve"), 0]


@pytest.mark.smoke
def test_the_same_in_sql(spark: SparkSession, rows: DataFrame, own: Encoding) -> None:
    names = register(spark, {"mine": own})
    columns = rows.select(count_tokens("text", "gpt2"), split(rows.text, "gpt2", 3)).columns
    assert columns == ["count_tokens(text)", "split(text)"]
    assert names == ["count_tokens", "encode_tokens", "truncate_tokens", "split_tokens"]
    rows.createOrReplaceTempView("rows")
    made = spark.sql(
        "SELECT text, count_tokens(text, 'gpt2'), encode_tokens(text, 'gpt2'), "
        "truncate_tokens(text, 'gpt2', 3), split_tokens(text, 'gpt2', 4), "
        "count_tokens(text, 'mine'), count_tokens(text, NULL) FROM rows"
    )
    check_rows(made, lambda text: (*by_each(text), own.count(text), None))
    assert spark.sql("SELECT split('a,b', ','), encode('a', 'UTF-8')").collect()[0][0] == ["a", "b"]


def test_bytes_that_are_not_utf8(spark: SparkSession) -> None:
    from pyspark.sql import functions

    good, bad, half = "naïve".encode(), b"na\xefve", b"\xed\xa0\x80"  # Latin-1, a lone surrogate
    data = spark.createDataFrame([(good,), (bad,), (half,), (None,)], "data binary").coalesce(1)
    as_string = data.select(functions.col("data").cast("string").alias("data"))
    counts = [GPT2.count(value.decode("utf-8", "replace")) for value in (good, bad, half)]
    for some in (data, as_string):
        replaced = some.select(count_tokens("data", "gpt2", errors="replace")).collect()
        assert [row[0] for row in replaced] == [*counts, None]
        skipped = some.select(encode("data", "gpt2", errors="skip")).collect()
        assert [row[0] for row in skipped] == [GPT2.encode("naïve"), None, None, None]
        with pytest.raises(
            Exception, match="column 'data': a text is not UTF-8: byte 0xef at offset 2"
        ):
            some.select(count_tokens("data", "gpt2")).collect()


WRONG = """
numbers.select(count_tokens("number", "gpt2")) → …"number" has the type "BIGINT"… → Exception
rows.select(count_tokens("nothing", "gpt2")) → …`nothing` cannot be resolved… → Exception
count_tokens("text", "gpt3") → …unknown encoding 'gpt3'…
truncate("text", "gpt2", -1) → …limit is -1…
split("text", "gpt2", 3, overlap=3) → …overlap is 3…
encode("text", "gpt2", errors="ignore") → …errors is 'ignore'…
encode("text", "words") → …'words' numbers words in their order…
encode("text", "gpt2", allowed_special="<|endoftext|>") → …pass a set of names… → TypeError
"""


def test_what_is_wrong_is_said_before_a_job_starts(spark: SparkSession, rows: DataFrame) -> None:
    numbers = spark.range(2).withColumnRenamed("id", "number")
    check_refused(WRONG, {**globals(), "numbers": numbers, "rows": rows})


def test_columns_and_sql_give_the_answers(spark: SparkSession) -> None:
    from pyspark.sql.functions import expr

    def ask(question: Question) -> int:
        try:
            count_tokens("text", question.name)
        except ValueError as error:
            raise Refused(str(error)) from None
        return int(tokens[question])

    register(spark)
    known = [one for one in ENCODINGS if one.encoding is not None]
    row = spark.createDataFrame([(TEXT,)], "text string")
    (counts,) = row.select(
        *(count_tokens("text", one.name) for one in known),
        *(expr(f"count_tokens(text, '{one.name}')") for one in known),
    ).collect()
    tokens = dict(zip(known, counts))
    assert counts[len(known) :] == counts[: len(known)]
    for question in ENCODINGS:
        check(question, ask, "" if question in tokens else question.message(TERMS))
