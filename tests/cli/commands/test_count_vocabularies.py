"""``compat-bpe count`` by a vocabulary that a path names."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_bpe.save import save_tiktoken, save_tokenizer_json
from tests.cli.running import Run, runner
from tests.encodings.small_vocabularies import SMALL


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``compat-bpe count`` in the folder."""
    return runner("count", tmp_path, monkeypatch)


def test_count_takes_a_path(run: Run, tmp_path: Path) -> None:
    save_tokenizer_json(SMALL, tmp_path / "tokenizer.json")
    save_tiktoken(SMALL, tmp_path / "mine.tiktoken")
    for path in (".", "tokenizer.json", str(tmp_path)):
        assert run("-e", path, stdin=b"abc<s>") == (0, "4\n", "")
    assert run("-e", "mine.tiktoken", "--pattern", "gpt2", stdin=b"abc") == (0, "1\n", "")
    assert run("-e", "mine.tiktoken", "--pattern", "llama3", stdin=b"abc") == (0, "1\n", "")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-e", "mine.tiktoken"), "mine.tiktoken: a rank file does not say how text is split"),
        (("-e", "mine.tiktoken", "--pattern", "llama-3"), "unknown pattern 'llama-3' "),
        (("-e", "./nowhere"), "./nowhere: No such file or directory"),
        (("-e", "."), "tokenizer.json: line 1: not JSON: "),
    ],
)
def test_count_says_what_is_wrong_in_one_line(
    run: Run, tmp_path: Path, args: tuple[str, ...], message: str
) -> None:
    save_tiktoken(SMALL, tmp_path / "mine.tiktoken")
    (tmp_path / "tokenizer.json").write_text("{")
    status, out, err = run(*args, stdin=b"a")
    assert (status, out) == (2, "")
    assert err.startswith(f"compat-bpe: {message}")
    assert err.count("\n") == 1


def test_count_takes_a_pattern_only_with_a_path(run: Run) -> None:
    for args in (("--pattern", "gpt2"), ("-e", "gpt2", "--pattern", "gpt2")):
        status, _, err = run(*args, stdin=b"a")
        assert status == 2
        assert "--pattern is for a vocabulary file that does not say its pattern" in err
