"""The plug-in for Neovim in a real Neovim, without a screen."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from compat_bpe import get_encoding
from tests.lsp.client import COMMAND

pytestmark = pytest.mark.editors

ROOT = Path(__file__).parents[2]
TEXT = "import math\n\n\ndef area(r):\n    return 3 * r  # 😀 é\n\n\nprint(area(2))\n"

#: What a user types, after each of which the counts are compared.
KEYS = [
    "gg0",
    "Ofrom os import path<Esc>",
    "5Gwcwmath.pi<Esc>",
    "A 😀 中文 ḗ<Esc>",
    "x",
    "xxx",
    "u",
    "<C-r>",
    "ggdG",
    "u",
    ":%s/r/é/g<CR>",
    "ggyGPGp",
    "gg=G",
    ":%join<CR>",
    "u",
    "3Gdd2p",
    "ggVGJ",
    "u",
    ":g/^/m0<CR>",
    "Go<Esc>",
    "i👩‍👩‍👧 a\u0301<CR><CR><Esc>",
    ":set noeol nofixeol<CR>",
    "gg0ix<Esc>",
]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_what_a_user_types_is_counted(neovim: str, tmp_path: Path, ending: str) -> None:
    encoding = get_encoding("cl100k_base")
    file = tmp_path / "a file.py"
    file.write_bytes(TEXT.replace("\n", ending).encode())
    given = {
        "cmd": COMMAND,
        "encoding": "cl100k_base",
        "file": str(file),
        "keys": KEYS,
        "near": "x",
    }
    (tmp_path / "input.json").write_text(json.dumps(given))
    environment = {
        **os.environ,
        "TEST_INPUT": str(tmp_path / "input.json"),
        "TEST_OUTPUT": str(tmp_path / "output.json"),
        "XDG_STATE_HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
    }
    script = Path(__file__).with_name("nvim_session.lua")
    done = subprocess.run(
        [neovim, "--headless", "-n", "-i", "NONE", "-u", "NONE"]
        + ["--cmd", f"set runtimepath+={ROOT / 'editors/nvim'}", "-c", f"luafile {script}"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    written = json.loads((tmp_path / "output.json").read_text())
    assert "failed" not in written, (written["failed"], done.stderr)
    assert len(written["texts"]) == len(KEYS)
    for keys, seen in zip(KEYS, written["texts"]):
        assert seen["count"] == encoding.count(seen["text"]), keys
    assert written["statuses"][-1] == f"{written['texts'][-1]['count']}/1000 tokens"
    prompt = written["prompt"]
    assert prompt in written["texts"][-1]["text"]
    assert encoding.count(prompt) <= 20 < encoding.count(written["texts"][-1]["text"])
    assert "Document: " in written["hover"]
    assert written["copied"].startswith("a file.py\n```python\n")
