"""``train --checkpoint``: a run that was stopped by whatever goes on, with the same files."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.cli.running import TIMEOUT, Run, environment, runner

ARGUMENTS = [
    *("--merges", "200", "--validation", "0.3", "--check-every", "20", "-j", "1"),
    *("--weight", "a=2", "--drop-duplicates", "lines", "--name", "v"),
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    random = Random(1)
    for group in ("a", "b"):
        (tmp_path / "corpus" / group).mkdir(parents=True)
        for number in range(8):
            words = [
                "".join(random.choices("abcdefgh", k=random.randint(1, 9))) for _ in range(400)
            ]
            lines = [" ".join(words[at : at + 9]) for at in range(0, len(words), 9)]
            (tmp_path / "corpus" / group / f"{number}.txt").write_text("\n".join(lines))
    return tmp_path / "corpus"


@pytest.fixture
def command(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner("train", corpus.parent, monkeypatch)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


#: The command, which is killed as it comes to a function of a module.
_KILLED = """
import os, signal
from compat_bpe.cli import main
from compat_bpe.train import checkpoint, write

def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

exec(f"{os.environ['AT']} = kill")
main()
"""

#: The command, which gets a signal once so many texts and merges are kept.
_STOPPED = """
import os, signal
from compat_bpe.cli import main
from compat_bpe.train.checkpoint import Checkpoint

def write(self, begun):
    real(self, begun)
    if self.fed >= int(os.environ["FED"]) and len(self.merges) >= int(os.environ["MERGES"]):
        os.kill(os.getpid(), getattr(signal, os.environ["SIGNAL"]))

real, Checkpoint._write = Checkpoint._write, write
main()
"""


def go_on(
    corpus: Path, every: str, *program: str, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Begin the training, or go on with it."""
    command = [sys.executable, *program, "train", *ARGUMENTS, "-o", "stopped"]
    return subprocess.run(
        [*command, "--checkpoint", "kept", "--checkpoint-every", every, "corpus"],
        cwd=corpus.parent,
        env=environment(**variables),
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )


@pytest.mark.parametrize(
    "name",
    ["SIGKILL", *(pytest.param(one, marks=pytest.mark.sweep) for one in ("SIGTERM", "SIGINT"))],
)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_killed_run_goes_on(name: str, corpus: Path, command: Run) -> None:
    kept, expected = corpus.parent / "kept", corpus.parent / "expected"
    assert command(*ARGUMENTS, "-o", "expected", "corpus").status == 0
    # Killed while it counts, then while it merges.
    for fed, merges in (("2", "0"), ("0", "10")):
        done = go_on(corpus, "0", "-c", _STOPPED, FED=fed, MERGES=merges, SIGNAL=name)
        assert done.returncode == (-9 if name == "SIGKILL" else 128 + getattr(signal, name))
        assert len(json.loads((kept / "state.json").read_bytes())["state"]["merges"]) == int(merges)
        assert not (corpus.parent / "stopped").exists()
    done = go_on(corpus, "60", "-m", "compat_bpe")
    assert done.returncode == 0, done.stderr
    assert b"kept: going on from the checkpoint: all texts are counted, " in done.stderr
    assert not kept.exists()
    assert files(corpus.parent / "stopped") == files(expected)


@pytest.mark.parametrize("at", ["write._put_in_place", "checkpoint.Checkpoint.remove"])
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_run_that_was_killed_at_its_end_is_ended(at: str, corpus: Path, command: Run) -> None:
    folder = corpus.parent
    assert command(*ARGUMENTS, "-o", "expected", "corpus").status == 0
    for _ in range(2):
        assert go_on(corpus, "60", "-c", _KILLED, AT=at).returncode == -9
    assert len([*folder.glob("stopped.*.tmp")]) == (at == "write._put_in_place")
    done = go_on(corpus, "60", "-m", "compat_bpe")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["corpus", "expected", "stopped"]
    assert files(folder / "stopped") == files(folder / "expected")


def test_another_vocabulary_is_not_taken_for_what_a_run_has_written(
    corpus: Path, command: Run
) -> None:
    assert command("--merges", "9", "-o", "stopped", "corpus").status == 0
    before = files(corpus.parent / "stopped")
    assert go_on(corpus, "60", "-c", _KILLED, AT="write._put_in_place").returncode == 2
    shutil.move(corpus.parent / "stopped", corpus.parent / "other")
    assert go_on(corpus, "60", "-c", _KILLED, AT="write._put_in_place").returncode == -9
    shutil.move(corpus.parent / "other", corpus.parent / "stopped")
    done = go_on(corpus, "60", "-m", "compat_bpe")
    assert (done.returncode, b"it exists and is not empty" in done.stderr) == (2, True)
    assert files(corpus.parent / "stopped") == before
    assert (corpus.parent / "kept" / "state.json").exists()


def test_what_does_not_fit(corpus: Path, command: Run) -> None:
    def message(*options: str) -> str:
        found = command(*options, "-o", "new", "corpus")
        assert found.status in (1, 2)
        return found.err

    here = ("--merges", "5")
    assert "apart from each other" in message("--checkpoint", "new", *here)
    assert "apart from each other" in message("--checkpoint", "new/kept", *here)
    assert "apart from each other" in message("--checkpoint", ".", *here)
    assert "corpus has this folder in it" in message("--checkpoint", "corpus/kept", *here)
    assert "--checkpoint is not for models of SentencePiece" in message(
        "--checkpoint", "kept", "--model", "sentencepiece-bpe", "-n", "99"
    )
    (corpus.parent / "mine").mkdir()
    (corpus.parent / "mine" / "text").write_text("mine")
    assert "it has other files (text) and no checkpoint" in message("--checkpoint", "mine", *here)
    assert not (corpus.parent / "new").exists()
