"""No file that exists is overwritten unasked, and none is left behind by a signal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from compat_bpe.cli.output import CommandError, check_new_file, check_outputs
from tests.cli.process import TIMEOUT, environment, posix


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
