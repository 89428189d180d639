"""A home of its own for each test of the stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_bpe import get_encoding
from compat_bpe.save import save_gpt2
from tests.encodings.stores import move_home


@pytest.fixture(scope="session")
def gpt2_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """GPT-2's own files, which take long to be written."""
    folder = tmp_path_factory.mktemp("gpt2")
    files = folder / "encoder.json", folder / "vocab.bpe"
    save_gpt2(get_encoding("gpt2"), *files)
    return files


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home."""
    move_home(tmp_path, monkeypatch)
    return tmp_path
