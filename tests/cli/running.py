"""``compat-bpe`` run within this process, or as a process of its own, also on a terminal."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, Callable, NamedTuple
from unittest import mock

import pytest

import compat_bpe
from compat_bpe.cli import cli


class Result(NamedTuple):
    status: int
    out: bytes
    err: str


class _Written(io.BytesIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


def run(
    *args: str,
    stdin: bytes | BinaryIO = b"",
    terminal: bool = False,
    charset: str = "utf-8",
) -> Result:
    """Run a command; standard output is a terminal or not, and has a charset."""
    source = io.BytesIO(stdin) if isinstance(stdin, bytes) else stdin
    out, err = _Written(terminal), _Written(terminal)
    streams = (
        io.TextIOWrapper(source),
        io.TextIOWrapper(out, encoding=charset),
        io.TextIOWrapper(err, encoding=charset, errors="backslashreplace"),
    )
    status: object = None
    with mock.patch.multiple(sys, stdin=streams[0], stdout=streams[1], stderr=streams[2]):
        try:
            cli(args, prog_name="compat-bpe")
        except SystemExit as exit:
            status = exit.code
    for written in streams[1:]:
        written.flush()
    assert isinstance(status, int)
    return Result(status, out.getvalue(), err.getvalue().decode(charset, "surrogateescape"))


class TextResult(NamedTuple):
    status: int
    out: str
    err: str


Run = Callable[..., TextResult]


def runner(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """What runs a command with the arguments and standard input given, in ``folder``."""
    monkeypatch.chdir(folder)

    def run_here(*args: str, stdin: bytes = b"") -> TextResult:
        done = run(command, *args, stdin=stdin)
        return TextResult(done.status, done.out.decode("utf-8", "surrogateescape"), done.err)

    return run_here


@contextmanager
def small_blocks(size: int) -> Iterator[None]:
    """Read the input so many bytes at a time."""
    with mock.patch("compat_bpe.cli.input._BLOCK", size):
        yield


class _Endless(io.RawIOBase):
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._taken = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._data * (len(buffer) // len(self._data))
        buffer[: len(data)] = data
        self._taken += len(data)
        assert self._taken < 1 << 20, "it is read on and on"
        return len(data)


def endless(data: bytes) -> BinaryIO:
    """Some bytes again and again, of which no more than a megabyte should be read."""
    return io.BufferedReader(_Endless(data))


ROOT = Path(compat_bpe.__file__).parent.parent
COMMAND = [sys.executable, "-m", "compat_bpe"]
TIMEOUT = 120  # seconds; only a command that hangs takes so long

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX pipes, signals and file names")


def environment(**extra: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **extra}


def run_process(*args: Any, **options: Any) -> subprocess.CompletedProcess[bytes]:
    options.setdefault("env", environment())
    options.setdefault("stdin", None if "input" in options else subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    if options["stdin"] is None:
        del options["stdin"]
    return subprocess.run(
        [*COMMAND, *args], stderr=subprocess.PIPE, timeout=TIMEOUT, check=False, **options
    )


@contextmanager
def started(*args: Any, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Start the command, and kill it in the end.

    Its streams are pipes where the options do not say otherwise.
    """
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(
        [*COMMAND, *args],
        **{"env": environment(), **pipes, **options},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


class Terminal:
    """A terminal that collects what processes write to it.

    Give ``fd`` to them, and then ``close``; ``text`` is complete after that, when all have ended.
    It has 24 rows, and ``columns`` if they are given.
    """

    def __init__(self, columns: int | None = None) -> None:
        import pty

        self._reading, self.fd = pty.openpty()
        if columns is not None:
            import fcntl
            import termios

            fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self._written: list[bytes] = []
        self._thread = Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with suppress(OSError):  # as a terminal ends whose processes have ended
            while block := os.read(self._reading, 1 << 16):
                self._written.append(block)

    @property
    def so_far(self) -> bytes:
        """The bytes written so far."""
        return b"".join(self._written).replace(b"\r\n", b"\n")

    def type(self, text: bytes) -> None:
        """Write what somebody types."""
        os.write(self._reading, text)

    def text(self) -> bytes:
        """Close it, and return all that was written."""
        os.close(self.fd)
        self._thread.join(TIMEOUT)
        os.close(self._reading)
        return self.so_far


def wait_for(text: bytes, terminal: Terminal) -> None:
    """Wait until a text is on the terminal."""
    end = time.monotonic() + TIMEOUT
    while text not in terminal.so_far:
        assert time.monotonic() < end, terminal.so_far
        time.sleep(0.01)
