"""``compat-bpe completion``; what is completed is tested where it is defined."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.exact import run
from tests.cli.process import ROOT, TIMEOUT, environment


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_script(shell: str) -> None:
    status, out, err = run("completion", shell)
    assert (status, err) == (0, "")
    assert f"_COMPAT_BPE_COMPLETE={shell}_complete".encode() in out
    assert b"compat-bpe" in out
    assert out.endswith(b"\n")


def test_unknown_shell() -> None:
    status, out, err = run("completion", "cmd")
    assert (status, out) == (2, b"")
    assert "'cmd' is not one of 'bash', 'zsh', 'fish'" in err


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["compat-bpe", "trun"], ["truncate"]),
        (["compat-bpe", "count", "--model", "gpt-4"], ["gpt-4", "gpt-4.1", "gpt-4o"]),
    ],
)
def test_bash_completes(tmp_path: Path, words: list[str], expected: list[str]) -> None:
    script = tmp_path / "completion"
    script.write_bytes(run("completion", "bash").out)
    command = tmp_path / "compat-bpe"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m compat_bpe "$@"\n')
    command.chmod(0o755)
    quoted = " ".join(f"'{word}'" for word in words)
    ask = (
        f"shopt -s progcomp; source '{script}'; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1};"
        f" _compat_bpe_completion '{command}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", ask],
        env=environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert sorted(done.stdout.decode().split()) == expected
