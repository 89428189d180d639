"""Files with so many tokens, and the budgets that ``compat-bpe check`` holds them to."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_bpe import get_encoding
from tests.cli.running import Run, runner

CONFIGURATION = """\
[check]
encoding = "gpt2"
[[check.rules]]
name = "skills"
files = ["skills/*.md"]
max = 10
total = 18
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``compat-bpe check`` in a folder of its own, which is the top of a repository."""
    (tmp_path / ".git").mkdir()
    return runner("check", tmp_path, monkeypatch)


def write(name: str, tokens: int) -> None:
    """Write a file that has so many tokens of gpt2."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a" + " a" * (tokens - 1))
    assert get_encoding("gpt2").count(path.read_text()) == tokens


def configure(text: str = CONFIGURATION, name: str = ".compat-bpe.toml") -> None:
    Path(name).write_text(text)
