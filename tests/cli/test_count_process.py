"""``compat-bpe count`` with pipes, terminals and large files."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from compat_bpe import get_encoding
from compat_bpe.cli.counting import _PART, WORTH_WORKERS
from tests.cli.running import (
    COMMAND,
    TIMEOUT,
    Terminal,
    environment,
    posix,
    run_process,
    started,
    wait_for,
)


def counting(*args: Any, **options: Any) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """Start ``count`` as on a terminal; standard input is that of the tests, if none is given."""
    options.setdefault("stdin", None)
    return started("count", "-e", "gpt2", *args, env=environment(TERM="xterm"), **options)


@posix
@pytest.mark.parametrize("args", [["-"], ["--files-from", "-"]])
def test_waiting_for_a_person_is_said(args: list[str], tmp_path: Path) -> None:
    terminal = Terminal()
    with counting(*args, cwd=tmp_path, stdin=terminal.fd, stdout=-1, stderr=terminal.fd) as process:
        wait_for(b"compat-bpe: reading standard input; Ctrl-D on an empty line ends it\n", terminal)
        terminal.type(b"\x04")
        out, _ = process.communicate(timeout=TIMEOUT)
    terminal.text()
    assert process.returncode == 0
    assert out.split()[0] == b"0"


@posix
def test_waiting_is_not_said_to_who_wants_quiet() -> None:
    terminal = Terminal()
    with counting("-q", "-", stdin=terminal.fd, stdout=terminal.fd, stderr=terminal.fd) as process:
        terminal.type(b"hello\n\x04")
        process.wait(TIMEOUT)
    assert process.returncode == 0
    assert b"compat-bpe" not in terminal.text()


@posix
def test_a_named_pipe_is_read_as_a_stream(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a").write_text("hello")
    terminal = Terminal()
    with counting(
        "pipe", "a", cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=-1, stderr=terminal.fd
    ) as process:
        wait_for(b"compat-bpe: pipe: a named pipe; waiting for what is written to it\n", terminal)
        (tmp_path / "pipe").write_text("hello world")
        out, _ = process.communicate(timeout=TIMEOUT)
    terminal.text()
    assert process.returncode == 0
    assert [line.split() for line in out.splitlines()] == [
        [b"2", b"pipe"],
        [b"1", b"a"],
        [b"3", b"total"],
    ]


@posix
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("with_workers", [False, True])
def test_waiting_for_a_pipe_can_be_interrupted(
    tmp_path: Path, is_open: bool, with_workers: bool
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a").write_bytes(b"hello\n" * (WORTH_WORKERS if with_workers else 1))
    jobs = ["-j", "2"] if with_workers else []
    with counting(*jobs, "a", "pipe", cwd=tmp_path, stdout=-1, stderr=-1) as process:
        assert process.stdout is not None
        assert process.stdout.readline().endswith(b"a\n")
        if is_open:
            writing = os.open(tmp_path / "pipe", os.O_WRONLY)
            os.write(writing, b"hello ")
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT)
        if is_open:
            os.close(writing)
    assert (process.returncode, out, err) == (130, b"", b"")


@posix
def test_devices_and_open_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("hello world")
    done = run_process("count", "-e", "gpt2", "/dev/null", "/dev/stdin", input=b"hello")
    assert (done.returncode, done.stderr) == (0, b"")
    assert [line.split() for line in done.stdout.splitlines()] == [
        [b"0", b"/dev/null"],
        [b"1", b"/dev/stdin"],
        [b"1", b"total"],
    ]
    script = f"{' '.join(COMMAND)} count -e gpt2 -j 2 <(printf 'hello world') <(printf hello)"
    done = subprocess.run(
        ["bash", "-c", script], env=environment(), capture_output=True, timeout=TIMEOUT, check=True
    )
    assert [line.split()[0] for line in done.stdout.splitlines()] == [b"2", b"1", b"3"]
    assert done.stderr == b""


@posix
@pytest.mark.parametrize("name", ["/dev/zero", "/dev/urandom"])
def test_a_device_that_never_ends_is_no_text(name: str) -> None:
    done = run_process("count", name)
    assert done.returncode == 2
    assert done.stderr.startswith(f"compat-bpe: {name}: ".encode())


@posix
def test_separators_on_a_terminal_alone(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("hello " * 1999 + "hello")
    (tmp_path / "b").write_text("hello")
    expected = {
        ("a", "b"): " 2,000 a\n     1 b\n 2,001 total\n",
        ("a",): "2,000 a\n",
        ("--tree", "a", "b"): ("2,000 ██████████ a\n    1 ▏          b\n2,001 ██████████ total\n"),
        ("--total-only", "a", "b"): "2001\n",
    }
    for args, lines in expected.items():
        terminal = Terminal()
        with counting(*args, cwd=tmp_path, stdout=terminal.fd, stderr=subprocess.PIPE) as process:
            process.wait(TIMEOUT)
        assert terminal.text().decode() == lines
        piped = run_process("count", "-e", "gpt2", *args, cwd=tmp_path).stdout
        assert b"," not in piped
        assert re.findall(rb"\d+", piped) == re.findall(rb"\d+", lines.replace(",", "").encode())


def test_one_large_file_in_several_processes(tmp_path: Path) -> None:
    line = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. 你好\r\n"
    repeats = WORTH_WORKERS // len(line.encode()) + 1
    assert repeats * len(line.encode()) > 2 * _PART
    (tmp_path / "a").write_bytes((line * repeats).encode())
    done = run_process("count", "-j", "2", "-e", "gpt2", "a", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"%d a\n" % (repeats * get_encoding("gpt2").count(line))
    # A mistake is at the same place for all.
    with open(tmp_path / "a", "ab") as file:
        size = file.tell()
        file.write(b"\xff")
    alone, together = (
        run_process("count", "-j", jobs, "-e", "gpt2", "a", cwd=tmp_path) for jobs in ("1", "2")
    )
    assert (alone.returncode, alone.stderr) == (together.returncode, together.stderr)
    assert b"byte 0xff at offset %d;" % size in together.stderr


def hook_entry() -> list[str]:
    """Return the arguments that pre-commit runs the hook with, without the files."""
    text = (Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text("utf-8")
    (entry,) = re.findall(r"^  entry: compat-bpe (count .*)$", text, re.MULTILINE)
    return str(entry).split()


@pytest.mark.parametrize(("limit", "status"), [("7", 0), ("6", 1)])
def test_hook_of_pre_commit(tmp_path: Path, limit: str, status: int) -> None:
    (tmp_path / "a.txt").write_bytes(b"hello world")
    (tmp_path / "b.txt").write_bytes(b"<|endoftext|>")
    done = run_process(*hook_entry(), "--max", limit, "-e", "gpt2", "a.txt", "b.txt", cwd=tmp_path)
    message = b"compat-bpe: b.txt: 7 tokens, over the limit of 6\n"
    assert (done.returncode, done.stderr) == (status, message if status else b"")


def test_hook_without_a_limit_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"hello world")
    done = run_process(*hook_entry(), "a.txt", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--per-file needs --max" in done.stderr
