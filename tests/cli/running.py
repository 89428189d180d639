"""``compat-bpe`` run within this process, or as a process of its own, also on a terminal."""

from __future__ import annotations

import io
import json
import os
import shlex
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, NamedTuple
from unittest import mock

import pytest

import compat_bpe
from compat_bpe import Encoding
from compat_bpe.cli import cli
from tests.examples import cases as cases
from tests.examples import unescaped


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
    streams[0].detach()  # whose it is closes it
    for written in streams[1:]:
        written.flush()
    assert isinstance(status, int)
    return Result(status, out.getvalue(), err.getvalue().decode(charset, "surrogateescape"))


class TextResult(NamedTuple):
    status: int
    out: str
    err: str


def words(line: str) -> list[str]:
    """Split a line as a shell does, but for backslashes, which stay."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.escape, lexer.commenters = True, "", ""
    return list(lexer)


def command(line: str, *more: str, stdin: str | bytes = b"", **options: Any) -> TextResult:
    """Run a line, whose words are split as a shell does, and more arguments; output is text."""
    data = stdin.encode("utf-8", "surrogateescape") if isinstance(stdin, str) else stdin
    done = run(*words(line), *more, stdin=data, **options)
    charset = options.get("charset", "utf-8")
    return TextResult(done.status, done.out.decode(charset, "surrogateescape"), done.err)


def printed(line: str, *more: str, **options: Any) -> str:
    """Return the output of a command that ends well and says nothing else."""
    status, out, err = command(line, *more, **options)
    assert (status, err) == (0, ""), err
    return out


def objects(line: str, *more: str, **options: Any) -> list[Any]:
    """Return what such a command prints as JSON, a line each."""
    out = printed(line, *more, **options)
    assert out.isascii()
    return list(map(json.loads, out.splitlines()))


def refused(line: str, *more: str, **options: Any) -> str:
    """Return what a command says that ends with status 2 and prints nothing."""
    status, out, err = command(line, *more, **options)
    assert (status, out) == (2, ""), out + err
    return err


def ids_of(encoding: Encoding, text: str, special: bool) -> list[int]:
    """Return the ids of a text, in which special tokens are these or text."""
    allowed: Any = "all" if special else set()
    return encoding.encode(text, allowed_special=allowed, disallowed_special=())


def read_json(path: str | Path) -> Any:
    return json.loads(Path(path).read_bytes())


def write(files: Mapping[str, str | bytes]) -> None:
    """Write files, with the folders that they are in; text is in UTF-8."""
    for name, content in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def git(*arguments: str) -> str:
    """Run git in the current directory, as somebody who may commit."""
    settings = ("user.name=A", "user.email=a@example.org", "commit.gpgsign=false")
    options = [word for setting in settings for word in ("-c", setting)]
    done = subprocess.run(["git", *options, *arguments], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(*before: str) -> None:
    """Run some commands of git, and commit everything."""
    for line in (*before, "add -A", "commit -q -m x"):
        git(*line.split())


def write_sizes(files: Mapping[str, int]) -> None:
    """Write files that have so many tokens of gpt2."""
    write({name: " ".join("a" * tokens) for name, tokens in files.items()})


def check_refused(line: str, said: str) -> None:
    """Check that a command says what is wrong, in one line after its name, and writes nothing.

    The arguments may end with ``<<<`` and standard input, whose bytes that are not UTF-8 are lone
    surrogates.
    """
    args = list(map(unescaped, words(line)))
    stdin = ""
    if "<<<" in args[-2:]:
        *args, _, stdin = args
    files = sorted(Path().rglob("*"))
    done = run(*args, stdin=stdin.encode("utf-8", "surrogateescape"))
    assert (done.status, done.out) == (2, b""), done.err
    assert said.strip() in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert "\x1b" not in done.err
    assert not said.startswith("compat-bpe: ") or done.err.count("\n") == 1
    assert sorted(Path().rglob("*")) == files


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
FIXTURES = Path(__file__).parents[2] / "fixtures"
COMMAND = [sys.executable, "-m", "compat_bpe"]
TIMEOUT = 120  # seconds; only a command that hangs takes so long


def sweep(*values: Any) -> Any:
    """A case that only sweeps try."""
    return pytest.param(*values, marks=pytest.mark.sweep)


posix = pytest.mark.skipif(os.name != "posix", reason="POSIX pipes, signals and file names")


def environment(**extra: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **extra}


def _program(code: str | None, program: Sequence[str] = COMMAND) -> Sequence[str]:
    return program if code is None else [sys.executable, "-c", code]


def run_process(
    *args: Any, code: str | None = None, program: Sequence[str] = COMMAND, **options: Any
) -> subprocess.CompletedProcess[bytes]:
    """Run the command, a script or another program with its arguments as a process of its own."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if "input" not in options:
        streams["stdin"] = subprocess.DEVNULL
    options = {"env": environment(), **streams, **options}
    line = [*_program(code, program), *args]
    return subprocess.run(line, timeout=TIMEOUT, check=False, **options)


def on_terminal(*args: Any, columns: int | None = None, **options: Any) -> str:
    """What a terminal shows of a process that writes everything to it."""
    terminal = Terminal(columns)
    run_process(*args, stdout=terminal.fd, stderr=terminal.fd, **options)
    return terminal.text().decode()


@contextmanager
def started(
    *args: Any, code: str | None = None, **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """Start the command, or a script with its arguments, and kill it in the end.

    Its streams are pipes where the options do not say otherwise.
    """
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    options = {"env": environment(), **pipes, **options}
    with subprocess.Popen([*_program(code), *args], **options) as process:
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
