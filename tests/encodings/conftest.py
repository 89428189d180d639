"""A home of its own for each test of the stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.encodings.stores import move_home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home."""
    move_home(tmp_path, monkeypatch)
    return tmp_path
