"""``compat-bpe corpus counts``, ``train --counts``, and the files that a corpus is read from."""

from __future__ import annotations

import builtins
import gzip
import json
import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Callable

import click
import pyarrow
import pytest
from pyarrow import parquet

from compat_bpe.cli.commands import corpus as corpus_command
from compat_bpe.cli.options.corpus import Corpus, CorpusArguments, corpus_options
from compat_bpe.cli.output import CommandError
from compat_bpe.corpus import chunk_counts, counts_file, documents
from compat_bpe.files import compressed as file_bytes
from tests.cli.running import TextResult, cases, command, environment, posix, run_process, write


@pytest.fixture(autouse=True)
def _corpus() -> None:
    write({"corpus/en/a.txt": "the dog\tand the cat\n" * 30, "corpus/b.png": b"\0\1"})
    write({"corpus/zh.txt": "世界你好 the\\\r\n" * 3, "rules": "dog → wolf\n"})
    write({"c/zh/a.txt": "你好", "c/zh/.a.txt": "hidden", "c/zh/a.bak": "ignored"})
    write({"c/zh/picture.png": b"PNG\0", "c/en/more/b.txt.gz": gzip.compress(b"hello")})
    write({"c/de.jsonl": '{"text": "hallo", "lang": "d", "title": "Gruß"}\n'})
    write({"d.jsonl": "{}\n" * 15 + '{"text": "the only one"}', "c/.gitignore": "*.bak\n"})
    write({"long.txt": "a line\n" * 100_000})
    os.mkdir("c/.git")


def counts(line: str, stdin: str = "", status: int = 0) -> TextResult:
    done = command(f"corpus counts {line}", stdin=stdin)
    assert done.status == status, done.err
    return done


def train(line: str, stdin: str = "") -> TextResult:
    done = command(f"train --force {line}", stdin=stdin)
    assert done.status == 0, done.err
    return done


def same_vocabulary(counted: str, texts: str) -> None:
    """Check that training writes the same files from counts as from texts."""
    for name, args in (("a", counted), ("b", texts)):
        train(f"{args} -o {name} --name same")
    for path in Path("a").iterdir():
        if path.name != "manifest.json":
            assert path.read_bytes() == Path("b", path.name).read_bytes(), path.name
    one, other = (json.loads(Path(name, "manifest.json").read_bytes()) for name in "ab")
    assert one["files"] == other["files"]
    if "lines" in one["metrics"]:  # whose ends are in texts only
        del one["metrics"]["bytes"], other["metrics"]["bytes"]
    assert one["metrics"] == other["metrics"]


def test_the_file() -> None:
    skipped = "compat-bpe: 1 binary file skipped: corpus/b.png\n"
    assert counts("corpus -o c.tsv.gz") == (0, "11 distinct chunks; 224 chunks in all\n", skipped)
    rows = (
        "chunk\tcount|\\t\t30|\\n\t32|\\r\t2|\\r\\n\t1| cat\t30| dog\t30| the\t33|\\\\\t3|and\t30"
    )
    assert gzip.decompress(Path("c.tsv.gz").read_bytes()).decode() == (
        f"{rows}|the\t30|世界你好\t3|".replace("|", "\n")
    )


@cases(
    """
 → -n 264
--pattern o200k_base → -n 264 --pattern o200k_base
--model wordpiece → -n 45 --model wordpiece
--model unigram --normalizer nfkc → -n 45 --model unigram --normalizer nfkc
--model word-level → -n 45 --model word-level
--model character-bpe → -n 45 --model character-bpe
--model sentencepiece-bpe → -n 45 --model sentencepiece-bpe
--like like/tokenizer.json → -n 45 --like like/tokenizer.json
--like spm/spm.model → -n 45 --like spm/spm.model
--like plain/plain.tiktoken → -n 264
""",
    "split learn",
)
def test_a_vocabulary_from_counts(split: str, learn: str) -> None:
    if "like/tokenizer.json" in split:
        args = "--pre-tokenizer byte-level --normalizer lowercase -n 99"
        train(f"corpus --model character-bpe {args} -o like")
    if "spm/spm.model" in split:
        train("corpus --model sentencepiece-bpe -n 40 -o spm")
    if "plain/plain.tiktoken" in split:
        train("corpus --merges 1 -o plain")
    counts(f"corpus -o c.jsonl {split}")
    same_vocabulary(f"{learn} --counts c.jsonl", f"corpus {learn}")


