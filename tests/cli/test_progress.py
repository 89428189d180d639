"""The bars of long commands: on a terminal, within a second, whatever the command does."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

import compat_bpe.cli.progress
from compat_bpe.cli.output import Screen
from compat_bpe.cli.progress import FileProgress, Progress, Work
from tests.cli.process import Terminal as RealTerminal
from tests.cli.process import environment, posix, started, wait_for


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """What it showed, one state after the other."""
        return [state.rstrip() for state in self.getvalue().split("\r")[1:]]


class Clock:
    now = 0.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    monkeypatch.setenv("TERM", "xterm")
    return clock


@pytest.fixture(autouse=True)
def _columns(monkeypatch: pytest.MonkeyPatch) -> None:
    size = os.terminal_size((50, 24))
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: size)
    monkeypatch.setattr(Terminal, "fileno", lambda self: 2)


def test_nothing_in_the_first_second_then_not_too_often(clock: Clock) -> None:
    terminal = Terminal()
    progress = FileProgress(4, 4_000_000, terminal)
    progress.advance(1_000_000)
    progress.file_done()
    assert terminal.lines() == []
    for clock.now in (1.0, 1.05, 1.11):
        progress.advance(500_000)
    assert terminal.lines() == [
        "[######............]  37% of 4.0 MB, 1 of 4 files",
        "[###########.......]  62% of 4.0 MB, 1 of 4 files",
    ]
    assert all(len(line) == 49 for line in terminal.lines())


def test_it_is_cleared_and_comes_again(clock: Clock) -> None:
    terminal = Terminal()
    progress = FileProgress(1, None, terminal)
    progress.clear()
    assert terminal.getvalue() == ""
    clock.now = 2.0
    progress.advance(2_500_000)
    progress.clear()
    progress.clear()
    clock.now = 3.0
    progress.file_done()
    line = "2.5 MB, 0 of 1 file"
    blank = " " * len(line)
    assert terminal.getvalue() == f"\r{line}\r{blank}\r\r2.5 MB, 1 of 1 file"


@pytest.mark.parametrize("size", [None, 0, 1, 10])
@pytest.mark.parametrize("columns", [0, 1, 20, 47, 48, 300])
def test_any_width_and_any_size(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, size: int | None, columns: int
) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((columns, 24)))
    terminal = Terminal()
    progress = FileProgress(3, size, terminal)
    clock.now = 5.0
    progress.advance(7)  # more than there is: the file grew
    (line,) = terminal.lines()
    assert len(line) < (columns or 80)
    assert "-" not in line


@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_nothing_where_there_is_no_terminal(clock: Clock, stream: io.StringIO | None) -> None:
    progress = FileProgress(1, 1, stream)
    clock.now = 5.0
    progress.advance(1)
    progress.clear()
    assert stream is None or stream.getvalue() == ""


def test_nothing_if_it_is_to_be_quiet(clock: Clock) -> None:
    terminal = Terminal()
    progress = FileProgress(1, 1, terminal, is_quiet=True)
    clock.now = 5.0
    progress.advance(1)
    assert terminal.getvalue() == ""


def test_all_is_done_only_in_the_end(clock: Clock) -> None:
    terminal = Terminal()
    progress = FileProgress(1, 1_000_000, terminal)
    clock.now = 5.0
    progress.advance(999_999)
    clock.now = 6.0
    progress.advance(1)
    assert [line.split("]")[1].split()[0] for line in terminal.lines()] == ["99%", "100%"]


def test_nothing_on_a_terminal_that_cannot_go_back(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    terminal = Terminal()
    progress = FileProgress(1, 1, terminal)
    clock.now = 5.0
    progress.advance(1)
    assert terminal.getvalue() == ""


def test_a_terminal_that_has_gone_is_no_error(clock: Clock) -> None:
    terminal = Terminal()
    progress = FileProgress(1, 1, terminal)
    terminal.close()
    clock.now = 5.0
    progress.advance(1)
    progress.clear()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no such timer")
def test_a_bar_is_drawn_even_if_nothing_advances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compat_bpe.cli.progress, "_DELAY", 0.05)
    monkeypatch.setattr(compat_bpe.cli.progress, "_INTERVAL", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with Progress(8, "rounds", terminal) as outer:
        outer.advance(2)
        end = time.monotonic() + 60
        while "25% of 8 rounds" not in terminal.getvalue():
            assert time.monotonic() < end
        with Progress(None, "lines", terminal) as inner:
            inner.advance(7)
            while "7 lines, 0 s" not in terminal.getvalue():
                assert time.monotonic() < end
        assert Screen.clear_bar == outer.clear
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    # What is after the last line is blank.
    assert terminal.lines()[-1] == ""


def test_a_bar_is_not_drawn_into_results_on_their_way_to_a_reader(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    terminal = Terminal()
    with Progress(None, "tokens", terminal, until_output=True) as progress:
        clock.now = 5.0
        with (tmp_path / "out").open("w") as file:
            monkeypatch.setattr("sys.stdout", file)
            monkeypatch.setattr(Screen, "has_output", True)
            progress.advance(1)
            assert terminal.lines() == ["1 tokens, 5 s"]
        monkeypatch.setattr("sys.stdout", Terminal())
        clock.now = 6.0
        progress.advance(1)
        monkeypatch.setattr(Screen, "has_output", False)
        monkeypatch.setattr(Screen, "is_at_line_start", False)
        progress.advance(1)
        assert terminal.lines() == ["1 tokens, 5 s"]
        monkeypatch.setattr(Screen, "is_at_line_start", True)
        progress.advance(1)
        assert terminal.lines()[1:] == ["4 tokens, 6 s"]
        monkeypatch.setattr(Screen, "is_typed", True)
        clock.now = 7.0
        progress.advance(1)
        assert len(terminal.lines()) == 2


def test_a_command_says_for_how_long_it_has_worked(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(Screen, "is_typed", True)
    with Work() as work:
        clock.now = 3.5
        work.advance(0)
        assert terminal.lines() == ["working, 3 s"]


LONG = {
    "count": ["-"],
    "count requests": ["--messages", "-"],
    "encode": [],
    "encode places": ["--offsets"],
    "decode": [],
    "show": [],
    "truncate": ["-n", "9"],
    "split": ["-n", "9", "--json"],
    "split files": ["-n", "9", "--json", "--files", "-"],
    "train": ["-n", "300", "-o", "out"],
    "train unigram": ["--model", "unigram", "-n", "30", "-o", "out"],
    "train sentencepiece-bpe": ["--model", "sentencepiece-bpe", "-n", "30", "-o", "out"],
    "extend": ["-e", "gpt2", "-n", "1", "-o", "out"],
    "corpus counts": ["counts"],
    "report": [],
}


@posix
@pytest.mark.parametrize("name", LONG)
def test_every_command_speaks_within_a_second(name: str, tmp_path: Path) -> None:
    """Each is given input that comes later than that."""
    terminal = RealTerminal()
    args = [name.split()[0], *LONG[name]]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": terminal.fd}
    with started(*args, cwd=tmp_path, env=environment(TERM="xterm"), **streams):
        has_bar = name not in ("count requests", "split files")
        wait_for(b"0 of 1 file" if has_bar else b"working, ", terminal)
    terminal.text()


@posix
def test_a_check_speaks_while_git_works(tmp_path: Path) -> None:
    (tmp_path / ".compat-bpe.toml").write_text('[check]\n[[check.rules]]\nfiles = ["*"]\nmax = 9\n')
    (tmp_path / "a.txt").write_text("a")
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text("#!/bin/sh\nsleep 60\n")
    git.chmod(0o755)
    terminal = RealTerminal()
    path = f"{git.parent}{os.pathsep}{os.environ['PATH']}"
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": terminal.fd}
    env = environment(TERM="xterm", PATH=path)
    with started("check", "--base", "HEAD", cwd=tmp_path, env=env, **streams):
        wait_for(b"working, ", terminal)


@posix
@pytest.mark.parametrize("args", [["count", "-q", "-"], ["lsp"], ["mcp"]])
def test_who_wants_quiet_and_servers_say_nothing(args: list[str], tmp_path: Path) -> None:
    terminal = RealTerminal()
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": terminal.fd}
    with started(*args, cwd=tmp_path, env=environment(TERM="xterm"), **streams) as process:
        time.sleep(2)
        process.communicate(b"", timeout=120)
    assert b" s" not in terminal.text()
