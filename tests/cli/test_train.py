"""``compat-bpe train``: what it learns, writes and says; kinds are in test_train_kinds.py."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest

from compat_bpe import load
from compat_bpe.files import compressed
from compat_bpe.train import train_bpe
from tests.cli.running import (
    TextResult,
    cases,
    command,
    environment,
    objects,
    posix,
    read_json,
    run_process,
    started,
    sweep,
    write,
)

DOGS, WORLD = "the dog and the cat\n" * 30, "世界你好\n" * 3
MANIFEST = "out/manifest.json"


@pytest.fixture(autouse=True)
def _corpus() -> None:
    write({"corpus/en/a.txt": DOGS, "corpus/zh.txt": WORLD, "rules": "dog → D\n"})


def train(line: str, stdin: str | bytes = b"", status: int = 0) -> TextResult:
    done = command(f"train {line}", stdin=stdin)
    assert done.status == status, done.err
    return done


def check_ranks(path: str, texts: list[str], size: int) -> None:
    """Check that a vocabulary has the ranks that the library learns."""
    expected = train_bpe(texts, size)._mergeable_ranks
    assert load(path, pattern="gpt2")._mergeable_ranks == expected


def test_it_learns_what_the_library_learns() -> None:
    assert train("corpus -n 280 -o out --special <|end|>").out == (
        "280 tokens, 23 of them merges, from 2 documents of 639 bytes\n"
        "out: encoder.json, merges.txt, out.tiktoken, token_map.tsv, tokenizer.json, "
        "tokenizer_config.json, vocab.bpe, vocab.json, manifest.json\n"
    )
    check_ranks("out/out.tiktoken", [DOGS, WORLD], 279)  # and the special token


def test_the_manifest() -> None:
    settings = "--weight zh=2 --normalize NFC --mask rules --min-frequency 2"
    manifest = json.loads(train(f"corpus -n 270 -o out --json --format gpt2 {settings}").out)
    assert manifest == read_json(MANIFEST)
    corpus = manifest["corpus"]
    assert (corpus["paths"], corpus["masked"]) == (["corpus"], [30])
    assert corpus["kept"]["documents"] == 2
    factors = manifest["metrics"]["factors"]
    assert (factors.keys(), factors["en"]) == ({"en", "zh"}, 1)
    assert manifest["files"].keys() == {"encoder.json", "vocab.bpe"}


def test_the_manifest_has_every_setting() -> None:
    train("corpus -n 270 -o plain")
    manifest = read_json("plain/manifest.json")
    assert (manifest["pattern"], manifest["special_tokens"]) == ("gpt2", {})
    assert json.dumps(manifest["settings"]) == (
        '{"vocab_size": 270, "num_merges": null, "min_frequency": 1, "max_token_length": null, '
        '"weights": {}, "convergence": null, "start": null, "max_words": null, "not_joined": [], '
        '"normalization": null, "mask": [], "drop_duplicates": null, "validation": 0.0, '
        '"field": "text", "group_field": null, "errors": null}'
    )
    train(
        "corpus -o all --merges 3 --min-frequency 2 --max-token-length 4 --weight zh=2 "
        "--weight en=1.5 --normalize NFKC --mask rules --drop-duplicates lines --validation 0.01 "
        "--field t --group-field g --errors skip --pattern llama3 --special <a>"
    )
    manifest = read_json("all/manifest.json")
    assert (manifest["pattern"], [*manifest["special_tokens"]]) == ("llama3", ["<a>"])
    assert json.dumps(manifest["settings"]) == (
        '{"vocab_size": null, "num_merges": 3, "min_frequency": 2, "max_token_length": 4, '
        '"weights": {"zh": 2.0, "en": 1.5}, "convergence": null, "start": null, "max_words": null, '
        '"not_joined": [], "normalization": "NFKC", "mask": [["dog", "D"]], '
        '"drop_duplicates": "lines", "validation": 0.01, "field": "t", "group_field": "g", '
        '"errors": "skip"}'
    )


def test_standard_input_json_lines_and_gzip() -> None:
    lines = '{"t": "one two two"}\n{"t": "two"}\n'
    write({"x.jsonl.gz": gzip.compress(lines.encode())})
    for args, stdin in (("--jsonl", lines), ("x.jsonl.gz", "")):
        train(f"{args} --field t -n 262 -o out --force --format tiktoken", stdin)
        check_ranks("out", ["one two two", "two"], 262)


def test_what_is_held_out() -> None:
    texts = [f"text number {number}\n" for number in range(300)]
    write({"many.jsonl": "".join(json.dumps({"text": text}) + "\n" for text in texts)})
    done = train("many.jsonl -n 300 -o out --validation 0.2")
    assert "Held-out text (" in done.out
    assert "bytes per token\n" in done.out
    lines = Path("out/validation.jsonl").read_text("utf-8").splitlines()
    held_out = [json.loads(line)["text"] for line in lines]
    assert 30 < len(held_out) < 90
    check_ranks("out/out.tiktoken", [text for text in texts if text not in held_out], 300)


@cases(
    r"""
