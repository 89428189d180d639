"""``compat-bpe train`` stops by convergence, and ``report`` shows the curve."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compat_bpe import load
from tests.cli.running import Run, runner

LINES = [
    f"the {'na' * (n % 7)}{'ba' * (n % 4)}s and {'ti' * (n % 5)}n number {n}" for n in range(90)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus").mkdir()
    for number in range(0, 90, 3):
        text = "\n".join(LINES[number : number + 3])
        (tmp_path / "corpus" / f"{number}.txt").write_text(text)
    return tmp_path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner("train", folder, monkeypatch)


STOP = ("--patience", "2", "--min-improvement", "0.05", "--check-every", "4", "--validation", "0.2")


@pytest.mark.parametrize("model", ["bpe", "wordpiece", "character-bpe"])
def test_it_stops(
    run: Run,
    model: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done = run("corpus", "--model", model, "-o", "out", *STOP)
    assert done.status == 0, done.err
    manifest = json.loads((folder / "out" / "manifest.json").read_bytes())
    metrics = manifest["metrics"]
    assert metrics["stopped"] == "convergence"
    assert manifest["settings"]["convergence"] == {
        "patience": 2,
        "min_improvement": 0.05,
        "check_every": 4,
    }
    assert done.err == (
        f"compat-bpe: {metrics['merges']} merges: bytes per token improved by less than 5% in 2 "
        "checks\n"
    )
    assert [check["merges"] for check in metrics["curve"]] == [*range(0, metrics["merges"] + 1, 4)]
    lines = (folder / "out" / "validation.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    enc = load(folder / "out")
    tokens = sum(len(enc.encode_ordinary(text)) for text in texts)
    assert metrics["curve"][-1] == {
        "tokens": enc.n_vocab,
        "merges": metrics["merges"],
        "bytes_per_token": sum(map(len, texts)) / tokens,
    }
    assert "learning curve of out: bytes per token" in done.out
    same = run(
        *("corpus", "--model", model, "--merges", str(metrics["merges"]), "-o", "same"),
        *("--validation", "0.2"),
    )
    assert same.status == 0
    for name in ("tokenizer.json", "token_map.tsv"):
        assert (folder / "same" / name).read_bytes() == (folder / "out" / name).read_bytes()
    report = runner("report", folder, monkeypatch)
    done = report("-e", "out", "-e", "same/tokenizer.json", "-e", "gpt2", "--json", "corpus")
    found = [one["learning_curve"] for one in json.loads(done.out)["encodings"]]
    assert found == [metrics["curve"], [], []]


@pytest.mark.parametrize(
    ("model", "args", "message"),
    [
        (
            "unigram",
            ("-n", "30", "--patience", "1", "--min-improvement", "0.02"),
            "tokens, not 30: the next round of pruning cost 2% or more of bytes per token",
        ),
        (
            "sentencepiece-unigram",
            ("-n", "26", "--patience", "1", "--min-improvement", "0"),
            "tokens, not 26: the next round of pruning cost of bytes per token",
        ),
        (
            "sentencepiece-bpe",
            ("-n", "200", "--check-every", "9", "--patience", "1", "--min-improvement", "0.05"),
            "tokens, not 200: bytes per token improved by less than 5% in 1 check",
        ),
        (
            "word-level",
            ("--check-every", "9", "--patience", "1", "--min-improvement", "0.05"),
            "tokens: bytes per token improved by less than 5% in 1 check",
        ),
    ],
)
def test_kinds_without_merges_stop(
    run: Run, folder: Path, model: str, args: tuple[str, ...], message: str
) -> None:
    done = run("corpus", "--model", model, "-o", "out", *args, "--validation", "0.2")
    assert done.status == 0, done.err
    metrics = json.loads((folder / "out" / "manifest.json").read_bytes())["metrics"]
    assert metrics["stopped"] == "convergence"
    assert done.err.rstrip("\n").endswith(message)
    size = load(folder / "out").n_vocab
    assert done.out.startswith(f"{size} tokens, from ")
    assert size in [check["tokens"] for check in metrics["curve"]]
    assert "learning curve of out: bytes per token" in done.out


def test_without_a_least_improvement(run: Run, folder: Path) -> None:
    args = ("--patience", "1", "--min-improvement", "0", "--check-every", "9")
    done = run("corpus", "-o", "out", "--validation", "0.2", *args)
    assert done.status == 0
    assert done.err.endswith(" merges: bytes per token did not improve in 1 check\n")


def test_a_curve_without_stopping(run: Run, folder: Path) -> None:
    args = ("--merges", "10", "--check-every", "4", "--validation", "0.2")
    assert run("corpus", "-o", "out", *args).status == 0
    metrics = json.loads((folder / "out" / "manifest.json").read_bytes())["metrics"]
    assert [check["merges"] for check in metrics["curve"]] == [0, 4, 8, 10]
    assert metrics["stopped"] == "size"


def test_the_lowest_score(run: Run, folder: Path) -> None:
    args = ("--model", "wordpiece", "--rule", "likelihood", "--min-score", "0.01")
    done = run("corpus", "-o", "out", "-n", "500", *args)
    assert done.status == 0
    assert done.err.endswith(" tokens, not 500: no pair has a score of 0.01 or more\n")
    metrics = json.loads((folder / "out" / "manifest.json").read_bytes())["metrics"]
    assert metrics["stopped"] == "score"
    done = run("corpus", "-o", "all", "-n", "500", *args[:-2])
    every = json.loads((folder / "all" / "manifest.json").read_bytes())["metrics"]
    assert 0 < metrics["merges"] < every["merges"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--patience", "2"), "--patience and --check-every need --validation."),
        (("-n", "300", "--check-every", "2"), "--patience and --check-every need --validation."),
        (("-n", "300", "--min-improvement", "0.1"), "--min-improvement needs --patience."),
        (("--check-every", "2", "--min-improvement", "0.1"), "--min-improvement needs --patience."),
        (("--validation", "0.5"), "Give --vocab-size, --merges or --patience."),
        (
            ("--model", "unigram", "-n", "99", "--check-every", "2", *STOP),
            "--check-every is not for --model unigram, only for bpe, wordpiece, character-bpe, "
            "word-level, characters, sentencepiece-bpe. Bytes per token are checked before each",
        ),
        (
            ("--model", "sentencepiece-unigram", "-n", "99", "--check-every", "2", *STOP),
            "sentencepiece-bpe. Bytes per token are checked before each round of pruning.",
        ),
        (
            ("--model", "bytes", *STOP),
            "sentencepiece-unigram. Bytes per token do not depend on its size.",
        ),
        (("--model", "unigram", "--validation", "0.2", "--patience", "1"), "Give --vocab-size."),
        (
            ("--model", "wordpiece", "-n", "99", "--min-score", "1"),
            "min_score is for the rule likelihood; min_frequency is for the other",
        ),
        (
            ("--patience", "1", "--validation", "0.000000001"),
            "there is no held-out text by which learning could stop",
        ),
    ],
)
def test_what_is_refused(run: Run, folder: Path, args: tuple[str, ...], message: str) -> None:
    done = run("corpus", "-o", "out", *args)
    assert done.status == 2
    assert message in " ".join(done.err.split())
    assert not (folder / "out").exists()
