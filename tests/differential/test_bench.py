"""The benchmark runs, and a difference in ids ends it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.differential.reference import Pair
from tools.benchmark import refuse_difference, training
from tools.benchmark.columns import rows_of
from tools.benchmark.first import STEPS, first_answers, of_module, whole_processes
from tools.benchmark.kinds import FIGURES
from tools.benchmark.measured import measure
from tools.benchmark.scaling import hard_inputs

# Tools of maintainers, each run as a whole.
pytestmark = pytest.mark.sweep

BENCH = Path(__file__).resolve().parents[2] / "tools" / "bench.py"


WORDS = "Some words, 12345 of them.\n\n今天天气很好。\n"


def bench(folder: Path, text: str, *options: str, **variables: str) -> tuple[dict[str, Any], str]:
    """Return the figures of a run of one round on a text, and what it prints."""
    corpus, figures = folder / "corpus.txt", folder / "figures.json"
    corpus.write_text(text, encoding="utf-8")
    command = [sys.executable, str(BENCH), "--corpus", str(corpus), *options]
    command += ["--rounds", "1", "--json", str(figures)]
    environment = {**os.environ, **variables}
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    return json.loads(figures.read_text("utf-8")), run.stdout


def test_a_run(tmp_path: Path) -> None:
    parts = ("--only", "speed", "--only", "small", "--only", "scaling", "--size", "2000")
    figures, printed = bench(tmp_path, WORDS * 200, "--encoding", "gpt2", *parts)
    found = figures["gpt2"]
    assert found["speed"]["corpus.txt"]["steady"] > 0
    assert found["small"]["10"]["microseconds"] > 0
    assert set(found["scaling"]) == {name for name, _ in hard_inputs(1)}
    assert "geometric mean" in printed


def test_training(tmp_path: Path) -> None:
    text = Path(__file__).read_text("utf-8") + "今天天气很好。\n"
    titles = training.ROWS.keys() - {"BPE, 32,000 tokens"}
    options = ("--only", "training", "--training-size", "400000")
    figures, _ = bench(tmp_path, text * 9, *options, *(f"--trainer={one}" for one in titles))
    found = figures["training"]
    assert set(found) == titles
    for row in found.values():
        assert min(row.values()) > 0
        # With threads, the reference itself differs from run to run.
        assert row["in_common"] > 0.95
        assert row["megabytes"] > 10


def test_what_is_over_its_limit_is_stopped() -> None:
    start = "import subprocess, sys\n"
    code = "subprocess.run([sys.executable, '-c', 'while True: pass'])"
    found = measure(start, code, "", 1.0)
    assert found.is_over
    assert 1.0 < found.cpu_seconds < 10
    assert not found.lines
    assert not measure("", "sum(range(9))", "", 100.0).is_over


def test_other_kinds(tmp_path: Path) -> None:
    names = ["bert_uncased", "llama_2.model, sp"]
    encodings = (f"--encoding={name}" for name in names)
    found = bench(tmp_path, WORDS * 200, "--only", "kinds", *encodings)[0]["kinds"]
    assert set(found) == set(names)
    for name in names:
        assert all(found[name]["corpus.txt"][figure] > 0 for figure in FIGURES)
        assert found[name]["load"]["part"] > 0
        assert set(STEPS) < set(found[name]["first"])


@pytest.mark.parametrize("ids", [[1, 2, 4], [1, 2], [1, 2, 4, 5]])
def test_a_difference_ends_the_run(ids: list[int]) -> None:
    with pytest.raises(SystemExit, match="they differ from number 2 on"):
        refuse_difference("some text", [1, 2, 3], ids)
    refuse_difference("some text", ids, ids)


def test_first_answers(get_pair: Callable[[str], Pair]) -> None:
    get_pair("gpt2")  # writes the files that tiktoken reads
    sides = {name: of_module(name, "gpt2") for name in ("compat_bpe", "tiktoken")}
    rows = first_answers(sides, 1)
    assert set(rows) == set(STEPS)
    assert all(row[side] >= 0 for row in rows.values() for side in sides)
    assert all(row["compat_bpe"] + row["tiktoken"] > 0 for row in rows.values())
    assert whole_processes({"python": ["-c", "pass"]}, 1)["python"] > 0


def test_hard_inputs_are_as_long_as_asked() -> None:
    for name, text in hard_inputs(101):
        assert len(text) == 101, name


def test_another_interpreter(tmp_path: Path) -> None:
    """Here this one is the other: that PyPy is faster is for the benchmark to show."""
    others = os.pathsep.join([sys.executable, "no-such-pypy"])
    options = ("--encoding", "gpt2", "--only", "pypy")
    figures, printed = bench(tmp_path, WORDS * 2000, *options, PYPY=others)
    assert "no-such-pypy: not installed" in printed
    found = figures["gpt2"]["pypy"][sys.executable]
    assert found["corpus.txt"]["new"] > 0
    assert found["geometric mean"]["again"] > 0


def test_columns(tmp_path: Path) -> None:
    lines = "".join(f"Some words, {number} of them: 今天天气很好。\n" for number in range(2000))
    figures, _ = bench(tmp_path, lines, "--encoding", "gpt2", "--only", "columns")
    found = figures["gpt2"]["columns"]
    assert {*found} >= {f"{kind}, sqlite3" for kind in ("lines", "pieces", "repeated")}
    assert all(row["ratio"] > 0 for row in found.values())


def test_rows_of_columns() -> None:
    texts = ["a\nb\n\na\n" + "c" * 300, "\n".join(map(str, range(100)))]
    lines = rows_of(texts, "lines")
    assert sorted(lines) == sorted(["a", "b", "c" * 300, *map(str, range(100))])
    assert len(rows_of(texts, "repeated")) == 100
    assert len({*rows_of(texts, "repeated")}) == 10
    assert sorted(map(len, rows_of(texts, "pieces")))[-1] <= 500
