"""``compat-bpe corpus counts``, and ``compat-bpe train --counts``."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet

from compat_bpe.cli.commands import corpus as command
from compat_bpe.corpus import chunk_counts, counts_file
from tests.cli.running import Run, TextResult, runner

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus" / "en").mkdir(parents=True)
    (tmp_path / "corpus" / "en" / "a.txt").write_text("the dog\tand the cat\n" * 30)
    (tmp_path / "corpus" / "zh.txt").write_text("世界你好 the\\\r\n" * 3, "utf-8")
    (tmp_path / "corpus" / "b.png").write_bytes(b"\0\1")
    return tmp_path


@pytest.fixture
def counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    run = runner("corpus", folder, monkeypatch)
    return lambda *args, **options: run("counts", *args, **options)


@pytest.fixture
def train(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner("train", folder, monkeypatch)


def same_vocabulary(train: Run, folder: Path, counted: list[str], texts: list[str]) -> None:
    for name, args in (("a", counted), ("b", texts)):
        done = train(*args, "-o", name, "--name", "same", "--force")
        assert done.status == 0, done.err
    for path in (folder / "a").iterdir():
        if path.name != "manifest.json":
            assert path.read_bytes() == (folder / "b" / path.name).read_bytes(), path.name
    one, other = (json.loads((folder / name / "manifest.json").read_bytes()) for name in "ab")
    assert one["files"] == other["files"]
    if "lines" in one["metrics"]:  # whose ends are in texts only
        del one["metrics"]["bytes"], other["metrics"]["bytes"]
    assert one["metrics"] == other["metrics"]


def test_the_file(counts: Run, folder: Path) -> None:
    done = counts("corpus", "-o", "c.tsv.gz")
    assert done == TextResult(0, "11 distinct chunks; 224 chunks in all\n", done.err)
    assert done.err == "compat-bpe: 1 binary file skipped: corpus/b.png\n"
    lines = gzip.decompress((folder / "c.tsv.gz").read_bytes()).decode().split("\n")
    assert lines == [
        *("chunk\tcount", "\\t\t30", "\\n\t32", "\\r\t2", "\\r\\n\t1", " cat\t30", " dog\t30"),
        *(" the\t33", "\\\\\t3", "and\t30", "the\t30", "世界你好\t3", ""),
    ]


@pytest.mark.parametrize(
    ("split", "learn"),
    [
        ([], []),
        (["--pattern", "o200k_base"], ["--pattern", "o200k_base"]),
        (["--model", "wordpiece"], ["--model", "wordpiece"]),
        (["--model", "unigram", "--normalizer", "nfkc"], ["--model", "unigram"]),
        (["--model", "word-level"], ["--model", "word-level"]),
        (["--model", "character-bpe"], ["--model", "character-bpe"]),
        (["--model", "sentencepiece-bpe"], ["--model", "sentencepiece-bpe"]),
        (["--like", "like/tokenizer.json"], ["--like", "like/tokenizer.json"]),
        (["--like", "spm/spm.model"], ["--like", "spm/spm.model"]),
        (["--like", "plain/plain.tiktoken"], []),
    ],
)
def test_a_vocabulary_from_counts(
    split: list[str], learn: list[str], counts: Run, train: Run, folder: Path
) -> None:
    if "like/tokenizer.json" in split:
        args = ("--pre-tokenizer", "byte-level", "--normalizer", "lowercase", "-n", "99")
        assert train("corpus", "--model", "character-bpe", *args, "-o", "like").status == 0
    if "spm/spm.model" in split:
        assert train("corpus", "--model", "sentencepiece-bpe", "-n", "40", "-o", "spm").status == 0
    if "plain/plain.tiktoken" in split:
        assert train("corpus", "--merges", "1", "-o", "plain").status == 0
    assert counts("corpus", "-o", "c.jsonl", *split).status == 0
    size = ["-n", "264"] if not learn or "--pattern" in learn else ["-n", "45"]
    if "--normalizer" in split:
        learn = [*learn, "--normalizer", "nfkc"]
    same_vocabulary(
        train, folder, [*size, *learn, "--counts", "c.jsonl"], ["corpus", *size, *learn]
    )


def test_texts_beside_counts_and_preparation(counts: Run, train: Run, folder: Path) -> None:
    (folder / "rules").write_text("dog → wolf\n", "utf-8")
    prepared = ["--normalize", "NFD", "--mask", "rules", "--drop-duplicates", "lines"]
    assert counts("corpus", "-o", "c.tsv", *prepared, "--include", "*.txt").status == 0
    same_vocabulary(
        train,
        folder,
        ["--merges", "9", "--counts", "c.tsv"],
        ["corpus", "--merges", "9", *prepared],
    )
    assert counts("corpus/en", "-o", "en.tsv").status == 0
    done = train("--merges", "9", "-o", "m", "corpus/zh.txt", "--counts", "en.tsv", "--json")
    manifest = json.loads(done.out)
    read = manifest["corpus"]["counts"]
    assert (read["paths"], read["rows"], read["total"]) == (["en.tsv"], 7, 210)
    assert manifest["corpus"]["paths"] == ["corpus/zh.txt"]
    assert manifest["metrics"]["chunks"] == 224
    done = train("--merges", "9", "-o", "m", "corpus/zh.txt", "--counts", "en.tsv", "--force")
    assert "from 1 document of 57 bytes and 210 counted chunks" in done.out


def test_the_held_out_share_is_left_out(counts: Run, folder: Path) -> None:
    for number in range(40):
        (folder / "corpus" / f"{number}.txt").write_text(f"text {number}")
    done = counts("corpus", "-o", "c.tsv", "--validation", "0.5", "--json")
    figures = json.loads(done.out)["corpus"]
    assert 0 < figures["held_out"]["documents"] < 42
    assert figures["kept"]["documents"] + figures["held_out"]["documents"] == 42


def test_weights_are_those_of_train(counts: Run, train: Run, folder: Path) -> None:
    weights = ["--weight", "zh=3", "--weight", "en=2"]
    done = counts("corpus", "-o", "c.tsv", *weights, "--json")
    factors = json.loads(done.out)["factors"]
    for name, args in (("a", ["--counts", "c.tsv"]), ("b", ["corpus", *weights])):
        assert train(*args, "--merges", "9", "-o", name, "--name", "same").status == 0
    merges = [(folder / name / "merges.txt").read_bytes() for name in "ab"]
    assert merges[0] == merges[1]
    # Groups that are kept can have weights later.
    assert counts("corpus", "-o", "g.jsonl", "--by-group").status == 0
    same_vocabulary(
        train,
        folder,
        ["--counts", "g.jsonl", "--merges", "9", *weights],
        ["corpus", "--merges", "9", *weights],
    )
    assert counts("g.jsonl", "--merge", "-o", "w.tsv", *weights).status == 0
    assert (folder / "w.tsv").read_bytes() == (folder / "c.tsv").read_bytes()
    assert factors["zh"] > factors["en"] > 0


def test_merging(counts: Run, folder: Path) -> None:
    assert counts("corpus/en", "-o", "en.tsv").status == 0
    assert counts("corpus/zh.txt", "-o", "zh.jsonl.gz").status == 0
    done = counts("--merge", "zh.jsonl.gz", "en.tsv", "-o", "both.tsv.gz")
    assert done == TextResult(0, "11 distinct chunks; 224 chunks in all\n", "")
    assert counts("corpus/en", "corpus/zh.txt", "-o", "whole.tsv.gz").status == 0
    assert (folder / "both.tsv.gz").read_bytes() == (folder / "whole.tsv.gz").read_bytes()
    done = counts("--merge", "both.tsv.gz", "both.tsv.gz", "--min-count", "7")
    assert done.err == "compat-bpe: 7 distinct chunks, without 4 rarer ones; 430 chunks in all\n"
    assert " the\t66\n" in done.out
    (folder / "spark").mkdir()
    table = pyarrow.table({"chunk": ["b", "a"], "count": [1, 2]})
    parquet.write_table(table, folder / "spark" / "part-0.parquet")
    done = counts("--merge", "spark", "-", stdin=b"b\t4\n")
    assert done.out == "chunk\tcount\na\t2\nb\t5\n"
    (folder / "fr.tsv").write_text("b\t4\n")
    args = ("--by-group", "fr.tsv", "spark/part-0.parquet", "-o", "by.jsonl", "--min-count", "3")
    assert counts("--merge", *args).status == 0
    assert (folder / "by.jsonl").read_text() == (
        '{"chunk": "b", "count": 4, "group": "fr"}\n{"chunk": "b", "count": 1, "group": "part-0"}\n'
    )


def test_the_same_bytes_whatever_does_the_counting(
    counts: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert counts("corpus", "-o", "a.tsv.gz", "--by-group").status == 0
    expected = (folder / "a.tsv.gz").read_bytes()
    monkeypatch.setattr(chunk_counts, "_SHARE", 50)
    monkeypatch.setattr(chunk_counts, "_WORTH_WORKERS", 99)
    monkeypatch.setattr(command, "MOST_ROWS", 3)
    monkeypatch.setattr(counts_file, "MOST_ROWS", 2)
    monkeypatch.setattr(counts_file.CountsMerger.__init__, "__defaults__", (2,))
    for jobs in ("1", "2"):
        assert counts("corpus", "-o", "a.tsv.gz", "--by-group", "-j", jobs, "--force").status == 0
        assert (folder / "a.tsv.gz").read_bytes() == expected


@pytest.mark.sweep
def test_the_same_bytes_whatever_the_hash_seed(counts: Run, folder: Path) -> None:
    assert counts("corpus", "-o", "a.tsv.gz", "--by-group").status == 0
    expected = (folder / "a.tsv.gz").read_bytes()
    script = "from compat_bpe.cli import main; main()"
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        args = ["corpus", "counts", "corpus", "-o", f"{seed}.tsv.gz", "--by-group"]
        subprocess.run(
            [sys.executable, "-c", script, *args], cwd=folder, env=environment, check=True
        )
        assert (folder / f"{seed}.tsv.gz").read_bytes() == expected


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["corpus", "-o", "c.csv"], "c.csv: the name must end in .tsv, .tsv.gz"),
        (["corpus", "-o", "old.tsv"], "old.tsv: it exists; --force overwrites it"),
        (["corpus", "-o", "corpus/x.tsv", "--force"], "corpus/x.tsv: it is one of the inputs"),
        (["--merge", "old.tsv", "-o", "old.tsv", "--force"], "old.tsv: it is one of the inputs"),
        (["--merge", "bad.tsv", "-o", "c.tsv"], "bad.tsv:2: the count is -1; it must be 0"),
        (["--merge", "notes.txt"], "notes.txt: the name of a file of counts ends in .tsv"),
        (["--merge", "none.tsv"], "none.tsv: No such file or directory"),
        (["--merge", "old.tsv", "--pattern", "gpt2"], "--pattern is for texts, not for --merge."),
        (["corpus", "--json"], "--json needs --output."),
        (["corpus", "--weight", "fr=1"], "there is a weight for 'fr', but no such text"),
        (["corpus", "--pattern", "("], "the pattern cannot be used"),
        (["corpus", "--pattern", "gpt2", "--model", "unigram"], "--pattern is for --model bpe"),
        (["corpus", "--normalizer", "nfc"], "--normalizer and --pre-tokenizer are for other"),
        (["corpus", "--like", "notes.txt"], "notes.txt"),
        (["none", "-o", "c.tsv"], "none: No such file or directory"),
    ],
)
def test_what_is_refused(args: list[str], message: str, counts: Run, folder: Path) -> None:
    (folder / "old.tsv").write_text("a\t1\n")
    (folder / "corpus" / "x.tsv").write_text("a\t1\n")
    (folder / "bad.tsv").write_text("a\t1\nb\t-1\n")
    (folder / "notes.txt").write_text("\n")
    done = counts(*args)
    assert done.status == 2
    assert message in done.err
    assert not (folder / "c.tsv").exists()
    assert (folder / "old.tsv").read_text() == "a\t1\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["bad.tsv"], "bad.tsv:2: the count is -1; it must be 0 or more"),
        (["two.tsv"], "two.tsv:2: 'b c' is not one chunk of the pattern 'gpt2'"),
        (["c.csv"], "c.csv: the name of a file of counts ends in"),
        (["none.tsv"], "none.tsv: No such file or directory"),
        (["two.tsv", "--model", "sentencepiece-unigram"], "is not learned from counts"),
        (["empty.tsv"], "there is no text to learn from"),
        (["-", "-"], "Standard input cannot be both"),
    ],
)
def test_what_train_refuses(args: list[str], message: str, train: Run, folder: Path) -> None:
    (folder / "bad.tsv").write_text("a\t1\nb\t-1\n")
    (folder / "two.tsv").write_text("a\t1\nb c\t1\n")
    (folder / "empty.tsv").write_text("chunk\tcount\n")
    done = train("-n", "300", "-o", "out", "--counts", *args)
    assert done.status == 2
    assert message in done.err
    assert not (folder / "out").exists()


def test_an_unreadable_file_is_named_and_the_rest_is_counted(counts: Run, folder: Path) -> None:
    (folder / "corpus" / "gone.txt").symlink_to("nowhere")
    done = counts("corpus/en", "corpus/gone.txt", "-o", "c.tsv")
    assert done.status == 2
    assert "corpus/gone.txt: No such file" in done.err
    assert (folder / "c.tsv").exists()


def test_a_pipe_from_counts_to_train(train: Run, folder: Path, counts: Run) -> None:
    table = counts("corpus").out.encode()
    done = train("-n", "260", "-o", "out", "--counts", "-", stdin=table)
    assert "260 tokens, 4 of them merges, from 224 counted chunks" in done.out