def test_texts_beside_counts_and_preparation() -> None:
    prepared = "--normalize NFD --mask rules --drop-duplicates lines"
    counts(f"corpus -o c.tsv {prepared} --include *.txt")
    same_vocabulary("--merges 9 --counts c.tsv", f"corpus --merges 9 {prepared}")
    counts("corpus/en -o en.tsv")
    manifest = json.loads(train("--merges 9 -o m corpus/zh.txt --counts en.tsv --json").out)
    read = manifest["corpus"]["counts"]
    assert (read["paths"], read["rows"], read["total"]) == (["en.tsv"], 7, 210)
    assert manifest["corpus"]["paths"] == ["corpus/zh.txt"]
    assert manifest["metrics"]["chunks"] == 224
    done = train("--merges 9 -o m corpus/zh.txt --counts en.tsv")
    assert "from 1 document of 57 bytes and 210 counted chunks" in done.out
    done = train("-n 260 -o out --counts -", counts("corpus").out)
    assert "260 tokens, 4 of them merges, from 224 counted chunks" in done.out


def test_the_held_out_share_is_left_out() -> None:
    write({f"corpus/{number}.txt": f"text {number}" for number in range(40)})
    figures = json.loads(counts("corpus -o c.tsv --validation 0.5 --json").out)["corpus"]
    held_out, kept = (figures[name]["documents"] for name in ("held_out", "kept"))
    assert 0 < held_out < 42
    assert kept + held_out == 42


def test_weights_are_those_of_train() -> None:
    weights = "--weight zh=3 --weight en=2"
    factors = json.loads(counts(f"corpus -o c.tsv {weights} --json").out)["factors"]
    for name, args in (("a", "--counts c.tsv"), ("b", f"corpus {weights}")):
        train(f"{args} --merges 9 -o {name} --name same")
    assert Path("a/merges.txt").read_bytes() == Path("b/merges.txt").read_bytes()
    # Groups that are kept can have weights later.
    counts("corpus -o g.jsonl --by-group")
    same_vocabulary(f"--counts g.jsonl --merges 9 {weights}", f"corpus --merges 9 {weights}")
    counts(f"g.jsonl --merge -o w.tsv {weights}")
    assert Path("w.tsv").read_bytes() == Path("c.tsv").read_bytes()
    assert factors["zh"] > factors["en"] > 0


def test_merging() -> None:
    counts("corpus/en -o en.tsv")
    counts("corpus/zh.txt -o zh.jsonl.gz")
    done = counts("--merge zh.jsonl.gz en.tsv -o both.tsv.gz")
    assert done == (0, "11 distinct chunks; 224 chunks in all\n", "")
    counts("corpus/en corpus/zh.txt -o whole.tsv.gz")
    assert Path("both.tsv.gz").read_bytes() == Path("whole.tsv.gz").read_bytes()
    done = counts("--merge both.tsv.gz both.tsv.gz --min-count 7")
    assert done.err == "compat-bpe: 7 distinct chunks, without 4 rarer ones; 430 chunks in all\n"
    assert " the\t66\n" in done.out
    os.mkdir("spark")
    table = pyarrow.table({"chunk": ["b", "a"], "count": [1, 2]})
    parquet.write_table(table, "spark/part-0.parquet")
    done = counts("--merge spark -", "b\t4\n")
    assert done.out == "chunk\tcount\na\t2\nb\t5\n"
    write({"fr.tsv": "b\t4\n"})
    counts("--merge --by-group fr.tsv spark/part-0.parquet -o by.jsonl --min-count 3")
    assert Path("by.jsonl").read_text() == (
        '{"chunk": "b", "count": 4, "group": "fr"}\n{"chunk": "b", "count": 1, "group": "part-0"}\n'
    )


def test_the_same_bytes_whatever_does_the_counting(monkeypatch: pytest.MonkeyPatch) -> None:
    counts("corpus -o a.tsv.gz --by-group")
    expected = Path("a.tsv.gz").read_bytes()
    monkeypatch.setattr(chunk_counts, "_SHARE", 50)
    monkeypatch.setattr(chunk_counts, "_WORTH_WORKERS", 99)
    monkeypatch.setattr(corpus_command, "MOST_ROWS", 3)
    monkeypatch.setattr(counts_file, "MOST_ROWS", 2)
    monkeypatch.setattr(counts_file.CountsMerger.__init__, "__defaults__", (2,))
    for jobs in ("1", "2"):
        counts(f"corpus -o a.tsv.gz --by-group -j {jobs} --force")
        assert Path("a.tsv.gz").read_bytes() == expected


