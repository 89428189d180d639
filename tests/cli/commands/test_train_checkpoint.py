"""``train --checkpoint``: a run that was stopped by whatever goes on, with the same files."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from tests.cli.in_process import Run, runner

ARGUMENTS = [
    *("--merges", "400", "--validation", "0.3", "--check-every", "20", "-j", "1"),
    *("--weight", "a=2", "--drop-duplicates", "lines", "--name", "v"),
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    random = Random(1)
    for group in ("a", "b"):
        (tmp_path / "corpus" / group).mkdir(parents=True)
        for number in range(8):
            words = [
                "".join(random.choices("abcdefgh", k=random.randint(1, 9))) for _ in range(2000)
            ]
            lines = [" ".join(words[at : at + 9]) for at in range(0, len(words), 9)]
            (tmp_path / "corpus" / group / f"{number}.txt").write_text("\n".join(lines))
    return tmp_path / "corpus"


@pytest.fixture
def command(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Run:
    return runner("train", corpus.parent, monkeypatch, capfd)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def start(corpus: Path, *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "compat_bpe", "train", *ARGUMENTS, "-o", "stopped", *options]
    return subprocess.Popen(
        [*command, "--checkpoint", "kept", "--checkpoint-every", "0", "corpus"],
        cwd=corpus.parent,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def state(folder: Path) -> tuple[int, int]:
    """Return how many texts are counted, and how many merges are learned."""
    try:
        kept = json.loads((folder / "state.json").read_bytes())
    except FileNotFoundError:
        return 0, 0
    return kept["fed"], len(kept["merges"])


@pytest.mark.parametrize(
    "name",
    ["SIGKILL", *(pytest.param(one, marks=pytest.mark.sweep) for one in ("SIGTERM", "SIGINT"))],
)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_killed_run_goes_on(name: str, corpus: Path, command: Run) -> None:
    kept, expected = corpus.parent / "kept", corpus.parent / "expected"
    assert command(*ARGUMENTS, "-o", "expected", "corpus").status == 0
    # Killed while it counts, then while it merges.
    for least in ((2, 0), (0, 10)):
        with start(corpus) as process:
            ends = time.monotonic() + 60
            while not all(map(int.__ge__, state(kept), least)):
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < ends
                time.sleep(0.001)
            process.send_signal(getattr(signal, name))
            process.wait(60)
        assert not (corpus.parent / "stopped").exists()
    assert state(kept)[1] >= 10
    with start(corpus) as process:
        _, messages = process.communicate(timeout=100)
        assert process.returncode == 0
    assert b"kept: going on from the checkpoint: all texts are counted, " in messages
    assert not kept.exists()
    assert files(corpus.parent / "stopped") == files(expected)


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
