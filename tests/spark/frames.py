"""DataFrames of the tests, and their counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def frame(spark: SparkSession, rows: list[Any], schema: str, partitions: int) -> DataFrame:
    """A DataFrame with its rows in so many partitions, of which some may be empty."""
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, partitions), schema)


def counted(df: DataFrame) -> dict[Any, int]:
    """Counts by chunk, or by chunk and group; each has one row."""
    rows = [tuple(row) for row in df.collect()]
    found = {row[0] if len(row) == 2 else (row[0], row[2]): row[1] for row in rows}
    assert len(found) == len(rows)
    return found
