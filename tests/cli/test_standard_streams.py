"""Standard streams that are closed or full, and interrupts: a line at most says so."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import TIMEOUT, environment, posix, run, started

GPT2 = ["-e", "gpt2"]
#: What reads standard input and writes to standard output.
FILTERS = [
    ["truncate", "-n", "5", *GPT2],
    ["split", "-n", "5", "--separator", "-", *GPT2],
    ["show", *GPT2],
    ["encode", *GPT2],
    ["decode", *GPT2],
]


@posix
@pytest.mark.parametrize(
    "args",
    [
        *(FILTERS[0], FILTERS[3], ["count"], ["--help"]),
        *(
            pytest.param(args, marks=pytest.mark.sweep)
            for args in (*FILTERS[1:3], FILTERS[4], ["models"], ["count", "--json"])
        ),
    ],
    ids=" ".join,
)
def test_closed_pipe_is_quiet(args: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(*args, input=b"31373 " * 2000, stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "args", [["decode", *GPT2], ["show", *GPT2], ["count"], ["--version"]], ids=" ".join
)
def test_full_disk_is_one_line(args: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = run(*args, input=b"1", stdout=full)
    assert done.returncode == 2
    assert done.stderr == b"compat-bpe: standard output: No space left on device\n"


@posix
@pytest.mark.parametrize(
    ("command", "closed", "message"),
    [
        ("encode -e gpt2", "<&-", b"compat-bpe: standard input: closed\n"),
        ("encode -e gpt2", ">&-", b"compat-bpe: standard output: closed\n"),
        ("count", "<&-", b"compat-bpe: standard input is closed\n"),
        ("count", ">&-", b"compat-bpe: standard output: closed\n"),
    ],
)
def test_closed_stream_is_one_line(command: str, closed: str, message: bytes) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -m compat_bpe {command} {closed}', sys.executable],
        env=environment(),
        input=b"a",
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", message)


@posix
def test_interrupt_of_a_filter_is_quiet() -> None:
    with started("decode", *GPT2) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"31373 995\n")
        process.stdin.flush()
        assert process.stdout.read(11) == b"hello world"  # now it waits for more
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, err) == (130, b"")


@posix
def test_interrupt_of_count_is_quiet(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"hello world")
    with started("count", *GPT2, path, "-") as process:
        assert process.stdout is not None
        assert process.stdout.readline().split()[:1] == [b"2"]  # now it waits for standard input
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, err) == (130, b"")
