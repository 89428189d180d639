"""The server with pytest-lsp, whose client is that of pygls, in an environment of its own."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lsp.client import COMMAND

pytestmark = pytest.mark.editors

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).with_name("pytest_lsp")
PYTEST_LSP = "pytest-lsp==1.0.1"


def test_a_session_of_pytest_lsp(tmp_path: Path) -> None:
    python = str(tmp_path / "bin/python")
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "SERVER": shlex.join(COMMAND),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for command in (
        [sys.executable, "-m", "venv", str(tmp_path)],
        [python, "-m", "pip", "install", "-q", PYTEST_LSP],
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(FOLDER / "session.py")],
    ):
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
