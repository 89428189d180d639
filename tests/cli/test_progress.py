"""The progress of long commands: bars on a terminal within a second, and lines of JSON."""

from __future__ import annotations

import io
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import compat_bpe.cli.progress
from compat_bpe.cli import progress
from compat_bpe.cli.commands import train as forecast
from compat_bpe.cli.options.corpus import Corpus
from compat_bpe.cli.output import Screen
from compat_bpe.cli.progress import FileProgress, Progress, Work
from compat_bpe.corpus.prepare import CorpusCounts
from compat_bpe.train import SentencePieceSettings, TrainingSettings, UnigramSettings
from compat_bpe.train import estimate as estimate_module
from compat_bpe.train.estimate import Estimate, Sample, estimate
from compat_bpe.train.kinds import KINDS
from tests.cli.running import (
    FIXTURES,
    cases,
    command,
    environment,
    posix,
    run,
    started,
    sweep,
    wait_for,
    write,
)
from tests.cli.running import Terminal as RealTerminal


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
    # The last column stays free, so one column has none.
    assert len(terminal.lines()) == (columns != 1)
    for line in terminal.lines():
        assert len(line) < (columns or 80)
        assert "-" not in line


def test_nothing_where_it_is_not_wanted(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, gone = Terminal(), Terminal()
    gone.close()
    # A terminal that has gone is no error.
    bars = [FileProgress(1, 1, stream) for stream in (io.StringIO(), None, gone)]
    bars.append(FileProgress(1, 1, terminal, is_quiet=True))
    monkeypatch.setenv("TERM", "dumb")  # one that cannot go back
    bars.append(FileProgress(1, 1, terminal))
    clock.now = 5.0
    for bar in bars:
        bar.advance(1)
        bar.clear()
    assert terminal.getvalue() == ""


def test_all_is_done_only_in_the_end(clock: Clock) -> None:
    terminal = Terminal()
    progress = FileProgress(1, 1_000_000, terminal)
    clock.now = 5.0
    progress.advance(999_999)
    clock.now = 6.0
    progress.advance(1)
    assert [line.split("]")[1].split()[0] for line in terminal.lines()] == ["99%", "100%"]


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
            outer.advance(1)
            assert "37%" not in terminal.getvalue()
        assert Screen.clear_bar == outer.clear
        # One that is given up ends with what is around it.
        abandoned = Progress(None, "pieces", terminal)
        abandoned.__enter__()
        while "0 pieces" not in terminal.getvalue():
            assert time.monotonic() < end
    abandoned.__exit__()
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
    "count": "-",
    "count requests": "--messages -",
    "encode": "",
    "encode places": "--offsets",
    "decode": "",
    "show": "",
    "truncate": "-n 9",
    "split": "-n 9 --json",
    "split files": "-n 9 --json --files -",
    "train": "-n 300 -o out",
    "train unigram": "--model unigram -n 30 -o out",
    "train sentencepiece-bpe": "--model sentencepiece-bpe -n 30 -o out",
    "extend": "-e gpt2 -n 1 -o out",
    "corpus counts": "counts",
    "report": "",
}
#: Those that are tried each time; the others are a sweep.
FEW = ("count", "encode", "split files", "train unigram", "report")

#: Lets the command speak soon.
_SOON = "progress._DELAY = 0.05; main()"


def working(args: str, terminal: RealTerminal, code: str = _SOON, **variables: str) -> Any:
    """Start the command with input that comes later, its messages on a terminal."""
    code = f"from compat_bpe.cli import main, progress; {code}"
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": terminal.fd}
    env = environment(TERM="xterm", **variables)
    return started(*args.split(), code=code, env=env, **streams)


@posix
@pytest.mark.parametrize("name", [name if name in FEW else sweep(name) for name in LONG])
def test_every_command_speaks(name: str) -> None:
    terminal = RealTerminal()
    with working(f"{name.split()[0]} {LONG[name]}", terminal):
        has_bar = name not in ("count requests", "split files")
        wait_for(b"0 of 1 file" if has_bar else b"working, ", terminal)
    terminal.text()