@pytest.mark.sweep
def test_the_same_bytes_whatever_the_hash_seed() -> None:
    counts("corpus -o a.tsv.gz --by-group")
    for seed in ("1", "2"):
        line = f"corpus counts corpus -o {seed}.tsv.gz --by-group"
        assert run_process(*line.split(), env=environment(PYTHONHASHSEED=seed)).returncode == 0
        assert Path(f"{seed}.tsv.gz").read_bytes() == Path("a.tsv.gz").read_bytes()


def test_an_unreadable_file_is_named_and_the_rest_is_counted() -> None:
    Path("corpus/gone.txt").symlink_to("nowhere")
    done = counts("corpus/en corpus/gone.txt -o c.tsv", status=2)
    assert "corpus/gone.txt: No such file" in done.err
    assert os.path.exists("c.tsv")


# What the argument and options of a corpus stand for.


@click.command()
@corpus_options
def found(corpus: CorpusArguments) -> Corpus:
    return corpus.find()


def corpus(line: str) -> Corpus:
    chosen = found.main(line.split(), standalone_mode=False)
    assert isinstance(chosen, Corpus)
    return chosen


def read(line: str) -> tuple[list[tuple[str, str]], list[str]]:
    """The group and the text of each part, and the messages."""
    messages: list[str] = []
    parts = corpus(line).parts(say=messages.append)
    return [(part.group, part.text) for part in parts], messages


SKIPPED = "c/zh/picture.png: skipped: binary: NUL byte at offset 3"
REASON = "not UTF-8: byte 0xff at offset 0; convert it to UTF-8"


@cases(
    f"""
c → de hallo en hello zh 你好 → 1 binary file skipped: c/zh/picture.png
-v c → de hallo en hello zh 你好 → {SKIPPED}
c --exclude *.png --exclude en → de hallo zh 你好
--include *.txt c c/de.jsonl → zh 你好 de hallo
c/zh --hidden --no-ignore --exclude *.png --exclude .git* → .a.txt hidden a ignored a 你好
c/de.jsonl --field title --group-field lang → d Gruß
""",
    "line parts message",
)
def test_which_texts(line: str, parts: str, message: str) -> None:
    found, messages = read(line)
    assert [word for part in found for word in part] == parts.split()
    assert messages == ([message] if message else [])


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    write({"input": '{"text": "a"}\n'})
    for line, expected in (("", '{"text": "a"}\n'), ("- --jsonl", "a")):
        with open("input") as file, monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", file)
            assert read(line) == ([("-", expected)], [])
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(CommandError, match=r"^standard input is closed$"):
        read("")


def test_sizes_are_those_that_are_told_of() -> None:
    told: list[int] = []
    done: list[None] = []
    chosen = corpus("c")
    list(chosen.parts(told.append, lambda: done.append(None), lambda _: None))
    sizes = [os.path.getsize(file.path) for file in chosen.files]
    assert chosen.size == sum(sizes) == sum(told)
    assert len(done) == len(sizes) == 4


def check_error(line: str, message: str) -> None:
    with pytest.raises(CommandError) as caught:
        read(line)
    assert caught.value.message.startswith(message)


def test_damage_is_an_error_or_left_out() -> None:
    write({"c/bad.txt": b"\xff"})
    messages = [f"c/bad.txt: skipped: {REASON}", SKIPPED]
    assert read("c --verbose")[1] == read("c -v --errors skip")[1] == messages
    # What is named, JSON lines anywhere, and all if it is said, are errors.
    for line, message in (
        ("c/bad.txt", f"c/bad.txt: {REASON}"),
        ("No", "No: No such file or directory"),  # whose reason begins as its name does
        ("c --errors strict", f"c/bad.txt: {REASON}"),
        ("c --field t --exclude bad.txt", "c/de.jsonl:1: no field 't'"),
        ("d.jsonl", "d.jsonl:1: no field 'text'; there are none"),
        ("c --errors replace", "c/zh/picture.png: binary: NUL byte at offset 3"),
        ("--include *.py c", "no files to read in c: 2 hidden (see --hidden); 1 ignored"),
        (
            "--exclude * --hidden --no-ignore c",
            "no files to read in c: 5 left out by --exclude '*'",
        ),
        ("c/zh/picture.png c/bad.txt --errors skip", "the corpus has no text: every file"),
    ):
        check_error(line, message)
    assert read("c/bad.txt --errors replace") == ([("bad", "\ufffd")], [])
    # Of many in one file, some are named.
    parts, messages = read("d.jsonl --errors skip -v")
    assert parts == [("d", "the only one")]
    assert messages[0] == "d.jsonl:1: skipped: no field 'text'; there are none"
    assert messages[9].startswith("d.jsonl:10: ")
    assert messages[10:] == ["d.jsonl: skipped: 5 more"]
    os.mkdir("empty")
    with pytest.raises(CommandError, match=r"^no files to read in empty$"):
        corpus("empty")


