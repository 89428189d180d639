"""A client of Spark Connect: the same results as in a session of its own.

A process has a session of one or the other kind, so the client runs in another one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import get_encoding, load
from compat_bpe.spark import partition_counts
from compat_bpe.train import train_bpe

pytestmark = pytest.mark.spark

TEXTS = ["a dog and a cat", "un chien"]

SCRIPT = """
import json, sys
from pyspark.sql import SparkSession
from compat_bpe.spark import (
    chunk_counts, count_tokens, encode, prepare, register, report, ship, split, train, truncate
)
from compat_bpe.train import TrainingSettings
from tests.spark.conftest import configured

spark = configured(SparkSession.builder.remote("local[2]")).getOrCreate()
kind = type(spark).__module__
texts = json.loads(sys.argv[1])
df = spark.createDataFrame([*zip(["en", "fr"], texts), ("en", None)], "lang string, text string")
columns = df.select(
    count_tokens("text", "gpt2"), encode(df.text, "gpt2"), truncate("text", "gpt2", 2),
    split("text", "gpt2", 2),
)
found = {"kind": kind, "columns": [list(row) for row in columns.collect()]}
ship(spark)
found["counts"] = dict(map(tuple, chunk_counts(df, "text").collect()))
weighted = chunk_counts(df, "text", group="lang", weights={"fr": 2})
found["weighted"] = dict(map(tuple, weighted.collect()))
found["approximate"] = [list(row) for row in chunk_counts(df, "text", approximate=9).collect()]
register(spark)
found["sql"] = spark.sql("SELECT count_tokens('a dog', 'gpt2')").collect()[0][0]
found["prepared"] = prepare(df, "text", drop_duplicates="documents").count()
found["documents"] = report(df, "text", ["gpt2"]).total.documents
train(df, "text", sys.argv[2], TrainingSettings(num_merges=3), name="own")
for name, make in {
    "column": lambda: chunk_counts(df, "nothing"),
    "type": lambda: df.select(count_tokens(df.lang == "en", "gpt2")).schema,
}.items():
    try:
        make()
    except Exception as error:
        found[name] = str(error).splitlines()[0]
spark.stop()
print(json.dumps(found))
"""


def test_a_client_gets_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(TEXTS), str(folder)],
        env={
            **os.environ,
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": str(Path(__file__).parents[2]),
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    gpt2 = get_encoding("gpt2")
    assert found["kind"].startswith("pyspark.sql.connect.")
    assert found["columns"] == [
        *(
            [gpt2.count(text), gpt2.encode(text), gpt2.truncate(text, 2).text, parts]
            for text, parts in zip(TEXTS, [["a dog", " and a", " cat"], ["un chi", "en"]])
        ),
        [None] * 4,
    ]
    expected = partition_counts(TEXTS)
    assert found["counts"] == expected
    assert found["weighted"] == {
        chunk: count * (1000 if chunk in TEXTS[0] else 3750) for chunk, count in expected.items()
    }
    assert sorted(found["approximate"]) == [[chunk, n, 0] for chunk, n in sorted(expected.items())]
    assert (found["sql"], found["prepared"], found["documents"]) == (2, 2, 2)
    learned, trained = train_bpe(TEXTS, num_merges=3), load(folder)
    assert trained.n_vocab == learned.n_vocab == 259
    assert [*map(trained.encode, TEXTS)] == [*map(learned.encode, TEXTS)]
    assert json.loads((folder / "manifest.json").read_text())["spark"]["application"] is None
    assert "there is no column 'nothing'" in found["column"]
    assert 'has the type "BOOLEAN"' in found["type"]
