"""The recipe of the guide for Ray Data, as it stands there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from compat_bpe import get_encoding
from compat_bpe.spark import partition_counts
from tests.docs_pages import ROOT

pytestmark = pytest.mark.spark

TEXTS = ["a dog", "a cat", "two dogs", ""]

#: Of the program around the recipe: two processes of Ray, which needs no more.
SCRIPT = """
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
    (tmp_path / "recipe.py").write_text(SCRIPT % recipe.replace("corpus/", "corpus.parquet"))
    done = subprocess.run(
        [sys.executable, "recipe.py", json.dumps(TEXTS)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    counts, tokens = json.loads(done.stdout.splitlines()[-1])
    assert {row["chunk"]: row["count"] for row in counts} == partition_counts(TEXTS)
    expected = sorted(map(get_encoding("gpt2").count, TEXTS))
    assert sorted(row["tokens"] for row in tokens) == expected
