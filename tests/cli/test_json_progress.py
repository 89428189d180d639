"""``--json-progress`` writes JSON objects, of which the last says how the run ended."""

from __future__ import annotations

import json
import signal
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from compat_bpe.cli import forecast
from compat_bpe.cli.options.corpus import Corpus
from compat_bpe.cli.progress import json_lines
from compat_bpe.cli.progress.bars import Progress
from compat_bpe.corpus.prepare import CorpusCounts
from compat_bpe.train import SentencePieceSettings, TrainingSettings, UnigramSettings
from compat_bpe.train import estimate as estimate_module
from compat_bpe.train.estimate import Estimate, Sample, estimate
from compat_bpe.train.kinds import KINDS
from tests.cli.in_process import Run, runner

ROOT = Path(__file__).parents[2]
TEXT = "".join(f"{number * number} numbers and words\n" for number in range(3000))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command in a folder with a corpus, with its name first."""
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "b.txt").write_text("ends")

    def with_command(command: str, *args: str) -> Any:
        return runner(command, tmp_path, monkeypatch, capfd)(*args)

    return with_command


def lines_of(err: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The objects on standard error, and the other lines."""
    lines = err.splitlines()
    found = [json.loads(line) for line in lines if line.startswith("{")]
    seconds = [one["seconds"] for one in found]
    assert seconds == sorted(seconds)
    return found, [line for line in lines if not line.startswith("{")]


def test_a_run_that_ends(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "_INTERVAL", 0.0)
    done = run("train", "-n", "300", "-o", "out", "--json-progress", "a.txt", "b.txt")
    assert done.status == 0
    assert done.out.startswith("300 tokens")
    found, others = lines_of(done.err)
    assert not others
    *lines, last = found
    assert {one["stage"] for one in lines} == {"read", "learn"}
    read = [one for one in lines if one["stage"] == "read"]
    size = len(TEXT) + 4
    assert [(one["total"], one["unit"], one["total_files"]) for one in read] == [
        (size, "bytes", 2)
    ] * len(read)
    assert (read[0]["done"], read[0]["files"]) == (0, 0)
    assert (read[-1]["done"], read[-1]["files"]) == (size, 2)
    learn = [one for one in lines if one["stage"] == "learn"]
    assert [one["done"] for one in learn] == [0, *range(1, 45), 44]
    assert learn[0]["total"] == 44
    assert learn[0]["unit"] == "merges"
    del last["seconds"]
    assert last == {"stage": "finished", "status": 0, "stopped": "size", "tokens": 300}


def test_lines_are_half_a_second_apart(run: Run) -> None:
    done = run("train", "-n", "1000", "-o", "out", "--json-progress", "a.txt")
    found, _ = lines_of(done.err)
    for stage in ("read", "learn"):
        seconds = [one["seconds"] for one in found if one["stage"] == stage]
        assert all(after - before >= 0.49 for before, after in zip(seconds, seconds[1:-1]))


def test_a_run_that_fails(run: Run) -> None:
    for args, error in (
        (("-n", "300", "missing.txt"), "missing.txt: No such file or directory"),
        (("-n", "1", "a.txt"), "1 token"),
        (("--patience", "1", "a.txt"), "--patience and --check-every need --validation."),
    ):
        done = run("train", "-o", "out", "--json-progress", *args)
        assert done.status == 2
        found, others = lines_of(done.err)
        assert len(others) >= 1
        assert (found[-1]["stage"], found[-1]["status"]) == ("failed", 2)
        if not error.startswith("1"):
            assert found[-1]["error"] == error


def test_a_file_that_is_left_out(run: Run) -> None:
    done = run("train", "-n", "300", "-o", "out", "--json-progress", "missing.txt", "a.txt")
    found, others = lines_of(done.err)
    assert done.status == 2
    assert others == ["compat-bpe: missing.txt: No such file or directory"]
    assert (found[-1]["stage"], found[-1]["status"]) == ("finished", 2)


def test_a_signal_that_ends_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """As ``main`` ends the command where it is told to: with a status, not with an error."""

    def end(self: object) -> None:
        sys.exit(128 + signal.SIGTERM)

    monkeypatch.setattr(Progress, "_refresh", end)
    done = run("train", "-n", "300", "-o", "out", "--json-progress", "a.txt")
    assert done.status == 143
    last = lines_of(done.err)[0][-1]
    last.pop("seconds")
    assert last == {"stage": "failed", "status": 143, "error": "ended by signal 15"}


def test_an_interrupt(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Progress, "_refresh", interrupt)
    done = run("train", "-n", "300", "-o", "out", "--json-progress", "a.txt")
    assert done.status == 130
    found, _ = lines_of(done.err)
    assert (found[-1]["stage"], found[-1]["error"]) == ("failed", "interrupted")


@pytest.mark.parametrize(
    "args",
    [
        ("report", "-e", "gpt2"),
        ("extend", "-e", str(ROOT / "fixtures/gpt2_small"), "-n", "2", "-o", "out"),
    ],
)
def test_other_commands(run: Run, args: tuple[str, ...]) -> None:
    done = run(*args, "--json-progress", "a.txt")
    assert done.status == 0
    found, others = lines_of(done.err)
    assert not others
    assert [one["stage"] for one in (found[0], found[-1])] == ["read", "finished"]


def test_counts(run: Run) -> None:
    done = run("corpus", "counts", "-o", "out.tsv", "--json-progress", "a.txt")
    found, _ = lines_of(done.err)
    assert [one["stage"] for one in (found[0], found[-1])] == ["read", "finished"]


def test_nothing_without_the_option(run: Run) -> None:
    assert run("train", "-n", "300", "-o", "out", "a.txt").err == ""
    assert json_lines.current() is None


def test_standard_error_that_is_closed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert run("train", "-n", "300", "-o", "out", "--json-progress", "a.txt").status == 0


class _Whole(Corpus):
    """A corpus of a size, of which so much has been read."""

    size = 50_000_000

    def __init__(self, done: int) -> None:
        super().__init__([], "text", None, False, None)
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


def test_each_kind_that_takes_long_has_an_estimate() -> None:
    sample = Sample(1.0)
    sample.see(TEXT)
    made = {}
    for settings in (
        TrainingSettings(8000),
        UnigramSettings(8000),
        SentencePieceSettings(8000, "bpe"),
        SentencePieceSettings(8000, "unigram"),
        *(KINDS[name].makes(8000) for name in ("wordpiece", "character-bpe", "word-level")),
    ):
        one = estimate(settings.kind.costs, sample.texts, 50_000_000, 1)
        assert one is not None
        made[str(settings)[:50]] = one.seconds.most
    assert made


@pytest.mark.usefixtures("_known_speed")
def test_more_text_takes_longer() -> None:
    sample = Sample(1.0)
    sample.see(TEXT)
    for workers in (1, 4):
        found = [
            estimate(UnigramSettings(8000).kind.costs, sample.texts, size, workers)
            for size in (10_000_000, 100_000_000)
        ]
        assert found[0] is not None
        assert found[1] is not None
        assert found[1].seconds.least > found[0].seconds.least
        assert found[1].bytes.most > found[0].bytes.most