corpus -n 260 --validation 0.000001 → 260 tokens, 4 of them merges, from 2 documents of 639 bytes →
    --validation 1e-06 is too small for this corpus; nothing was held out
corpus --merges 1000 --min-frequency 5 →  →
     merges, not 1,000: no pair that may be merged occurs 5 times or more\n
one -n 300 → 258 tokens, 2 of them merges, from 1 document of 4 bytes
two -n 0.3k →  → compat-bpe: 1 merge, not 44: no pair is left to merge\n
""",
    "args first said",
)
def test_what_is_said(args: str, first: str, said: str) -> None:
    write({"one": "a ab", "two": "ab"})
    done = train(f"{args} -o out")
    assert done.out.startswith(first)
    assert said in done.err
    assert done.err.count("\n") <= 1


def test_roles_become_special_tokens() -> None:
    roles = {"bos": "<|begin|>", "eos": "<|end|>", "unk": "<|p|>", "pad": "<|p|>"}
    args = " ".join(f"--{role} {name}" for role, name in sorted(roles.items()))
    train(f"corpus -n 280 -o out --special <|a|> --special <|end|> {args}")
    manifest = read_json(MANIFEST)
    expected = {"<|a|>": 276, "<|end|>": 277, "<|begin|>": 278, "<|p|>": 279}
    assert (manifest["special_tokens"], manifest["roles"]) == (expected, roles)
    config = read_json("out/tokenizer_config.json")
    assert {role: config[f"{role}_token"] for role in roles} == roles
    assert load("out/out.tiktoken").encode("<|p|>", allowed_special="all") == [279]


def test_what_is_left_out_is_recorded() -> None:
    write({"corpus/picture.png": b"PNG\0"})
    done = train("missing.txt corpus -n 270 -o out --validation 0.01", status=2)
    assert done.err.splitlines()[:2] == [
        "compat-bpe: missing.txt: No such file or directory",
        "compat-bpe: 1 binary file skipped: corpus/picture.png",
    ]
    assert done.out.startswith("270 tokens, 14 of them merges, from 2 documents of 639 bytes\n")
    check_ranks("out/out.tiktoken", [DOGS, WORLD], 270)
    corpus = read_json(MANIFEST)["corpus"]
    assert corpus["errors"] == [{"path": "missing.txt", "error": "No such file or directory"}]
    skipped = {"path": "corpus/picture.png", "reason": "binary: NUL byte at offset 3"}
    assert corpus["skipped"] == [skipped]


def test_own_earlier_output_can_be_left_out_or_beside() -> None:
    write({"merges.txt": DOGS})
    train("merges.txt -n 270 -o . --force --format tiktoken")
    train("corpus -n 270 -o corpus/out")
    again = "corpus -n 271 -o corpus/out --force"
    assert ": the file is one of the inputs; " in train(again, status=2).err
    train(f"{again} --exclude out")


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    # As from a write, which names no file.
    fail = mock.Mock(side_effect=OSError(28, "No space left on device"))
    monkeypatch.setattr("compat_bpe.train.write.save_tokenizer_json", fail)
    done = train("corpus -n 270 -o out", status=2)
    assert done.err == "compat-bpe: out: No space left on device\n"
    assert sorted(os.listdir()) == ["corpus", "rules"]


@posix
def test_an_interrupt_leaves_nothing_behind() -> None:
    from fcntl import ioctl
    from termios import FIONREAD

    os.mkfifo("pipe")
    with started("train", "-n", "300", "-o", "out", "pipe") as process:
        with open("pipe", "wb") as pipe:
            pipe.write(b"some text\n" * 10)
            pipe.flush()
            # Once the command has read it, it is done with opening the pipe.
            while any(ioctl(pipe, FIONREAD, bytes(4))):
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
        # Only a closed pipe ends a read that began just after the signal came.
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")
    assert sorted(os.listdir()) == ["corpus", "pipe", "rules"]


# Each kind of file has the same texts for ``train``, ``corpus`` and ``report``.

DOCUMENTS = [f"document {number}: words, {'and ' * number}more words\n" for number in range(40)]
LINES = "".join(json.dumps({"t": text}) + "\n" for text in DOCUMENTS).encode()


def write_documents(name: str) -> None:
    """Write the documents into a file of the kind that its name ends with, in several parts."""
    compress: Any = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    _, ending = os.path.splitext(name)
    if ending in (".parquet", ".arrow"):
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import feather, parquet

        table = pyarrow.table({"t": DOCUMENTS, "other": range(40)})
        if ending == ".arrow":
            feather.write_feather(table, name)
        else:
            parquet.write_table(table, name, row_group_size=7)
        return
    if ending == ".zst":
        try:
            compress[ending] = compressed._import_zstd().compress
        except ImportError as error:
            pytest.skip(str(error))
    write({name: compress[ending](LINES[:99]) + compress[ending](LINES[99:])})


@pytest.mark.parametrize(
    "name",
    [
        *("lines.jsonl.gz", "lines.jsonl.zst"),
        *map(sweep, ("lines.jsonl.bz2", "lines.jsonl.xz", "table.parquet", "table.arrow")),
    ],
)
def test_the_same_texts(name: str) -> None:
    write({"plain.jsonl": LINES})
    write_documents(name)
    found = []
    for path in ("plain.jsonl", name):
        assert train(f"-n 280 -o out --force --name v --field t {path}").err == ""
        counts = command(f"corpus counts --field t {path}").out
        total = json.loads(command(f"report -e gpt2 --field t --json {path}").out)["total"]
        manifest = read_json(MANIFEST)
        found.append((manifest["corpus"]["sha256"], manifest["files"], counts, total))
    assert found[0] == found[1]
    assert found[0][3]["documents"] == len(DOCUMENTS)


@pytest.mark.parametrize("name", ["table.parquet", "table.arrow"])
def test_a_table_without_the_column_is_an_error_in_a_directory_too(name: str) -> None:
    write_documents(name)
    args = f"-n 280 -o out --include *{name}"
    said = f"compat-bpe: ./{name}: no column 'text'; the columns are 't', 'other'"
    assert train(f"{args} .", status=2).err.startswith(said)
    skipped = f"compat-bpe: 1 damaged file skipped: ./{name}"
    assert train(f"{args} --errors skip .", status=2).err.splitlines()[0] == skipped


def test_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression", "backports", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    write(dict.fromkeys(("lines.jsonl.zst", "table.parquet"), b""))
    for name, extra in (("lines.jsonl.zst", "zstd"), ("table.parquet", "parquet")):
        done = train(f"-n 280 -o out --errors skip {name}", status=2)
        assert done.err.startswith(f"compat-bpe: {name}: ")
        assert f"pip install '.[{extra}]' in a checkout of compat-bpe" in done.err


# It stops by convergence, and ``report`` shows the curve.

STOP = "--patience 2 --min-improvement 0.05 --check-every 4 --validation 0.2"


@pytest.fixture
def _numbers() -> None:
    lines = [
        f"the {'na' * (n % 7)}{'ba' * (n % 4)}s and {'ti' * (n % 5)}n number {n}" for n in range(90)
    ]
    write({f"numbers/{n}.txt": "\n".join(lines[n : n + 3]) for n in range(0, 90, 3)})


@pytest.mark.usefixtures("_numbers")
@pytest.mark.parametrize("model", ["bpe", "wordpiece", "character-bpe"])
def test_it_stops(model: str) -> None:
    done = train(f"numbers --model {model} -o out {STOP}")
    manifest = read_json(MANIFEST)
    metrics = manifest["metrics"]
    merges = metrics["merges"]
    assert metrics["stopped"] == "convergence"
    convergence = {"patience": 2, "min_improvement": 0.05, "check_every": 4}
    assert manifest["settings"]["convergence"] == convergence
    why = "bytes per token improved by less than 5% in 2 checks"
    assert done.err == f"compat-bpe: {merges} merges: {why}\n"
    assert [check["merges"] for check in metrics["curve"]] == [*range(0, merges + 1, 4)]
    lines = Path("out/validation.jsonl").read_text().splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    enc = load("out")
    tokens = sum(len(enc.encode_ordinary(text)) for text in texts)
    last = {"tokens": enc.n_vocab, "merges": merges}
    assert metrics["curve"][-1] == {**last, "bytes_per_token": sum(map(len, texts)) / tokens}
    assert "learning curve of out: bytes per token" in done.out
    train(f"numbers --model {model} --merges {merges} -o same --validation 0.2")
    for name in ("tokenizer.json", "token_map.tsv"):
        assert Path("same", name).read_bytes() == Path("out", name).read_bytes()
    (report,) = objects("report -e out -e same/tokenizer.json -e gpt2 --json numbers")
    curves = [one["learning_curve"] for one in report["encodings"]]
    assert curves == [metrics["curve"], [], []]


@pytest.mark.usefixtures("_numbers")
@cases(
    """
