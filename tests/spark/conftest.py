"""A session of Spark on two threads, which all tests share.

Run with ``pytest -m spark tests/spark``; it needs Java (``apt-get install default-jre-headless``)
and ``pip install '.[spark-test]'``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Settings of sessions that are to start quickly and to write little.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    f"-Dlog4j2.configurationFile={Path(__file__).parent / 'log4j2.properties'}",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.adaptive.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # In Java itself: Snappy's own library does not load where Debian's package musl is installed.
    "spark.sql.parquet.compression.codec": "gzip",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def configured(builder: Any, **others: str) -> Any:
    """A builder of sessions with the settings; names of others have ``_`` for ``.``."""
    for name, value in {**SETTINGS, **others}.items():
        builder = builder.config(name.replace("_", "."), value)
    return builder


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.chdir(tmp_path_factory.mktemp("spark"))
        # A task that fails is tried up to three times.
        builder = SparkSession.builder.master("local[2,3]").appName("tests")
        session = configured(builder).getOrCreate()
        yield session
        session.stop()
