"""What the command writes: messages, warnings and closed streams, and files that may be written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from compat_bpe.cli.output import CommandError, check_new_file, check_outputs
from tests.cli.running import COMMAND, TIMEOUT, Terminal, environment, posix, run_process, started


def _is_ours(beginning: bytes) -> bool:
    return beginning.startswith(b"ours")


def test_a_new_file(tmp_path: Path) -> None:
    check_new_file(str(tmp_path / "new"))


def test_a_file_that_exists(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"precious")
    with pytest.raises(CommandError, match=r"a\.md: it exists; --force overwrites it"):
        check_new_file(str(path), is_own=_is_ours)
    check_new_file(str(path), force=True)
    assert path.read_bytes() == b"precious"


def test_own_earlier_output(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"ours, from yesterday")
    check_new_file(str(path), is_own=_is_ours)
    with pytest.raises(CommandError, match="it exists"):
        check_new_file(str(path))


def test_a_broken_link_is_something(tmp_path: Path) -> None:
    path = tmp_path / "link"
    path.symlink_to(tmp_path / "nowhere")
    with pytest.raises(CommandError, match="it exists"):
        check_new_file(str(path), is_own=_is_ours)


def test_a_directory_or_none(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="it is a directory"):
        check_new_file(str(tmp_path), force=True)
    with pytest.raises(CommandError, match="there is no directory"):
        check_new_file(str(tmp_path / "no" / "page.html"), force=True)


def test_what_is_not_overwritten_by_writing() -> None:
    check_new_file(os.devnull)


def test_an_input_is_refused_by_whatever_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("folder/a").write_bytes(b"a")
    Path("b").write_bytes(b"b")
    os.symlink("folder/a", "link")
    for inputs in (["b", "folder/a"], ["folder"], ["link"], ["../" + tmp_path.name + "/folder/a"]):
        with pytest.raises(CommandError, match=r"folder/a: it is one of the inputs[,;]"):
            check_outputs(["new", "folder/a"], inputs)
    check_outputs(["new", "folder/a"], ["b", "missing", "-"])
    check_outputs(["missing"], ["folder", "missing"])
    with pytest.raises(CommandError, match="folder: it is a directory"):
        check_outputs(["folder"], [])
    with open("b") as file:
        monkeypatch.setattr("sys.stdin", file)
        with pytest.raises(CommandError, match=r"^b: it is one of the inputs, as standard input;"):
            check_outputs(["b"], ["-"])
    monkeypatch.setattr("sys.stdin", None)
    check_outputs(["b"], ["-"])


#: The command, which gets a signal when its files are on the disk, but not in place.
_SIGNALLED = """
import os, signal, sys
from compat_bpe.cli import main

def replace(*paths):
    os.kill(os.getpid(), getattr(signal, os.environ["SIGNAL"]))
    real(*paths)

real, os.replace = os.replace, replace
main()
"""


@posix
@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_leaves_no_parts_of_files(name: str, status: int, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SIGNALLED, *("split", "-e", "gpt2", "-n", "1", "-o", "p-")],
        input=b"one two three",
        cwd=tmp_path,
        env=environment(SIGNAL=name),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", b"")
    assert list(tmp_path.iterdir()) == []


@posix
def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    ignore = "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    script = ignore + _SIGNALLED
    done = subprocess.run(
        [sys.executable, "-c", script, *("split", "-e", "gpt2", "-n", "9", "-o", "p-")],
        input=b"one two three",
        cwd=tmp_path,
        env=environment(SIGNAL="SIGHUP"),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"p-0001.txt\n")


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
    done = run_process(*args, cwd=tmp_path)
    assert done.stdout.endswith(b"\n") == (text.endswith(b"\n") or "show" in args)
    assert done.stderr.startswith(b"compat-bpe: a.txt: ")


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
        done = run_process(*args, input=b"31373 " * 2000, stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "args", [["decode", *GPT2], ["show", *GPT2], ["count"], ["--version"]], ids=" ".join
)
def test_full_disk_is_one_line(args: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = run_process(*args, input=b"1", stdout=full)
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
