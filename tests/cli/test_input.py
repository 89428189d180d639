"""What the command reads: text byte for byte, and a word on standard error where a read waits."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.cli.input import read_all, read_blocks
from compat_bpe.cli.output import CommandError, write_bytes, write_text
from tests.cli.running import small_blocks
from tests.examples import shared_fixture


@shared_fixture()
@given(
    data=st.one_of(st.binary(max_size=50), st.text(max_size=50).map(lambda text: text.encode())),
    block=st.integers(1, 20),
)
def test_any_bytes_are_strict_utf8_or_refused_with_the_place(
    tmp_path: Path, data: bytes, block: int
) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    with small_blocks(block):
        assert b"".join(read_blocks(str(path))) == data
        try:
            expected = data.decode()
        except UnicodeDecodeError as error:
            reason = f"byte 0x{data[error.start]:02x} at offset {error.start};"
            with pytest.raises(CommandError, match=reason):
                read_all(str(path))
        else:
            assert read_all(str(path)) == expected


def test_nothing_waits_for_a_full_block(monkeypatch: pytest.MonkeyPatch) -> None:
    arriving = [b"one", b"two", b""]

    class Pipe(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            data = arriving.pop(0)
            buffer[: len(data)] = data
            return len(data)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Pipe())))
    assert list(read_blocks("-")) == [b"one", b"two"]


def test_a_stream_that_takes_little_at_a_time_gets_all(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unbuffered(io.RawIOBase):
        taken = b""

        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            self.taken += bytes(data[:3])
            return len(data[:3])

    raw: Any = Unbuffered()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, write_through=True))
    write_bytes(b"hello world\r\n")
    assert raw.taken == b"hello world\r\n"


@pytest.mark.parametrize("color", [False, True])
def test_no_newline_is_translated(color: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    # As standard output is opened on Windows.
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "utf-8", newline="\r\n"))
    write_text("a\n\r\n\nb é", color=color)
    assert written.getvalue() == "a\n\r\n\nb é".encode()


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("color", [False, True])
def test_what_a_charset_does_not_have_is_escaped(
    terminal: bool, color: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(written, "isatty", lambda: terminal, raising=False)
    stdout = io.TextIOWrapper(written, "cp437")
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(stdout, "isatty", lambda: terminal, raising=False)
    write_text("é … \U0001f600", color=color)
    stdout.flush()
    assert written.getvalue() == b"\x82 \\u2026 \\U0001f600"


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
