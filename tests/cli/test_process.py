"""What shows only in a process of its own: pipes, signals, exit statuses and imports."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import compat_bpe
from compat_bpe import get_encoding
from tests.cli.running import COMMAND, ROOT, TIMEOUT, environment, posix, run_process, started


def test_version() -> None:
    done = run_process("--version")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().split() == ["compat-bpe", compat_bpe.__version__]


def test_file_and_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"hello world")
    done = run_process("count", "-e", "gpt2", "-", path, input=b"hello")
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
    done = run_process("count", path)
    # A line end before a letter ends a chunk, so the lines are independent of each other.
    expected = repeats * get_encoding("o200k_base").count(line)
    assert done.stdout.split()[0] == str(expected).encode()


@posix
def test_a_pipe_as_a_file_is_read_once() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"hello world")
    os.close(writing)
    done = run_process("count", "-e", "gpt2", f"/dev/fd/{reading}", pass_fds=[reading])
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
    done = run_process("count", "-e", "gpt2", name, b"missing" + name, cwd=tmp_path, env=env)
    assert done.returncode == 2
    assert done.stdout.splitlines()[0].split() == [b"2", name]
    assert done.stderr == b"compat-bpe: missing" + name + b": No such file or directory\n"


@posix
@pytest.mark.parametrize("args", [[], ["--tree"]])
def test_names_in_a_directory_that_are_no_text(tmp_path: Path, args: list[str]) -> None:
    name = b"caf\xe9\xff"
    folder = os.path.join(os.fsencode(tmp_path), name)
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    for file, data in ((name, b"hello world"), (b"binary" + name, b"\0")):
        with open(os.path.join(folder, file), "wb") as target:
            target.write(data)
    env = environment(PYTHONIOENCODING="ascii")
    done = run_process("count", "-v", "-e", "gpt2", *args, ".", cwd=tmp_path, env=env)
    assert done.returncode == 0
    lines = [line.split(None, 1)[1] for line in done.stdout.splitlines()]
    if args:
        assert lines == [b"./", b"`-- " + name + b"/", b"`-- " + name]
    else:
        assert lines == [b"./" + name + b"/" + name, b"total"]
    assert done.stderr.startswith(b"compat-bpe: ./" + name + b"/binary" + name + b": skipped: ")


def test_file_name_that_the_terminal_cannot_show(tmp_path: Path) -> None:
    (tmp_path / "né").write_bytes(b"hello world")
    env = environment(PYTHONIOENCODING="ascii", PYTHONUTF8="1")
    done = run_process("count", "-e", "gpt2", "né", cwd=tmp_path, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"2 n\\xe9" + b"\n", b"")


def children(process: subprocess.Popen[bytes]) -> Iterator[int]:
    """The processes that a process has started."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # pid (name) state parent; in the name there may be anything.
            state, parent = stat.read_bytes().rpartition(b")")[2].split()[:2]
        except OSError:
            continue  # it has ended
        if int(parent) == process.pid and state != b"Z":
            yield int(stat.parent.name)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def wait_until(what: Any) -> None:
    end = time.monotonic() + TIMEOUT
    while not what():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.01)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="there is no /proc")
@pytest.mark.parametrize("end", ["interrupt", "closed pipe", "kill"])
def test_no_worker_is_left(tmp_path: Path, end: str) -> None:
    for name in "abcd":
        (tmp_path / name).write_bytes(b"hello world\n" * 100_000)
    # While it waits for standard input, the workers count.
    with started("count", "-j", "2", "-e", "gpt2", "-", tmp_path) as process:
        wait_until(lambda: len(list(children(process))) == 2)
        workers = list(children(process))
        if end == "interrupt":
            process.send_signal(signal.SIGINT)
            expected = 130
        elif end == "kill":
            process.kill()
            expected = -signal.SIGKILL
        else:
            assert process.stdout is not None
            process.stdout.close()
            process.stdout = None
            expected = 1
        out, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, out or b"", err) == (expected, b"", b"")
    wait_until(lambda: not any(map(runs, workers)))


def test_large_files_in_several_processes(tmp_path: Path) -> None:
    line = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.\n"
    for name in "abc":
        (tmp_path / name).write_text(line * 15_000, "utf-8")
    alone = run_process("count", "-j", "1", "-e", "gpt2", tmp_path)
    assert alone.stdout.split()[-2:] == [
        b"%d" % (45_000 * get_encoding("gpt2").count(line)),
        b"total",
    ]
    together = run_process("count", "-j", "2", "-e", "gpt2", tmp_path)
    assert (together.returncode, together.stderr) == (0, b"")
    assert together.stdout == alone.stdout


@posix
def test_progress_on_a_terminal(tmp_path: Path) -> None:
    import fcntl
    import pty
    import struct
    import termios

    path = tmp_path / "a"
    path.write_bytes(b"hello world")
    shown = b""

    def look() -> None:
        nonlocal shown
        # As a terminal ends whose processes have ended.
        with suppress(OSError):
            while block := os.read(reading, 1 << 16):
                shown += block

    reading, writing = pty.openpty()
    terminal = Thread(target=look)
    fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 30, 0, 0))
    with subprocess.Popen(
        [*COMMAND, "count", "-e", "gpt2", path, "-"],
        env=environment(TERM="xterm"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=writing,
    ) as process:
        os.close(writing)
        terminal.start()
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline().split()[:1] == [b"2"]  # now it waits for standard input
        time.sleep(1.1)
        process.stdin.write(b"hello world\n" * 300_000)
        process.stdin.close()
        assert process.stdout.read().splitlines()[-1].split() == [b"900002", b"total"]
        terminal.join(TIMEOUT)
    os.close(reading)
    assert process.returncode == 0
    states = [state.rstrip() for state in shown.decode().split("\r") if state.strip()]
    assert states
    for state in states:
        assert re.fullmatch(r"\d\.\d MB, \d of 2 files", state)
        assert len(state) < 30
    assert shown.endswith(b"\r")
    assert b"\n" not in shown


def test_without_click_one_line_says_how_to_get_it(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise ModuleNotFoundError('no click', name='click')\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = run_process("count", cwd=tmp_path, env=environment(PYTHONPATH=path))
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"pip install click" in done.stderr
    assert done.stderr.count(b"\n") == 1


def test_importing_the_command_reads_no_vocabulary() -> None:
    script = (
        "import sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])))\n"
        "import compat_bpe.cli.commands.count\n"
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


def test_a_small_file_needs_few_modules(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"hello world")
    script = (
        "import sys\n"
        "from compat_bpe.cli import cli\n"
        "try:\n"
        "    cli(['count', '-e', 'gpt2', 'a'])\n"
        "except SystemExit as end:\n"
        "    assert end.code == 0\n"
        "parts = ['compat_bpe.files.git', 'multiprocessing', 'compat_bpe.fit']\n"
        "parts += ['compat_bpe.parallel.pool', 'compat_bpe.parallel.processes']\n"
        "names = ['tokens', 'token_view', 'count_request']\n"
        "parts += ['compat_bpe.cli.' + name for name in names]\n"
        "print([part for part in parts if part in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.stdout, done.stderr.strip()) == (b"2 a\n", b"[]")
