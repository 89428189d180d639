"""A column of Spark answers a question about a tokenizer as every other surface does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from compat_bpe.columns.batches import TERMS
from compat_bpe.spark import count_tokens, register
from tests.questions import ENCODINGS, TEXT, Question, Refused, check

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


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
