"""The guide to Spark is true: its blocks run; so do Ray and a client of Spark Connect."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from compat_bpe import get_encoding, load
from compat_bpe.spark import partition_counts
from compat_bpe.train import train_bpe
from tests.docs_pages import ROOT, run_commands, run_sessions
from tests.docs_pages import environment as environment
from tests.docs_pages import folder as folder
from tests.docs_pages import project as project
from tests.spark.conftest import SETTINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


pytestmark = pytest.mark.spark

GUIDE = ROOT / "docs/guide-spark.md"


def test_python_sessions(
    spark: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Paths are relative to the folder that Java was started in, which it cannot change.
    home = Path(str(spark._jvm.java.lang.System.getProperty("user.dir")))
    monkeypatch.chdir(home)
    (home / "texts").symlink_to(folder / "texts")
    run_sessions(GUIDE, {"spark": spark})


def test_commands(folder: Path, environment: Mapping[str, str], tmp_path: Path) -> None:
    settings = tmp_path / "conf"
    settings.mkdir()
    lines = [f"{name} {value}\n" for name, value in SETTINGS.items()]
    (settings / "spark-defaults.conf").write_text("".join(lines))
    own = str(Path(sys.executable).parent)
    path = os.pathsep.join([own, environment["PATH"]])
    others = {"SPARK_CONF_DIR": str(settings), "PYSPARK_PYTHON": sys.executable, "PATH": path}
    run_commands(GUIDE, folder, {**environment, **others})


def printed_by(folder: Path, *arguments: str, **environment: str) -> Any:
    """What a script prints as JSON in its last line."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


RAY_TEXTS = ["a dog", "a cat", "two dogs", ""]

#: Of the program around the recipe: two processes of Ray, which needs no more.
RAY_SCRIPT = """
import json, sys, pyarrow, pyarrow.parquet
import ray
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
pyarrow.parquet.write_table(pyarrow.table({"text": json.loads(sys.argv[1])}), "corpus.parquet")
%s
print(json.dumps([counts.take_all(), tokens.take_all()]))
"""


def test_the_recipe(tmp_path: Path) -> None:
    guide = (ROOT / "docs/guide-spark.md").read_text("utf-8")
    recipe = guide.partition("With Ray Data")[2].partition("```python\n")[2].partition("```")[0]
    assert "groupby" in recipe
    (tmp_path / "recipe.py").write_text(RAY_SCRIPT % recipe.replace("corpus/", "corpus.parquet"))
    counts, tokens = printed_by(tmp_path, "recipe.py", json.dumps(RAY_TEXTS))
    assert {row["chunk"]: row["count"] for row in counts} == partition_counts(RAY_TEXTS)
    expected = sorted(map(get_encoding("gpt2").count, RAY_TEXTS))
    assert sorted(row["tokens"] for row in tokens) == expected


CONNECT_TEXTS = ["a dog and a cat", "un chien"]

CONNECT_SCRIPT = """
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
    arguments = ("-c", CONNECT_SCRIPT, json.dumps(CONNECT_TEXTS), str(folder))
    others = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    found: dict[str, Any] = printed_by(tmp_path, *arguments, **others)
    gpt2 = get_encoding("gpt2")
    assert found["kind"].startswith("pyspark.sql.connect.")
    assert found["columns"] == [
        *(
            [gpt2.count(text), gpt2.encode(text), gpt2.truncate(text, 2).text, parts]
            for text, parts in zip(CONNECT_TEXTS, [["a dog", " and a", " cat"], ["un chi", "en"]])
        ),
        [None] * 4,
    ]
    expected = partition_counts(CONNECT_TEXTS)
    assert found["counts"] == expected
    assert found["weighted"] == {
        chunk: count * (1000 if chunk in CONNECT_TEXTS[0] else 3750)
        for chunk, count in expected.items()
    }
    assert sorted(found["approximate"]) == [[chunk, n, 0] for chunk, n in sorted(expected.items())]
    assert (found["sql"], found["prepared"], found["documents"]) == (2, 2, 2)
    learned, trained = train_bpe(CONNECT_TEXTS, num_merges=3), load(folder)
    assert trained.n_vocab == learned.n_vocab == 259
    assert [*map(trained.encode, CONNECT_TEXTS)] == [*map(learned.encode, CONNECT_TEXTS)]
    assert json.loads((folder / "manifest.json").read_text())["spark"]["application"] is None
    assert "there is no column 'nothing'" in found["column"]
    assert 'has the type "BOOLEAN"' in found["type"]