@posix
def test_a_check_speaks_while_git_works(tmp_path: Path) -> None:
    write({".compat-bpe.toml": '[check]\n[[check.rules]]\nfiles = ["*"]\nmax = 9\n', "a": "a"})
    write({"bin/git": "#!/bin/sh\nsleep 60\n"})
    Path("bin/git").chmod(0o755)
    terminal = RealTerminal()
    path = f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}"
    with working("check --base HEAD", terminal, PATH=path):
        wait_for(b"working, ", terminal)
    terminal.text()


@posix
@pytest.mark.parametrize("servers", [["lsp"], sweep(["mcp"])])
def test_who_wants_quiet_and_servers_say_nothing(servers: list[str]) -> None:
    """Within more than the second after which others speak."""
    terminal = RealTerminal()
    with ExitStack() as stack:
        processes = [
            stack.enter_context(working(args, terminal, "main()"))
            for args in ("count -q -", *servers)
        ]
        time.sleep(1.5)
        for process in processes:
            process.communicate(b"", timeout=120)
    written = terminal.text()
    assert b"working" not in written
    assert b"of 1 file" not in written


TEXT = "".join(f"{number * number} numbers and words\n" for number in range(600))
TRAIN = "train -n 300 -o out --json-progress"


@pytest.fixture(autouse=True)
def _texts() -> None:
    write({"a.txt": TEXT, "b.txt": "ends"})


def lines_of(line: str, status: int = 0) -> tuple[list[dict[str, Any]], list[str]]:
    """The objects that a command prints on standard error, and the other lines."""
    done = command(line)
    assert done.status == status, done.err
    lines = done.err.splitlines()
    found = [json.loads(one) for one in lines if one.startswith("{")]
    seconds = [one.pop("seconds") for one in found]
    assert seconds == sorted(seconds)
    return found, [one for one in lines if not one.startswith("{")]


def test_a_run_that_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_JSON_INTERVAL", 0.0)
    found, others = lines_of(f"{TRAIN} a.txt b.txt")
    assert not others
    *lines, last = found
    assert {one["stage"] for one in lines} == {"read", "learn"}
    read = [one for one in lines if one["stage"] == "read"]
    size = len(TEXT) + 4
    assert {(one["total"], one["unit"], one["total_files"]) for one in read} == {(size, "bytes", 2)}
    assert (read[0]["done"], read[0]["files"]) == (0, 0)
    assert (read[-1]["done"], read[-1]["files"]) == (size, 2)
    learn = [one for one in lines if one["stage"] == "learn"]
    assert [one["done"] for one in learn] == [0, *range(1, 45), 44]
    assert (learn[0]["total"], learn[0]["unit"]) == (44, "merges")
    assert last == {"stage": "finished", "status": 0, "stopped": "size", "tokens": 300}


def test_lines_are_half_a_second_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks) / 10)
    found = [json.loads(line) for line in command(f"{TRAIN} a.txt").err.splitlines()]
    learn = [one["seconds"] for one in found if one["stage"] == "learn"]
    assert len(learn) > 4
    assert all(after - before >= 0.49 for before, after in zip(learn, learn[1:-1]))


@cases(
    """
-n 300 missing.txt → failed → missing.txt: No such file or directory
-n 1 a.txt → failed → a vocabulary of 1 is too small
--patience 1 a.txt → failed → --patience and --check-every need --validation.
-n 300 a.txt missing → finished → missing: No such file or directory
""",
    "args stage said",
)
def test_a_run_that_fails(args: str, stage: str, said: str) -> None:
    """Or that ends, and leaves a file out."""
    found, others = lines_of(f"train -o out --json-progress {args}", status=2)
    assert said in others[-1]
    assert (found[-1]["stage"], found[-1]["status"]) == (stage, 2)
    assert stage == "finished" or said in found[-1]["error"]


