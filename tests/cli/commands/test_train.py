"""``compat-bpe train``."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from compat_bpe import load
from compat_bpe.train import train_bpe
from tests.cli.running import Run, runner

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus" / "en").mkdir(parents=True)
    (tmp_path / "corpus" / "en" / "a.txt").write_text("the dog and the cat\n" * 30)
    (tmp_path / "corpus" / "zh.txt").write_text("世界你好\n" * 3, "utf-8")
    return tmp_path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner("train", folder, monkeypatch)


def test_it_learns_what_the_library_learns(run: Run, folder: Path) -> None:
    done = run("corpus", "-n", "280", "-o", "out", "--special", "<|end|>")
    assert done.status == 0, done.err
    assert done.out.splitlines() == [
        "280 tokens, 23 of them merges, from 2 documents of 639 bytes",
        "out: encoder.json, merges.txt, out.tiktoken, token_map.tsv, tokenizer.json, "
        "tokenizer_config.json, vocab.bpe, vocab.json, manifest.json",
    ]
    texts = ["the dog and the cat\n" * 30, "世界你好\n" * 3]
    expected = train_bpe(texts, 280, special_tokens=["<|end|>"])
    assert load(folder / "out" / "out.tiktoken", pattern="gpt2")._mergeable_ranks == (
        expected._mergeable_ranks
    )


def test_the_manifest(run: Run, folder: Path) -> None:
    (folder / "rules").write_text("dog → D\n", "utf-8")
    args = ("--weight", "zh=2", "--normalize", "NFC", "--mask", "rules", "--min-frequency", "2")
    done = run("corpus", "-n", "270", "-o", "out", "--json", "--format", "gpt2", *args)
    manifest = json.loads(done.out)
    assert manifest == json.loads((folder / "out" / "manifest.json").read_bytes())
    assert manifest["settings"]["vocab_size"] == 270
    assert manifest["settings"]["weights"] == {"zh": 2.0}
    assert manifest["settings"]["mask"] == [["dog", "D"]]
    assert manifest["corpus"]["paths"] == ["corpus"]
    assert manifest["corpus"]["masked"] == [30]
    assert manifest["corpus"]["kept"]["documents"] == 2
    assert manifest["metrics"]["factors"].keys() == {"en", "zh"}
    assert manifest["metrics"]["factors"]["en"] == 1
    assert manifest["files"].keys() == {"encoder.json", "vocab.bpe"}


def test_the_manifest_has_every_setting(run: Run, folder: Path) -> None:
    assert run("corpus", "-n", "270", "-o", "plain").status == 0
    manifest = json.loads((folder / "plain" / "manifest.json").read_bytes())
    assert (manifest["pattern"], manifest["special_tokens"]) == ("gpt2", {})
    plain: dict[str, object] = {
        "vocab_size": 270,
        "num_merges": None,
        "min_frequency": 1,
        "max_token_length": None,
        "weights": {},
        "convergence": None,
        "start": None,
        "max_words": None,
        "not_joined": [],
        "normalization": None,
        "mask": [],
        "drop_duplicates": None,
        "validation": 0.0,
        "field": "text",
        "group_field": None,
        "errors": None,
    }
    assert [*manifest["settings"].items()] == [*plain.items()]
    (folder / "rules").write_text("dog → D\n", "utf-8")
    args = (
        *("--merges", "3", "--min-frequency", "2", "--max-token-length", "4"),
        *("--weight", "zh=2", "--weight", "en=1.5", "--normalize", "NFKC", "--mask", "rules"),
        *("--drop-duplicates", "lines", "--validation", "0.01", "--field", "t"),
        *("--group-field", "g", "--errors", "skip", "--pattern", "llama3", "--special", "<a>"),
    )
    assert run("corpus", "-o", "all", *args).status == 0
    manifest = json.loads((folder / "all" / "manifest.json").read_bytes())
    assert (manifest["pattern"], [*manifest["special_tokens"]]) == ("llama3", ["<a>"])
    assert manifest["settings"] == {
        "vocab_size": None,
        "num_merges": 3,
        "min_frequency": 2,
        "max_token_length": 4,
        "weights": {"zh": 2.0, "en": 1.5},
        "convergence": None,
        "start": None,
        "max_words": None,
        "not_joined": [],
        "normalization": "NFKC",
        "mask": [["dog", "D"]],
        "drop_duplicates": "lines",
        "validation": 0.01,
        "field": "t",
        "group_field": "g",
        "errors": "skip",
    }


def test_standard_input_json_lines_and_gzip(run: Run, folder: Path) -> None:
    expected = train_bpe(["one two two", "two"], 262)._mergeable_ranks
    lines = b'{"t": "one two two"}\n{"t": "two"}\n'
    (folder / "x.jsonl.gz").write_bytes(gzip.compress(lines))
    sources: list[tuple[tuple[str, ...], bytes]] = [
        (("--jsonl", "--field", "t"), lines),
        (("x.jsonl.gz", "--field", "t"), b""),
    ]
    for number, (args, stdin) in enumerate(sources):
        done = run(*args, "-n", "262", "-o", f"{number}", "--format", "tiktoken", stdin=stdin)
        assert done.status == 0, done.err
        assert load(folder / f"{number}", pattern="gpt2")._mergeable_ranks == expected


def test_what_is_held_out(run: Run, folder: Path) -> None:
    texts = [f"text number {number}\n" for number in range(300)]
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (folder / "many.jsonl").write_text(lines)
    done = run("many.jsonl", "-n", "300", "-o", "out", "--validation", "0.2")
    assert done.status == 0, done.err
    assert "Held-out text (" in done.out
    assert "bytes per token\n" in done.out
    lines = (folder / "out" / "validation.jsonl").read_text("utf-8")
    held_out = [json.loads(line)["text"] for line in lines.splitlines()]
    assert 30 < len(held_out) < 90
    kept = [text for text in texts if text not in held_out]
    expected = train_bpe(kept, 300)._mergeable_ranks
    assert load(folder / "out" / "out.tiktoken", pattern="gpt2")._mergeable_ranks == expected


def test_nothing_held_out_is_said(run: Run) -> None:
    done = run("corpus", "-n", "260", "-o", "out", "--validation", "0.000001")
    assert (done.status, done.err.count("\n")) == (0, 1)
    assert "nothing was held out: 1e-06 of this corpus is less than one part" in done.err


def test_nothing_left_to_merge_is_said(run: Run) -> None:
    done = run("corpus", "--merges", "1000", "-o", "out", "--min-frequency", "5")
    assert done.status == 0
    assert " merges, not 1,000: no pair that may be merged occurs 5 times or more" in done.err


def test_numbers_and_nouns_agree(run: Run, folder: Path) -> None:
    (folder / "one.txt").write_text("a ab")
    done = run("one.txt", "-n", "300", "-o", "out")
    assert done.out.splitlines()[0] == "258 tokens, 2 of them merges, from 1 document of 4 bytes"
    (folder / "two.txt").write_text("ab")
    done = run("two.txt", "-n", "300", "-o", "out2")
    assert done.err == "compat-bpe: 1 merge, not 44: no pair is left to merge\n"


def test_roles_become_special_tokens(run: Run, folder: Path) -> None:
    args = ("--special", "<|a|>", "--special", "<|end|>", "--eos", "<|end|>", "--bos", "<|begin|>")
    done = run("corpus", "-n", "280", "-o", "out", *args, "--pad", "<|p|>", "--unk", "<|p|>")
    assert done.status == 0, done.err
    expected = {"<|a|>": 276, "<|end|>": 277, "<|begin|>": 278, "<|p|>": 279}
    manifest = json.loads((folder / "out" / "manifest.json").read_bytes())
    assert manifest["special_tokens"] == expected
    roles = {"bos": "<|begin|>", "eos": "<|end|>", "unk": "<|p|>", "pad": "<|p|>"}
    assert manifest["roles"] == roles
    config = json.loads((folder / "out" / "tokenizer_config.json").read_bytes())
    assert {role: config[f"{role}_token"] for role in roles} == roles
    assert load(folder / "out" / "out.tiktoken").encode("<|p|>", allowed_special="all") == [279]


def test_what_is_left_out_is_recorded(run: Run, folder: Path) -> None:
    (folder / "corpus" / "picture.png").write_bytes(b"PNG\0")
    done = run("missing.txt", "corpus", "-n", "270", "-o", "out", "--validation", "0.01")
    assert done.status == 2
    assert done.err.splitlines()[:2] == [
        "compat-bpe: missing.txt: No such file or directory",
        "compat-bpe: 1 binary file skipped: corpus/picture.png",
    ]
    assert done.out.startswith("270 tokens, 14 of them merges, from 2 documents of 639 bytes\n")
    expected = train_bpe(["the dog and the cat\n" * 30, "世界你好\n" * 3], 270)
    assert load(folder / "out").core.encoder == expected._mergeable_ranks
    corpus = json.loads((folder / "out" / "manifest.json").read_bytes())["corpus"]
    assert corpus["errors"] == [{"path": "missing.txt", "error": "No such file or directory"}]
    path = os.path.join("corpus", "picture.png")
    assert corpus["skipped"] == [{"path": path, "reason": "binary: NUL byte at offset 3"}]


def test_nothing_is_written_if_nothing_is_left(run: Run, folder: Path) -> None:
    (folder / "picture.png").write_bytes(b"PNG\0")
    done = run("picture.png", "no.txt", "-n", "270", "-o", "out", "--errors", "skip")
    assert (done.status, done.out) == (2, "")
    assert "nothing is left of the corpus" in done.err
    assert not (folder / "out").exists()


def test_an_input_is_not_overwritten(run: Run, folder: Path) -> None:
    text = "the dog and the cat\n" * 30
    (folder / "merges.txt").write_text(text)
    args = ("-n", "270", "-o", ".", "--force")
    done = run("merges.txt", *args)
    assert (done.status, done.out) == (2, "")
    said = "merges.txt: it is one of the inputs; write elsewhere, or leave it out of them"
    assert done.err == f"compat-bpe: {said}\n"
    assert (folder / "merges.txt").read_text() == text
    assert run("merges.txt", *args, "--format", "tiktoken").status == 0
    # Nor is its own earlier output read as a corpus.
    done = run("corpus", "-n", "270", "-o", os.path.join("corpus", "out"))
    assert done.status == 0, done.err
    args = ("-n", "271", "-o", os.path.join("corpus", "out"), "--force")
    done = run("corpus", *args)
    assert done.status == 2
    assert ": it is one of the inputs; " in done.err
    done = run("corpus", *args, "--exclude", "out")
    assert done.status == 0, done.err


def test_rules_are_an_input(run: Run, folder: Path) -> None:
    (folder / "merges.txt").write_text("dog → D\n", "utf-8")
    done = run("corpus", "-n", "270", "-o", ".", "--force", "--mask", "merges.txt")
    assert "merges.txt: it is one of the inputs" in done.err
    assert (folder / "merges.txt").read_text("utf-8") == "dog → D\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-o", "out"), "Error: Give --vocab-size, --merges or --patience."),
        (("-n", "300"), "Missing option '-o' / '--output'"),
        (("-n", "300", "-o", "corpus"), "corpus: it exists and is not empty; --force"),
        (("-n", "300", "-o", "no/where"), "no/where: there is no folder "),
        (("-n", "200", "-o", "out"), "a vocabulary of 200 is too small"),
        (("-n", "300", "-o", "out", "--special", "a"), "the special token 'a' is written like"),
        (
            ("-n", "300", "-o", "out", "--special", "the"),
            "the special token 'the' is also the result",
        ),
        (("-n", "300", "-o", "out", "--pattern", "cl100k"), "unknown pattern 'cl100k' (did you"),
        (("-n", "300", "-o", "out", "--pattern", "(a"), "the pattern cannot be used: "),
        (
            ("-n", "300", "-o", "out", "--weight", "fr=2"),
            "there is a weight for 'fr', but no such text",
        ),
        (("-n", "300", "-o", "out", "--weight", "zh"), "'zh' is not GROUP=NUMBER"),
        (("-n", "300", "-o", "out", "--weight", "zh=-1"), "'zh=-1' is not GROUP=NUMBER"),
        (("-n", "300", "-o", "out", "--weight", "zh=1", "--weight", "zh=2"), "has two weights"),
        (("-n", "300", "-o", "out", "--mask", "nowhere"), "nowhere: No such file or directory"),
        (("-n", "300", "-o", "out", "--validation", "1"), "1.0 is not in the range"),
        (("-n", "300", "-o", "out", "--name", "a/b"), "'a/b' cannot be the name of a file"),
        (("-n", "300", "-o", "out", "nowhere"), "nowhere: No such file or directory"),
        (("-n", "300", "-o", "out", "bad.txt"), "bad.txt: not UTF-8: byte 0xff at offset 3"),
        (("-n", "300", "-o", "out", "empty.txt"), "there is no text to learn from"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_written(
    run: Run, folder: Path, args: tuple[str, ...], message: str
) -> None:
    (folder / "bad.txt").write_bytes(b"abc\xff")
    (folder / "empty.txt").write_bytes(b"")
    before = sorted(folder.rglob("*"))
    paths = () if args[-1].endswith(("txt", "nowhere")) and "--mask" not in args else ("corpus",)
    done = run(*paths, *args)
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert "Traceback" not in done.err
    assert sorted(folder.rglob("*")) == before


def test_a_full_disk(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(encoding: object, path: Path) -> None:
        # As from a write, which names no file.
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("compat_bpe.train.write.save_tokenizer_json", fail)
    done = run("corpus", "-n", "270", "-o", "out")
    assert done.status == 2
    assert done.err == "compat-bpe: out: No space left on device\n"
    assert not (folder / "out").exists()
    assert [path.name for path in folder.iterdir()] == ["corpus"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_an_interrupt_leaves_nothing_behind(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    command = [sys.executable, "-m", "compat_bpe", "train", "-n", "300", "-o", "out", "pipe"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE,
    )
    with process:
        # When the pipe can be opened for writing, the command has opened it for reading.
        with open(folder / "pipe", "wb") as pipe:
            pipe.write(b"some text\n" * 10)
            pipe.flush()
            process.send_signal(signal.SIGINT)
        # Only a closed pipe ends a read that began just after the signal came.
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")
    assert not (folder / "out").exists()
    assert {path.name for path in folder.iterdir()} == {"corpus", "pipe"}
