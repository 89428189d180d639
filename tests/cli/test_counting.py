from __future__ import annotations

import codecs
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.cli import counting
from compat_bpe.cli.count_files import count_files
from compat_bpe.cli.counting import Counts, FileCounter, Outcome, Part
from compat_bpe.cli.progress import FileProgress
from compat_bpe.files.walk import Walk
from tests.examples import shared_fixture
from tests.strategies import texts

gpt2 = get_encoding("gpt2")

# UTF-32's other one begins with one of these.
MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)

# Every example writes the file anew, so it may be shared.


@pytest.fixture(params=[counting._BLOCK, 16])
def _block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files read at once, and block by block, though they are small."""
    monkeypatch.setattr(counting, "_BLOCK", request.param)


@pytest.mark.usefixtures("_block")
@shared_fixture()
@given(text=texts)
def test_any_text_is_counted_exactly(tmp_path: Path, text: str) -> None:
    data = text.encode("utf-8", "replace")
    path = tmp_path / "text"
    path.write_bytes(data)
    counts = Counts(gpt2.count(data.decode()), len(data), len(data.decode()))
    advanced: list[int] = []
    outcome = FileCounter(gpt2, allow_nul=True).count(Part(str(path)), advanced.append)
    assert outcome == Outcome(counts)
    assert sum(advanced) == len(data)


some_bytes = st.lists(
    st.binary(max_size=20) | st.text(max_size=20).map(lambda text: text.encode("utf-8", "replace"))
).map(b"".join)


def first_wrong(data: bytes) -> int | None:
    """Where the first byte is that is not UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


@pytest.mark.usefixtures("_block")
@shared_fixture()
@given(data=some_bytes)
def test_any_bytes_are_text_or_named_by_the_first_that_is_not(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    outcome = FileCounter(gpt2, allow_nul=True).count(Part(str(path)))
    wrong = first_wrong(data)
    if wrong is None:
        text = data.decode()
        assert outcome == Outcome(Counts(gpt2.count(text), len(data), len(text)))
    elif not data.startswith(MARKS):
        reason = f"not UTF-8: byte 0x{data[wrong]:02x} at offset {wrong}; convert it to UTF-8"
        assert outcome == Outcome(None, reason)
    replaced = data.decode("utf-8", "replace")
    counts = Counts(gpt2.count(replaced), len(data), len(replaced))
    assert FileCounter(gpt2, allow_nul=True, replace=True).count(Part(str(path))) == Outcome(counts)


def test_binary_stays_binary_where_bytes_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"\xff\0")
    outcome = FileCounter(gpt2, replace=True).count(Part(str(path)))
    assert (outcome.counts, outcome.was_read) == (None, True)
    assert "NUL byte at offset 1" in outcome.reason


def test_a_file_that_has_gone_was_not_read(tmp_path: Path) -> None:
    outcome = FileCounter(gpt2).count(Part(str(tmp_path / "gone")))
    assert outcome == Outcome(None, "No such file or directory", was_read=False)


class Endless(io.RawIOBase):
    """A file that nobody could read at once."""

    def __init__(self) -> None:
        self.given = 0

    def read(self, size: int = -1, /) -> bytes:
        assert 0 < size <= 1 << 20
        self.given += size
        if self.given > 5_000_000:
            raise OSError("enough")
        return b"hello world " * (size // 12)


def test_a_file_is_not_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Endless()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=endless))
    monkeypatch.setattr(counting, "_BLOCK", 12 << 16)
    assert FileCounter(gpt2).count(Part("-")) == Outcome(None, "enough", was_read=False)
    assert endless.given > 5_000_000


@pytest.mark.parametrize(
    "data", [b"hello world\n" * 10, b"hello world\n" * 200_000, "中文".encode() * 400_000]
)
def test_progress_comes_after_the_work_and_in_small_steps(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "text"
    path.write_bytes(data)
    counted = told = 0
    steps: list[int] = []

    def count(text: str) -> int:
        nonlocal counted
        counted += len(text.encode())
        return 1

    def advance(size: int) -> None:
        nonlocal told
        told += size
        steps.append(size)
        assert told <= counted

    encoding: Any = SimpleNamespace(count=count, core=gpt2.core)
    encoding.continued = encoding
    FileCounter(encoding).count(Part(str(path)), advance)
    assert told == len(data)
    if b"\n" in data:
        assert max(steps) <= counting._BLOCK
    else:  # it has no cut point, so all the work is done in the end
        assert steps == [len(data)]


class Fake(FileProgress):
    """What was told, instead of a bar."""

    def __init__(self) -> None:
        super().__init__(0, 0, io.StringIO())
        self.files = 0
        self.bytes = 0
        self.steps: list[int] = []

    def advance(self, size: int) -> None:
        self.bytes += size
        self.steps.append(size)

    def file_done(self) -> None:
        self.files += 1


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Some files that are counted by workers, though they are few and small."""
    monkeypatch.setattr("compat_bpe.cli.workers.WORTH_WORKERS", 0)
    monkeypatch.setattr("compat_bpe.cli.count_files._SHARE", 10)
    for number in range(20):
        (tmp_path / f"{number:02}").write_text("hello world " * number)
    (tmp_path / "03").write_bytes(b"\xff")
    return tmp_path


def outcomes(folder: Path, jobs: int | None, progress: FileProgress) -> list[Outcome]:
    found = list(Walk().find([str(folder), str(folder / "missing"), str(folder / "01")]))
    return list(count_files(FileCounter(gpt2), found, jobs, progress))


def test_workers_count_as_one_process_does(folder: Path) -> None:
    alone, together = Fake(), Fake()
    expected = outcomes(folder, 1, alone)
    assert outcomes(folder, 2, together) == expected
    assert (together.files, together.bytes) == (alone.files, alone.bytes)
    assert alone.files == len(expected) == 22


def test_workers_tell_of_their_work_in_small_steps(tmp_path: Path) -> None:
    data = b"hello world\n" * 300_000
    (tmp_path / "large").write_bytes(data)
    progress = Fake()
    found = list(Walk().find([str(tmp_path / "large")]))
    ((counts, *_),) = count_files(FileCounter(gpt2), found, 2, progress)
    assert counts == Counts(900_000, len(data), len(data))
    assert progress.bytes == len(data)
    assert max(progress.steps) < 400_000  # of parts of a million


@pytest.mark.parametrize(
    "worker",
    ["import os; os._exit(1)", "import sys; sys.stdin.buffer.read(9); sys.stdout.write('x')"],
)
def test_what_a_worker_does_not_do_is_done_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch, worker: str
) -> None:
    expected = outcomes(folder, 1, Fake())
    monkeypatch.setattr("compat_bpe.parallel.processes._CODE", worker)
    assert outcomes(folder, 2, Fake()) == expected


def test_all_is_done_here_where_there_are_no_processes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = outcomes(folder, 1, Fake())

    def refuse(*args: object, **options: object) -> None:
        raise OSError("no processes here")

    monkeypatch.setattr("subprocess.Popen", refuse)
    assert outcomes(folder, None, Fake()) == expected
