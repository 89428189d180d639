"""What the argument and options of a corpus stand for."""

from __future__ import annotations

import builtins
import gzip
import io
import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Callable

import click
import pytest

from compat_bpe.cli.options.corpus import Corpus, CorpusArguments, corpus_options
from compat_bpe.cli.output import CommandError
from compat_bpe.corpus import documents
from compat_bpe.files import compressed as file_bytes


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
    parts = [("de", "hallo"), ("en", "hello"), ("zh", "你好")]
    assert read("c") == (parts, ["1 binary file skipped: c/zh/picture.png"])
    skipped = ["c/zh/picture.png: skipped: binary: NUL byte at offset 3"]
    assert read("-v", "c") == (parts, skipped)
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
    assert read("c", "--verbose")[1] == messages
    assert read("c", "-v", "--errors", "skip")[1] == messages
    # What is named, JSON lines anywhere, and all if it is said, are errors.
    for args, message in (
        (["c/bad.txt"], f"c/bad.txt: {reason}"),
        (["c", "--errors", "strict"], f"c/bad.txt: {reason}"),
        (["c", "--field", "t", "--exclude", "bad.txt"], "c/de.jsonl:1: no field 't'"),
        (["d.jsonl"], "d.jsonl:1: no field 'text'; there are none"),
        (["c", "--errors", "replace"], "c/zh/picture.png: binary: NUL byte at offset 3"),
    ):
        with pytest.raises(CommandError) as caught:
            read(*args)
        assert caught.value.message.startswith(message)
    assert read("c/bad.txt", "--errors", "replace") == ([("bad", "\ufffd")], [])
    # Of many in one file, some are named.
    parts, messages = read("d.jsonl", "--errors", "skip", "-v")
    assert parts == [("d", "the only one")]
    assert messages[0] == "d.jsonl:1: skipped: no field 'text'; there are none"
    assert messages[9].startswith("d.jsonl:10: ")
    assert messages[10:] == ["d.jsonl: skipped: 5 more"]


def test_what_is_skipped_is_summed_up_and_recorded() -> None:
    Path("c/bad.txt").write_bytes(b"\xff")
    Path("c/cut.txt.gz").write_bytes(gzip.compress(b"a")[:-3])
    Path("d.jsonl").write_bytes(b"{}\n" * 15 + b'{"text": "the only one"}')
    reason = "not UTF-8: byte 0xff at offset 0; convert it to UTF-8"
    chosen = corpus("c", "d.jsonl", "--errors", "skip")
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
            {"path": "c/bad.txt", "reason": reason},
            {"path": "c/cut.txt.gz", "reason": "gzip data that is cut short"},
            {"path": "c/zh/picture.png", "reason": "binary: NUL byte at offset 3"},
            {"path": "d.jsonl", "reason": "no field 'text'; there are none", "lines": 15},
        ],
    }
    with pytest.raises(CommandError, match=r"^nothing is left of the corpus: every file"):
        read("c/zh/picture.png", "c/bad.txt", "--errors", "skip")


def test_a_filter_that_matches_nothing_is_named() -> None:
    for args, message in (
        (["--include", "*.py"], "no files to read in c: 2 hidden (see --hidden); 1 ignored"),
        (
            ["--exclude", "*", "--hidden", "--no-ignore"],
            "no files to read in c: 4 left out by --exclude '*'",
        ),
    ):
        with pytest.raises(CommandError) as caught:
            corpus("c", *args)
        assert caught.value.message.startswith(message)
    Path("empty").mkdir()
    with pytest.raises(CommandError, match=r"^no files to read in empty$"):
        corpus("empty")


@pytest.fixture
def _locked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder and a file that may not be read: whoever may read anything is refused, too."""
    Path("locked.txt").write_text("secret")

    def refusing(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *args: Any, **options: Any) -> Any:
            if path in ("locked.txt", "c/zh"):
                raise PermissionError(13, "Permission denied", path)
            return function(path, *args, **options)

        return call

    monkeypatch.setattr(os, "scandir", refusing(os.scandir))
    monkeypatch.setattr(builtins, "open", refusing(open))
    monkeypatch.setattr(os, "access", lambda path, mode: path not in ("locked.txt", "c/zh"))


@pytest.mark.usefixtures("_locked")
def test_what_cannot_be_read_is_named_and_the_rest_is_read() -> None:
    chosen = corpus("locked.txt", "c", "missing.txt", "c/de.jsonl", "--errors", "skip")
    messages: list[str] = []
    told: list[int] = []
    parts = [part.text for part in chosen.parts(told.append, say=messages.append)]
    assert parts == ["hallo", "hello", "hallo"]
    assert messages == [
        "c/zh: Permission denied",
        "locked.txt: Permission denied",
        "missing.txt: No such file or directory",
    ]
    assert chosen.left_out()["errors"] == [
        {"path": "c/zh", "error": "Permission denied"},
        {"path": "locked.txt", "error": "Permission denied"},
        {"path": "missing.txt", "error": "No such file or directory"},
    ]
    assert sum(told) == chosen.size, "the bar comes to its end"


@pytest.mark.usefixtures("_locked")
def test_if_nothing_can_be_read_it_is_an_error() -> None:
    for path in ("locked.txt", "c/zh"):
        with pytest.raises(CommandError, match=f"^{path}: Permission denied$"):
            read(path)
    with pytest.raises(CommandError, match=r"^nothing is left of the corpus: every file"):
        read("locked.txt", "missing.txt")


def test_a_file_that_fails_after_its_beginning_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    # What was given of it cannot be taken back.
    Path("long.txt").write_bytes(b"a line\n" * 100_000)
    readinto = file_bytes._Told.readinto

    def fail(self: Any, buffer: Any) -> int:
        if self.size > 300_000:
            raise OSError(5, "Input/output error")
        return readinto(self, buffer)

    monkeypatch.setattr(file_bytes._Told, "readinto", fail)
    with pytest.raises(CommandError, match=r"^long\.txt: Input/output error$"):
        read("long.txt", "c")


@pytest.mark.skipif(os.name != "posix", reason="POSIX pipes")
def test_no_room_for_a_temporary_file_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(documents, "_IN_MEMORY", 1)
    monkeypatch.setattr(tempfile, "TemporaryFile", fail)
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(b"some text"))
    writer.start()
    with pytest.raises(CommandError, match=f"^{tempfile.gettempdir()}: No space left on device$"):
        read("c/de.jsonl", "pipe", "--errors", "skip")
    writer.join()


def test_standard_input_that_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(CommandError, match=r"^standard input is closed$"):
        read()
