"""Messages on standard error: each on a line of its own, whatever has been written before it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.process import COMMAND, TIMEOUT, Terminal, environment, posix, run


def in_one_stream(args: list[str], folder: Path, stream: int) -> subprocess.CompletedProcess[bytes]:
    """Run a command whose standard output and standard error are one stream."""
    return subprocess.run(
        [*COMMAND, *args],
        cwd=folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=stream,
        stderr=stream if stream != subprocess.PIPE else subprocess.STDOUT,
        timeout=TIMEOUT,
        check=False,
    )


@posix
@pytest.mark.parametrize(
    ("args", "text", "written"),
    [
        (["truncate", "-n", "9", "--report"], b"hello", b"hello\ncompat-bpe: a.txt: not cut"),
        (["truncate", "-n", "9", "--report"], b"hello\n", b"hello\ncompat-bpe: a.txt: not cut"),
        pytest.param(
            *(
                ["decode", "-e", "gpt2"],
                b"31373 " * 20_000 + b"x",
                b"hello\ncompat-bpe: a.txt: 'x'",
            ),
            marks=pytest.mark.sweep,
        ),
        pytest.param(
            *(["show", "--ids"], b"hello", b'  "hello"\ncompat-bpe: a.txt: 1 token'),
            marks=pytest.mark.sweep,
        ),
    ],
)
def test_a_message_begins_a_line(
    args: list[str], text: bytes, written: bytes, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_bytes(text)
    args = [*args, "a.txt"]
    assert written in in_one_stream(args, tmp_path, subprocess.PIPE).stdout
    if "show" not in args:  # a terminal has its last line without the name of the file
        terminal = Terminal()
        in_one_stream(args, tmp_path, terminal.fd)
        assert written in terminal.text()
    # Nothing is added to output that goes elsewhere.
    done = run(*args, cwd=tmp_path)
    assert done.stdout.endswith(b"\n") == (text.endswith(b"\n") or "show" in args)
    assert done.stderr.startswith(b"compat-bpe: a.txt: ")