unigram -n 30 --patience 1 --min-improvement 0.02 →
    tokens, not 30: the next round of pruning cost 2% or more of bytes per token
sentencepiece-unigram -n 26 --patience 1 --min-improvement 0 →
    tokens, not 26: the next round of pruning cost of bytes per token
sentencepiece-bpe -n 200 --check-every 9 --patience 1 --min-improvement 0.05 →
    tokens, not 200: bytes per token improved by less than 5% in 1 check
word-level --check-every 9 --patience 1 --min-improvement 0.05 →
    tokens: bytes per token improved by less than 5% in 1 check
bpe --patience 1 --min-improvement 0 --check-every 9 →
    merges: bytes per token did not improve in 1 check
""",
    "args message",
)
def test_other_ways_to_stop(args: str, message: str) -> None:
    done = train(f"numbers -o out --validation 0.2 --model {args}")
    metrics = read_json(MANIFEST)["metrics"]
    assert metrics["stopped"] == "convergence"
    assert done.err.rstrip("\n").endswith(message)
    size = load("out").n_vocab
    assert done.out.startswith(f"{size} tokens, ")
    assert size in [check["tokens"] for check in metrics["curve"]]
    assert "learning curve of out: bytes per token" in done.out


@pytest.mark.usefixtures("_numbers")
def test_a_curve_without_stopping_and_the_lowest_score() -> None:
    train("numbers -o out --merges 10 --check-every 4 --validation 0.2")
    metrics = read_json(MANIFEST)["metrics"]
    assert [check["merges"] for check in metrics["curve"]] == [0, 4, 8, 10]
    assert metrics["stopped"] == "size"
    args = "numbers --model wordpiece --rule likelihood -n 500"
    done = train(f"{args} -o lowest --min-score 0.01")
    assert done.err.endswith(" tokens, not 500: no pair has a score of 0.01 or more\n")
    metrics = read_json("lowest/manifest.json")["metrics"]
    assert metrics["stopped"] == "score"
    train(f"{args} -o all")
    assert 0 < metrics["merges"] < read_json("all/manifest.json")["metrics"]["merges"]


# ``--checkpoint``: a run that was stopped by whatever goes on, with the same files.

ARGUMENTS = (
    "--merges 60 --validation 0.3 --check-every 20 -j 1 --weight a=2 --drop-duplicates lines "
    "--name v"
)


@pytest.fixture
def _groups() -> None:
    random = Random(1)
    for name in (f"groups/{group}/{number}.txt" for group in "ab" for number in range(8)):
        words = ["".join(random.choices("abcdefgh", k=random.randint(1, 9))) for _ in range(90)]
        write({name: "\n".join(" ".join(words[at : at + 9]) for at in range(0, 90, 9))})
    train(f"{ARGUMENTS} -o expected groups")


def files(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


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


def stopped(every: str, code: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Begin the training, or go on with it, in a process that is stopped."""
    args = f"train {ARGUMENTS} -o stopped --checkpoint kept --checkpoint-every {every} groups"
    return run_process(*args.split(), code=code, env=environment(**variables))


