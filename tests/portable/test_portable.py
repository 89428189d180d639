"""The tests that are portable, on this Python, with the warnings that are errors in all tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.portable.place import Check, Place
from tests.portable.run import ANSWERS, TESTS, Run

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"


@pytest.mark.sweep
def test_all_pass() -> None:
    # In a process of its own, since another tiktoken may be imported here.
    command = [sys.executable, "-W", "error", str(Path(__file__).parent), "--every", "20"]
    done = subprocess.run(
        [*command, "--workers", "yes"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert [line.partition(":")[0] for line in done.stdout.splitlines()[1:-3]] == list(TESTS)


def test_a_difference_is_a_failure(tmp_path: Path) -> None:
    run = Run(Place("compat_bpe", FIXTURES, tmp_path))
    run._compare("files.loaded", Check("vocab.txt", [1]))
    run._compare("files.loaded", Check("no such question", [1]))
    run._compare("files.loaded", Check("question", (1, 2), [1, 2]))
    assert (run.checks, len(run.failures)) == (3, 2)
    assert "found    [1]\n  expected [20," in run.failures[0]


def test_no_stored_answer_is_left_over(tmp_path: Path) -> None:
    assert set(json.loads((FIXTURES / ANSWERS).read_bytes())) <= set(TESTS)
