"""Kimi's declarations of tools, compared with the file that its tokenizer makes them by.

Run with ``pytest -m clients tests/clients/test_kimi_chat.py``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from compat_bpe.chat.kimi import declared, in_order
from tests.clients.environments import Environment
from tests.clients.kimi_tools import tools_of
from tools.reference_files import reference_file

pytestmark = pytest.mark.clients

SCRIPT = Path(__file__).parent / "scripts" / "kimi.py"


def test_kimi_chat(tmp_path: Path) -> None:
    cases = [in_order(tools_of(seed)) for seed in range(5000)]
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({"file": str(reference_file("kimi_tools")), "tools": cases}))
    printed = Environment(Path(sys.executable), tmp_path).run("-I", SCRIPT, path, cwd=tmp_path)
    results = list(map(json.loads, printed.splitlines()))
    assert len(results) == len(cases)
    for tools, expected in zip(cases, results):
        assert declared(tools) == expected, tools
    assert 500 < results.count(None) < 2500
