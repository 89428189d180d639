"""A home of its own for each test of the stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from compat_bpe import get_encoding
from compat_bpe.formats.gpt2 import format_encoder_json, format_vocab_bpe
from tests.encodings.stores import move_home


@pytest.fixture(scope="session")
def gpt2_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """GPT-2's own files; ``save_gpt2`` writes these, and takes long to check them."""
    folder = tmp_path_factory.mktemp("gpt2")
    files = folder / "encoder.json", folder / "vocab.bpe"
    encoding = get_encoding("gpt2")
    ranks = encoding._mergeable_ranks
    files[0].write_bytes(format_encoder_json(ranks, encoding._special_tokens))
    files[1].write_bytes(format_vocab_bpe(ranks))
    return files


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home."""
    move_home(tmp_path, monkeypatch)
    return tmp_path
