"""What ``compat-bpe count`` prints, and its limits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import Run, runner


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``compat-bpe count`` in a folder of its own."""
    return runner("count", tmp_path, monkeypatch)


@pytest.fixture
def _tree(run: Run) -> None:
    """Files of 2, 20 and 18 tokens; ``run`` goes there."""
    for path, words in {"d/a": 2, "d/b/c/x": 20, "d/b/y": 18}.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("hello" + " world" * (words - 1))


@pytest.mark.usefixtures("_tree")
@pytest.mark.parametrize(
    ("depth", "lines"),
    [
        (0, ["40 d/"]),
        (1, ["40 d/", " 2 ├── a", "38 └── b/"]),
        (2, ["40 d/", " 2 ├── a", "38 └── b/", "20     ├── c/", "18     └── y"]),
        (9, ["40 d/", " 2 ├── a", "38 └── b/", "20     ├── c/", "20     │   └── x",
             "18     └── y"]),
    ],
)  # fmt: skip
def test_tree_down_to_some_depth(run: Run, depth: int, lines: list[str]) -> None:
    status, out, err = run("-e", "gpt2", "--tree", "--depth", str(depth), "d")
    assert (status, out.splitlines(), err) == (0, lines, "")


@pytest.mark.usefixtures("_tree")
def test_percentages(run: Run) -> None:
    assert run("-e", "gpt2", "--tree", "--percent", "--depth", "1", "d").out == (
        "40 100.0% d/\n 2   5.0% ├── a\n38  95.0% └── b/\n"
    )
    assert run("-e", "gpt2", "--percent", "--top", "2", "d").out == (
        "20  50.0% d/b/c/x\n18  45.0% d/b/y\n 2   5.0% (1 more file)\n40 100.0% total\n"
    )
    assert run("-e", "gpt2", "--percent", "d/a", "d/b/y").out == (
        " 2  10.0% d/a\n18  90.0% d/b/y\n20 100.0% total\n"
    )
    Path("empty").write_text("")
    assert run("--percent", "empty").out == "0   0.0% empty\n"


@pytest.mark.usefixtures("_tree")
def test_total_only(run: Run) -> None:
    assert run("-e", "gpt2", "--total-only", "d", "d/a") == (0, "42\n", "")
    assert run("-e", "gpt2", "--total-only", stdin=b"hello world") == (0, "2\n", "")
    assert run("-e", "gpt2", "--total-only", "d", "gone").out == "40\n"


@pytest.mark.usefixtures("_tree")
def test_limit_of_each_file(run: Run) -> None:
    args = ("-e", "gpt2", "--per-file", "--total-only")
    assert run(*args, "--max", "20", "d") == (0, "40\n", "")
    assert run(*args, "--limit", "17", "d") == (
        1,
        "40\n",
        "compat-bpe: d/b/c/x: 20 tokens, over the limit of 17\n"
        "compat-bpe: d/b/y: 18 tokens, over the limit of 17\n",
    )
    assert run(*args, "-q", "--limit", "0", stdin=b"hello") == (
        1,
        "1\n",
        "compat-bpe: standard input: 1 token, over the limit of 0\n",
    )
    assert run(*args, "--max", "0", "d/a", "gone").status == 2


def test_limit(run: Run) -> None:
    Path("a").write_text("hello world")
    assert run("-e", "gpt2", "--max", "4", "a", "a") == (0, " 2 a\n 2 a\n 4 total\n", "")
    assert run("-e", "gpt2", "--max", "3", "a", "a") == (
        1,
        " 2 a\n 2 a\n 4 total\n",
        "compat-bpe: total: 4 tokens, over the limit of 3\n",
    )
    assert run("-e", "gpt2", "--max", "0", stdin=b"").status == 0
    assert run("-e", "gpt2", "--max", "0", "--json", "a").status == 1
    assert run("-e", "gpt2", "--max", "1", "--top", "1", "--tree", "a").status == 1


def test_over_the_limit_and_unreadable_is_unreadable(run: Run) -> None:
    Path("a").write_text("hello world")
    assert run("-e", "gpt2", "--max", "1", "a", "missing").status == 2
