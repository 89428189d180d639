"""Tests run in a folder of their own, and in a home without settings, such as git's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.home import clean_home as clean_home


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
