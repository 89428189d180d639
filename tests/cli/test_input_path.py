"""A word on standard error where a read waits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = """
import sys
from compat_bpe.cli.input import announce_wait
announce_wait(sys.argv[1])
"""


def _said(path: str, *, terminal: bool) -> bytes:
    """What is said of a path by a process on a terminal, or on pipes."""
    pty = pytest.importorskip("pty", reason="Windows has no pseudo-terminals")
    command = [sys.executable, "-c", _SCRIPT, path]
    if not terminal:
        return subprocess.run(command, stdin=subprocess.PIPE, capture_output=True).stderr
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdin=theirs, stderr=theirs, stdout=theirs) as process:
        process.wait()
    os.close(theirs)
    chunks = []
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:  # what Linux says at the end
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(ours)
    return b"".join(chunks)


def test_standard_input_on_a_terminal() -> None:
    assert b"reading standard input; Ctrl-D on an empty line ends it" in _said("-", terminal=True)


def test_standard_input_that_is_a_pipe() -> None:
    assert _said("-", terminal=False) == b""


def test_a_named_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert b"a named pipe; waiting for what is written to it" in _said(str(path), terminal=True)
    assert _said(str(path), terminal=False) == b""


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"")
    assert _said(str(path), terminal=True) == b""