def test_what_is_skipped_is_summed_up_and_recorded() -> None:
    write({"c/bad.txt": b"\xff", "c/cut.txt.gz": gzip.compress(b"a")[:-3]})
    chosen = corpus("c d.jsonl --errors skip")
    messages: list[str] = []
    list(chosen.parts(say=messages.append))
    assert messages == [
        "1 binary file skipped: c/zh/picture.png",
        "1 file that is not UTF-8 skipped: c/bad.txt",
        "1 damaged file skipped: c/cut.txt.gz",
        "15 damaged lines skipped (--verbose names them)",
    ]
    assert chosen.left_out() == {
        "errors": [],
        "skipped": [
            {"path": "c/bad.txt", "reason": REASON},
            {"path": "c/cut.txt.gz", "reason": "gzip data that is cut short"},
            {"path": "c/zh/picture.png", "reason": "binary: NUL byte at offset 3"},
            {"path": "d.jsonl", "reason": "no field 'text'; there are none", "lines": 15},
        ],
    }


def test_what_cannot_be_read_is_named_and_the_rest_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a folder and a file that may not be read: whoever may read anything is refused, too."""
    locked = ("locked.txt", "c/zh")
    write({"locked.txt": "secret"})

    def refusing(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *args: Any, **options: Any) -> Any:
            if path in locked:
                raise PermissionError(13, "Permission denied", path)
            return function(path, *args, **options)

        return call

    monkeypatch.setattr(os, "scandir", refusing(os.scandir))
    monkeypatch.setattr(builtins, "open", refusing(open))
    monkeypatch.setattr(os, "access", lambda path, mode: path not in locked)
    chosen = corpus("locked.txt c missing.txt c/de.jsonl --errors skip")
    messages: list[str] = []
    told: list[int] = []
    parts = [part.text for part in chosen.parts(told.append, say=messages.append)]
    assert parts == ["hallo", "hello", "hallo"]
    denied = dict.fromkeys(("c/zh", "locked.txt"), "Permission denied")
    errors = {**denied, "missing.txt": "No such file or directory"}
    assert messages == [f"{path}: {error}" for path, error in errors.items()]
    assert chosen.left_out()["errors"] == [
        {"path": path, "error": error} for path, error in errors.items()
    ]
    assert sum(told) == chosen.size, "the bar comes to its end"
    for path in locked:
        check_error(path, f"{path}: Permission denied")
    check_error("locked.txt missing.txt", "the corpus has no text: every file")


def test_a_file_that_fails_after_its_beginning_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # What was given of it cannot be taken back.
    readinto = file_bytes._Told.readinto
    sizes: list[int] = []

    def fail(self: Any, buffer: Any) -> int:
        if sum(sizes) > 300_000:
            raise OSError(5, "Input/output error")
        sizes.append(readinto(self, buffer))
        return sizes[-1]

    monkeypatch.setattr(file_bytes._Told, "readinto", fail)
    with pytest.raises(CommandError, match=r"^long\.txt: Input/output error$"):
        read("long.txt c")


@posix
def test_a_pipe_has_no_size_and_may_have_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(documents, "_IN_MEMORY", 1)
    monkeypatch.setattr(tempfile, "TemporaryFile", fail)
    os.mkfifo("pipe")
    assert corpus("c pipe").size is None
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(b"some text"))
    writer.start()
    with pytest.raises(CommandError, match=f"^{tempfile.gettempdir()}: No space left on device$"):
        read("c/de.jsonl pipe --errors skip")
    writer.join()