def test_a_signal_that_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for error, status, said in (
        # As ``main`` ends the command where it is told to: with a status, not with an error.
        (SystemExit(128 + signal.SIGTERM), 143, "ended by signal 15"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ):
        monkeypatch.setattr(Progress, "_refresh", mock.Mock(side_effect=error))
        found, _ = lines_of(f"{TRAIN} a.txt", status)
        assert found[-1] == {"stage": "failed", "status": status, "error": said}


def test_other_commands() -> None:
    extend = f"extend -e {FIXTURES / 'gpt2_small'} -n 2 -o out"
    for args in ("report -e gpt2", extend, "corpus counts -o out.tsv"):
        found, others = lines_of(f"{args} --json-progress a.txt")
        assert not [line for line in others if "chunks" not in line]
        assert [one["stage"] for one in (found[0], found[-1])] == ["read", "finished"]


def test_nothing_without_the_option_or_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    assert command("train -n 300 -o out a.txt").err == ""
    assert progress.current() is None
    monkeypatch.setattr(sys, "stderr", None)
    assert run(*TRAIN.split(), "--force", "a.txt").status == 0


class _Whole(Corpus):
    """A corpus of a size, of which so much has been read."""

    size = 50_000_000

    def __init__(self, done: int) -> None:
        self.done = done


@cache
def eight_megabytes() -> list[str]:
    return ["".join(f"word{number}{at} " for at in range(7000))[: 1 << 16] for number in range(128)]


def feed(settings: Any, done: int, monkeypatch: pytest.MonkeyPatch) -> list[Estimate]:
    """The estimates that are said while 8 MB of text are read, of which so much was on disk."""
    said: list[Estimate] = []
    monkeypatch.setattr(forecast, "_say", said.append)
    counts = CorpusCounts()
    one = forecast.Forecast(settings.kind.costs, _Whole(done), counts, 1)
    for text in eight_megabytes():
        counts.kept.bytes += len(text)
        one.see(text)
    counts.kept.bytes = 50_000_000
    one.all_read()
    return said


@pytest.fixture
def _known_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is as fast whenever it is asked."""
    monkeypatch.setattr(estimate_module, "_slowness", lambda _: 1.5)


@pytest.mark.usefixtures("_known_speed")
def test_estimates_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = feed(UnigramSettings(8000), 4_000_000, monkeypatch)
    assert len(plain) == 2
    assert 45e6 < plain[0].size < 55e6
    assert 0 < plain[0].seconds.least < plain[0].seconds.most
    assert 0 < plain[0].bytes.least < plain[0].bytes.most
    # Compressed to a quarter, it is four times as much text.
    packed = feed(UnigramSettings(8000), 1_000_000, monkeypatch)
    assert 3.9 < packed[0].size / plain[0].size < 4.1
    assert packed[0].seconds.least > 2 * plain[0].seconds.least
    # What is nearly read has none then.
    assert len(feed(UnigramSettings(8000), 49_000_000, monkeypatch)) == 1


@pytest.mark.usefixtures("_known_speed")
def test_each_kind_that_takes_long_has_an_estimate_and_more_text_takes_longer() -> None:
    sample = Sample(1.0)
    sample.see(TEXT * 5)
    kinds = ("wordpiece", "character-bpe", "word-level")
    for settings in (
        TrainingSettings(8000),
        SentencePieceSettings(8000, "bpe"),
        SentencePieceSettings(8000, "unigram"),
        *(KINDS[name].makes(8000) for name in kinds),
    ):
        one = estimate(settings.kind.costs, sample.texts, 50_000_000, 1)
        assert one is not None
    for workers in (1, 4):
        less, more = (
            estimate(UnigramSettings(8000).kind.costs, sample.texts, size, workers)
            for size in (10_000_000, 100_000_000)
        )
        assert less is not None
        assert more is not None
        assert more.seconds.least > less.seconds.least
        assert more.bytes.most > less.bytes.most
