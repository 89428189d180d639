"""What shows only in a process of its own: pipes, signals, exit statuses and imports."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import compat_bpe
from compat_bpe import get_encoding

ROOT = Path(compat_bpe.__file__).parent.parent
COMMAND = [sys.executable, "-m", "compat_bpe"]
TIMEOUT = 120  # seconds; only a command that hangs takes so long

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX pipes, signals and file names")


def environment(**extra: str) -> dict[str, str]:
    # Unbuffered streams, which some containers ask for, would hide errors of buffered ones.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return {**kept, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error", **extra}


def run(*args: Any, **options: Any) -> subprocess.CompletedProcess[bytes]:
    options.setdefault("env", environment())
    options.setdefault("stdin", None if "input" in options else subprocess.DEVNULL)
    options.setdefault("stdout", subprocess.PIPE)
    if options["stdin"] is None:
        del options["stdin"]
    return subprocess.run(
        [*COMMAND, *args], stderr=subprocess.PIPE, timeout=TIMEOUT, check=False, **options
    )


def test_version() -> None:
    done = run("--version")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().split() == ["compat-bpe", compat_bpe.__version__]


def test_help_has_an_example() -> None:
    done = run("count", "--help")
    assert done.returncode == 0
    assert b"$ compat-bpe count" in done.stdout


def test_file_and_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"hello world")
    done = run("count", "-e", "gpt2", "-", path, input=b"hello")
    assert (done.returncode, done.stderr) == (0, b"")
    assert [line.split(None, 1) for line in done.stdout.splitlines()] == [
        [b"1", b"-"],
        [b"2", os.fsencode(path)],
        [b"3", b"total"],
    ]


def test_five_megabytes(tmp_path: Path) -> None:
    line = "The quick brown fox, 42 of them, jumps over the lazy dog's naïve “friend”.\n"
    path = tmp_path / "large"
    repeats = 5_000_000 // len(line.encode()) + 1
    path.write_bytes(line.encode() * repeats)
    done = run("count", path)
    # A line end before a letter ends a chunk, so the lines are independent of each other.
    expected = repeats * get_encoding("o200k_base").count(line)
    assert done.stdout.split()[0] == str(expected).encode()


@posix
def test_a_pipe_as_a_file_is_read_once() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"hello world")
    os.close(writing)
    done = run("count", "-e", "gpt2", f"/dev/fd/{reading}", pass_fds=[reading])
    os.close(reading)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"2 /dev/fd/%d\n" % reading


@posix
@pytest.mark.parametrize("stdio", ["utf-8", "ascii", "latin-1"])
def test_file_name_that_is_no_text(tmp_path: Path, stdio: str) -> None:
    name = b"caf\xe9\xff"
    try:
        (tmp_path / os.fsdecode(name)).write_bytes(b"hello world")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    env = environment(PYTHONIOENCODING=stdio)
    done = run("count", "-e", "gpt2", name, b"missing" + name, cwd=tmp_path, env=env)
    assert done.returncode == 2
    assert done.stdout.splitlines()[0].split() == [b"2", name]
    assert done.stderr == b"compat-bpe: missing" + name + b": No such file or directory\n"


def test_file_name_that_the_terminal_cannot_show(tmp_path: Path) -> None:
    (tmp_path / "né").write_bytes(b"hello world")
    env = environment(PYTHONIOENCODING="ascii", PYTHONUTF8="1")
    done = run("count", "-e", "gpt2", "né", cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"2 n\\xe9" + b"\n", b"")


@posix
def test_interrupt_is_quiet(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"hello world")
    with subprocess.Popen(
        [*COMMAND, "count", "-e", "gpt2", path, "-"],
        env=environment(),
        # What is started in the background, as these tests may be, ignores it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().split()[:1] == [b"2"]  # now it waits for standard input
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, err) == (130, b"")


@posix
@pytest.mark.parametrize("args", [["count"], ["count", "--json"], ["--help"]])
def test_closed_pipe_is_quiet(args: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(*args, stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("args", [["count"], ["--version"]])
def test_full_disk_is_one_line(args: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = run(*args, stdout=full)
    assert done.returncode == 2
    assert done.stderr == b"compat-bpe: standard output: No space left on device\n"


@posix
@pytest.mark.parametrize(
    ("closed", "message"),
    [
        ("<&-", b"compat-bpe: -: standard input is closed\n"),
        (">&-", b"compat-bpe: standard output: closed\n"),
    ],
)
def test_closed_stream_is_one_line(closed: str, message: bytes) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" -m compat_bpe count {closed}', sys.executable],
        env=environment(),
        input=b"",
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", message)


def test_without_click_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise ModuleNotFoundError('no click', name='click')\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = run("count", cwd=tmp_path, env=environment(PYTHONPATH=path))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"pip install click" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_importing_the_command_reads_no_vocabulary() -> None:
    script = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])))\n"
        "import compat_bpe.cli\n"
        "assert any('count' in name for name in opened), 'the hook sees nothing'\n"
        "print([name for name in opened if name.endswith('.pack')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment(),
        stdout=subprocess.PIPE,
        timeout=TIMEOUT,
        check=True,
    )
    assert done.stdout.strip() == b"[]"
