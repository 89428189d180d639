"""What the argument and options of a corpus stand for."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from compat_bpe.cli.options.corpus import Corpus, CorpusArguments, corpus_options
from compat_bpe.cli.output import CommandError


@click.command()
@corpus_options
def command(corpus: CorpusArguments) -> Corpus:
    return corpus.find()


def corpus(*args: str) -> Corpus:
    chosen = command.main(list(args), standalone_mode=False)
    assert isinstance(chosen, Corpus)
    return chosen


def read(*args: str) -> tuple[list[tuple[str, str]], list[str]]:
    """The group and the text of each part, and the messages."""
    messages: list[str] = []
    parts = corpus(*args).parts(say=messages.append)
    return [(part.group, part.text) for part in parts], messages


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, data in {
        "c/zh/a.txt": "你好".encode(),
        "c/zh/.a.txt": b"hidden",
        "c/zh/a.bak": b"ignored",
        "c/zh/picture.png": b"PNG\0",
        "c/en/more/b.txt.gz": gzip.compress(b"hello"),
        "c/de.jsonl": b'{"text": "hallo", "lang": "d", "title": "Gru\xc3\x9f"}\n',
        "c/.gitignore": b"*.bak\n",
    }.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(data)
    Path("c/.git").mkdir()


def test_files_of_a_directory_are_found_as_count_finds_them() -> None:
    skipped = ["c/zh/picture.png: skipped: binary: NUL byte at offset 3"]
    parts = [("de", "hallo"), ("en", "hello"), ("zh", "你好")]
    assert read("c") == (parts, skipped)
    assert read("c", "--exclude", "*.png", "--exclude", "en") == ([parts[0], parts[2]], [])
    assert read("--include", "*.txt", "c", "c/de.jsonl") == ([parts[2], parts[0]], [])
    found = read("c/zh", "--hidden", "--no-ignore", "--exclude", "*.png", "--exclude", ".git*")
    assert found == ([(".a.txt", "hidden"), ("a", "ignored"), ("a", "你好")], [])


def test_fields_are_chosen() -> None:
    assert read("c/de.jsonl", "--field", "title", "--group-field", "lang")[0] == [("d", "Gruß")]


def test_without_a_path_it_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b'{"text": "a"}\n'
    for args, expected in (((), data.decode()), (("-", "--jsonl"), "a")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        assert read(*args) == ([("-", expected)], [])


def test_sizes_are_those_that_are_told_of() -> None:
    told: list[int] = []
    done: list[None] = []
    chosen = corpus("c")
    list(chosen.parts(told.append, lambda: done.append(None), lambda message: None))
    sizes = [os.path.getsize(file.path) for file in chosen.files]
    assert chosen.size == sum(sizes) == sum(told)
    assert len(done) == len(sizes) == 4


@pytest.mark.skipif(os.name != "posix", reason="POSIX pipes")
def test_the_size_of_a_pipe_is_not_known() -> None:
    os.mkfifo("pipe")
    assert corpus("c", "pipe").size is None


def test_damage_is_an_error_or_left_out() -> None:
    Path("c/bad.txt").write_bytes(b"\xff")
    Path("d.jsonl").write_bytes(b"{}\n" * 15 + b'{"text": "the only one"}')
    reason = "not UTF-8: byte 0xff at offset 0; convert it to UTF-8"
    messages = [
        f"c/bad.txt: skipped: {reason}",
        "c/zh/picture.png: skipped: binary: NUL byte at offset 3",
    ]
    assert read("c")[1] == messages
    assert read("c", "--errors", "skip")[1] == messages
    # What is named, JSON lines anywhere, and all if it is said, are errors.
    for args, message in (
        (["c/bad.txt"], f"c/bad.txt: {reason}"),
        (["c", "--errors", "strict"], f"c/bad.txt: {reason}"),
        (["c", "--field", "t", "--exclude", "bad.txt"], "c/de.jsonl:1: there is no field 't'"),
        (["d.jsonl"], "d.jsonl:1: there is no field 'text'; there are none"),
        (["c", "--errors", "replace"], "c/zh/picture.png: binary: NUL byte at offset 3"),
    ):
        with pytest.raises(CommandError) as caught:
            read(*args)
        assert caught.value.message.startswith(message)
    assert read("c/bad.txt", "--errors", "replace") == ([("bad", "\ufffd")], [])
    # Of many in one file, some are named.
    parts, messages = read("d.jsonl", "--errors", "skip")
    assert parts == [("d", "the only one")]
    assert messages[0] == "d.jsonl:1: skipped: there is no field 'text'; there are none"
    assert messages[9].startswith("d.jsonl:10: ")
    assert messages[10:] == ["d.jsonl: skipped: 5 more"]


def test_what_cannot_be_read_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommandError, match=r"^missing\.txt: No such file or directory$"):
        read("c", "missing.txt", "--errors", "skip")
    with pytest.raises(CommandError, match=r"^no files to read in c; --hidden and --no-ignore"):
        corpus("c", "--include", "*.py")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(CommandError, match=r"^-: standard input is closed$"):
        read()

    def refuse(path: str) -> Any:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(CommandError, match=r"^c: Permission denied$"):
        corpus("c")
