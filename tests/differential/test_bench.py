"""The benchmark runs, and a difference in ids ends it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.benchmark.common import measure, refuse_difference
from tools.benchmark.encoders import FIGURES, STEPS
from tools.benchmark.training import TRAINERS

# Tools of maintainers, each run as a whole.
pytestmark = pytest.mark.sweep

BENCH = Path(__file__).resolve().parents[2] / "tools" / "bench.py"
TEXT = "Some words, 12345 of them.\n\n今天天气很好。\n"
SMALL = {title for title in TRAINERS if title != "BPE, 32,000 tokens"}


def run(folder: Path, text: str, *arguments: str) -> dict[str, Any]:
    """Return the figures of a run with one text."""
    (folder / "corpus.txt").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, BENCH, "--corpus=corpus.txt", "--rounds=1", "--json=found", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((folder / "found").read_text("utf-8"))
    return found


def test_encodings(tmp_path: Path) -> None:
    lines = "".join(f"{number}: {TEXT}" for number in range(2000))
    found = run(tmp_path, lines, "--encoding=gpt2", "--only=speed", "--only=start")
    speed, start = (part["gpt2"] for part in found.values())
    assert {*FIGURES, "decode", "tiktoken MB/s"} == {*speed["corpus.txt"]}
    assert all(figure > 0 for row in speed.values() for figure in row.values())
    assert {*STEPS} < {*start}
    assert all(figure >= 0 for row in start.values() for figure in row.values())
    assert start["whole processes"]["here"] > start["whole processes"]["python"] > 0


def test_training(tmp_path: Path) -> None:
    text = (Path(__file__).read_text("utf-8") + TEXT) * 9
    rows = [f"--row={title}" for title in SMALL]
    found = run(tmp_path, text, "--only=training", "--size=400000", *rows)
    assert {*found["training"][""]} == SMALL
    for row in found["training"][""].values():
        assert min(row.values()) > 0
        # With threads, the reference itself differs from run to run.
        assert row["in common"] > 0.95
        assert row["megabytes"] > 10


def test_what_is_over_its_limit_is_stopped() -> None:
    code = "subprocess.run([sys.executable, '-c', 'while True: pass'])"
    found = measure("import subprocess, sys\n", code, "", 1.0)
    assert found.is_over
    assert 1.0 < found.cpu_seconds < 10
    assert not found.lines
    assert not measure("", "sum(range(9))", "", 100.0).is_over


def test_other_kinds(tmp_path: Path) -> None:
    names = ["bert_uncased", "llama_2.model"]
    found = run(tmp_path, TEXT * 200, "--only=kinds", *(f"--row={name}" for name in names))
    for name in names:
        rows = found["kinds"][""]
        assert all(rows[f"{name}, corpus.txt"][figure] > 0 for figure in FIGURES)
        assert min(rows[f"{name}, first answer"].values()) > 0


@pytest.mark.parametrize("ids", [[1, 2, 4], [1, 2], [1, 2, 4, 5]])
def test_a_difference_ends_the_run(ids: list[int]) -> None:
    with pytest.raises(SystemExit, match="they differ from number 2 on"):
        refuse_difference("some text", [1, 2, 3], ids)
    refuse_difference("some text", ids, ids)