def go_on(status: int = 0) -> str:
    """Go on with the training to its end; return what is said."""
    args = f"{ARGUMENTS} -o stopped --checkpoint kept --checkpoint-every 60 groups"
    return train(args, status=status).err


no_windows = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")


@no_windows
@pytest.mark.usefixtures("_groups")
@pytest.mark.parametrize("name", ["SIGKILL", sweep("SIGTERM"), sweep("SIGINT")])
def test_a_killed_run_goes_on(name: str) -> None:
    # Killed while it counts, then while it merges.
    for fed, merges in (("2", "0"), ("0", "10")):
        done = stopped("0", _STOPPED, FED=fed, MERGES=merges, SIGNAL=name)
        assert done.returncode == (-9 if name == "SIGKILL" else 128 + getattr(signal, name))
        assert len(read_json("kept/state.json")["state"]["merges"]) == int(merges)
        assert not os.path.exists("stopped")
    assert "kept: going on from the checkpoint: all texts are counted, " in go_on()
    assert not os.path.exists("kept")
    assert files("stopped") == files("expected")


@no_windows
@pytest.mark.usefixtures("_groups")
@pytest.mark.parametrize("at", ["write._put_in_place", "checkpoint.Checkpoint.remove"])
def test_a_run_that_was_killed_at_its_end_is_ended(at: str) -> None:
    for _ in range(2):
        assert stopped("60", _KILLED, AT=at).returncode == -9
    assert len([*Path().glob("stopped.*.tmp")]) == (at == "write._put_in_place")
    go_on()
    assert sorted(os.listdir()) == ["corpus", "expected", "groups", "rules", "stopped"]
    assert files("stopped") == files("expected")


@no_windows
@pytest.mark.usefixtures("_groups")
def test_another_vocabulary_is_not_taken_for_what_a_run_has_written() -> None:
    train("--merges 9 -o stopped groups")
    before = files("stopped")
    assert "the folder is not empty" in go_on(2)
    shutil.move("stopped", "other")
    assert stopped("60", _KILLED, AT="write._put_in_place").returncode == -9
    shutil.move("other", "stopped")
    assert "the folder is not empty" in go_on(2)
    assert files("stopped") == before
    assert os.path.exists("kept/state.json")
