"""The package for Emacs in a real Emacs, without a screen."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from compat_bpe import get_encoding
from tests.lsp.client import COMMAND
from tests.lsp.real_editors import PACKAGE, ROOT, emacs, script_at
from tests.lsp.real_editors import emacs_session as session

pytestmark = pytest.mark.editors

ENCODING = get_encoding("o200k_base")
TEXT = "import math\n\n\ndef area(r):\n    return 3 * r  # 😀 é\n\n\nprint(area(2))\n"


def test_the_package_compiles_without_a_warning(tmp_path: Path) -> None:
    copy = tmp_path / PACKAGE.name
    shutil.copy(PACKAGE, copy)
    said = emacs(
        *("-Q", "--eval", "(setq byte-compile-error-on-warn t)", "-f", "batch-byte-compile", copy),
        folder=tmp_path,
    )
    assert said == ""
    said = emacs("-Q", "--eval", f'(checkdoc-file "{copy}")', folder=tmp_path)
    assert said == ""


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_what_a_user_does_is_counted(tmp_path: Path, ending: str) -> None:
    written = session("test-typing", tmp_path, TEXT.replace("\n", ending))
    assert len(written["texts"]) == 20
    for number, (text, count) in enumerate([*written["texts"], written["renamed"]]):
        assert count == ENCODING.count(text), (number, text)
        assert ("\r\n" in text) == (ending == "\r\n" and "\n" in text)
    assert written["texts"][0][0] == TEXT.replace("\n", ending)
    text, count = written["reverted"]
    assert (text.rstrip(), count) == (written["renamed"][0], ENCODING.count(text))


#: Sends what a server writes within some time in one piece, as a busy machine does.
IN_PIECES = """\
import os, subprocess, sys, time
source = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE).stdout.fileno()
while data := os.read(source, 1 << 16):
    time.sleep(0.3)
    os.set_blocking(source, False)
    try:
        data += os.read(source, 1 << 16)
    except BlockingIOError:
        pass
    os.set_blocking(source, True)
    os.write(1, data)
"""


def test_what_comes_in_one_piece_with_an_answer_is_read(tmp_path: Path) -> None:
    (tmp_path / "pieces.py").write_text(IN_PIECES)
    server = shlex.join([sys.executable, str(tmp_path / "pieces.py"), *COMMAND])
    script_at(tmp_path / "bin/compat-bpe", f'PYTHONPATH="{ROOT}" exec {server}')
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    assert len(session("test-typing", tmp_path, TEXT, PATH=path)["texts"]) == 20


def test_prompts_and_settings(tmp_path: Path) -> None:
    text = "one two three\nfour five six 😀 seven\n"
    written = session("test-prompts", tmp_path)
    asked = "Fill in the text at <CURSOR>. Answer with the missing text only.\n\n"
    assert written["prompt"].startswith(f"{asked}one <CURSOR>two three\n")
    assert ENCODING.count(written["prompt"]) <= 25
    assert written["region"] == ENCODING.count(text[:7])
    start = len(ENCODING.decode(ENCODING.encode(text)[:4]))
    assert written["over"] == [start + 1, f"{ENCODING.count(text)}/4 tokens", "warning"]
    assert written["gpt2"] == get_encoding("gpt2").count(text)
    reason, kept = written["refused"]
    assert "the tokenizer of Qwen 3, which is not included" in reason
    assert kept == "gpt2"
    assert written["failure"].startswith("limit: limit is 3, but the template")
    assert written["off"] == ""


def test_models_are_completed_by_how_they_begin(tmp_path: Path) -> None:
    written = session("test-complete", tmp_path, "one\n")
    assert "claude-sonnet-4-5" in written["claude-s"]
    assert all(name.startswith("claude-s") for name in written["claude-s"])
    assert "gpt-4o-mini" in written["gpt-4o-mini"]
    assert written["cl1"] == ["cl100k_base"]
    assert written["sonnet"] == written["Qwen"] == []
    assert written["said"] == ["  an estimate", "  o200k_base", "  an encoding"]


def test_a_server_that_ends(tmp_path: Path) -> None:
    assert session("test-ends", tmp_path, "a b c d\n")["after"] == ""


@pytest.mark.parametrize("kind", ["installed", "of this repository"])
def test_a_python_is_enough(tmp_path: Path, kind: str) -> None:
    """The package is found in it; or beside the package for Emacs, with no other one."""
    own = f'PYTHONPATH="{ROOT}" exec "{sys.executable}" "$@"'
    alone = f'exec "{sys.executable}" -S -E "$@"'
    script_at(tmp_path / "bin/python3", own if kind == "installed" else alone)
    found = session("test-found", tmp_path, PATH=str(tmp_path / "bin"))["found"]
    assert found[:2] == ["python3", "-m" if kind == "installed" else "-c"]


def test_without_compat_bpe(tmp_path: Path) -> None:
    for name in ("compat-bpe", "python3", "python", "py"):
        assert not (tmp_path / "bin" / name).exists()
    written = session(
        "test-missing",
        tmp_path,
        PATH=str(tmp_path / "bin"),
        TEST_COMMAND="\n".join(["/usr/bin/env", f"PYTHONPATH={ROOT}", *COMMAND]),
    )
    install = "pip install . in a checkout of compat-bpe"
    why = f"compat-bpe is not installed: {install}, then M-x compat-bpe-restart"
    assert written["said"].count(why) == 1
    assert "is not running; M-x compat-bpe-restart starts it" in written["failure"]
