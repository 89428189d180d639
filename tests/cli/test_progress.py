from __future__ import annotations

import io
import os
import time

import pytest

from compat_bpe.cli.progress.bars import FileProgress


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
