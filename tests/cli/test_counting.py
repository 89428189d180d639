from __future__ import annotations

import codecs
import io
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.cli import counting
from compat_bpe.cli.counting import (
    _LARGEST_SHARE,
    _SHARE,
    Counts,
    FileCounter,
    Outcome,
    Part,
    _joined,
    _shares,
    count_files,
)
from compat_bpe.cli.progress import FileProgress
from compat_bpe.files.walk import Walk
from tests.examples import shared_fixture
from tests.fit.hard_encodings import encoding_of
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
    counts = Counts((gpt2.count(data.decode()),), len(data), len(data.decode()))
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
        assert outcome == Outcome(Counts((gpt2.count(text),), len(data), len(text)))
    elif not data.startswith(MARKS):
        reason = f"not UTF-8: byte 0x{data[wrong]:02x} at offset {wrong}"
        assert outcome == Outcome(None, reason, "convert it to UTF-8")
    replaced = data.decode("utf-8", "replace")
    counts = Counts((gpt2.count(replaced),), len(data), len(replaced))
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
    monkeypatch.setattr("compat_bpe.cli.counting.WORTH_WORKERS", 0)
    monkeypatch.setattr("compat_bpe.cli.counting._SHARE", 10)
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
    assert counts == Counts((900_000,), len(data), len(data))
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


@given(st.lists(st.integers(0, 40 * _SHARE)), st.integers(1, 5))
def test_each_file_is_in_one_share_in_order_and_the_last_are_small(
    sizes: list[int], workers: int
) -> None:
    parts = [Part(str(index), index, 2 * index) for index in range(len(sizes))]
    shares = _shares(list(zip(parts, sizes)), workers)
    assert [item for share in shares for item in share] == list(enumerate(parts))
    left = sum(sizes)
    for share in shares:
        # Without its last file it is not large enough.
        total = sum(sizes[index] for index, _ in share[:-1])
        assert total < max(_SHARE, min(_LARGEST_SHARE, left / (2 * workers)))
        left -= sum(sizes[index] for index, _ in share)
    assert sum(sum(sizes[index] for index, _ in share) < _SHARE for share in shares) <= 1


def test_a_counter_can_be_sent(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"hi\0hi\xff")
    encoding = Encoding(
        "tiny",
        pat_str=r"\w+|\W",
        mergeable_ranks={**{bytes([byte]): byte for byte in range(256)}, b"hi": 256},
        special_tokens={},
    )
    counter = FileCounter(encoding, allow_nul=True, replace=True)
    sent = pickle.loads(pickle.dumps(counter))
    part = Part(str(path))
    assert sent.count(part) == counter.count(part)
    assert sent.count(part).counts == ((6,), 6, 6)


# Large files in parts: the counts are those of the whole.

WHOLE = Encoding(
    "no cuts",
    pat_str=r"[\s\S]+",
    mergeable_ranks={**{bytes([byte]): byte for byte in range(256)}, b"ab": 256},
    special_tokens={},
)
ENCODINGS = {
    **{name: get_encoding(name) for name in ("gpt2", "o200k_base", "deepseek_v3")},
    "no cuts": WHOLE,
    **{name: encoding_of(name) for name in ("llama", "spm bpe", "unigram, first", "word pieces")},
}

# Much of what is around a place where a part might end.
long_texts = st.lists(
    texts
    | st.sampled_from(["\r\n", "\r", " \r\n\r\n", "\U0001f600", "é", "中文字", "a" * 30, " "]),
    min_size=3,
    max_size=30,
).map("".join)


def in_parts(counter: FileCounter, path: Path, size: int) -> tuple[list[Part], Outcome]:
    """The parts of a file, each of about so many bytes, and what they come to."""
    with mock.patch.multiple(counting, _PART=size, _WINDOWS=(4, 16)):
        found = counting.parts_of(counter, str(path), path.stat().st_size)
    assert sum(part_size for _, part_size in found) == path.stat().st_size
    some = [part for part, _ in found]
    assert some[0].start == 0
    assert some[-1].end is None
    assert [part.end for part in some[:-1]] == [part.start for part in some[1:]]
    return some, _joined([counter.count(part) for part in some])


@pytest.mark.parametrize("name", ENCODINGS)
@shared_fixture()
@given(text=long_texts, size=st.integers(1, 40), block=st.sampled_from([counting._BLOCK, 7]))
def test_parts_have_the_count_of_the_whole(
    tmp_path: Path, name: str, block: int, text: str, size: int
) -> None:
    path = tmp_path / "text"
    path.write_bytes(text.encode("utf-8", "replace"))
    counter = FileCounter(ENCODINGS[name], allow_nul=True)
    whole = counter.count(Part(str(path)))
    with mock.patch.object(counting, "_BLOCK", block):
        assert in_parts(counter, path, size)[1] == whole


@shared_fixture()
@given(
    data=st.lists(
        st.binary(max_size=8) | texts.map(lambda text: text.encode("utf-8", "replace")), max_size=12
    ).map(b"".join),
    size=st.integers(1, 20),
    replace=st.booleans(),
)
def test_parts_of_any_bytes_have_the_outcome_of_the_whole(
    tmp_path: Path, data: bytes, size: int, replace: bool
) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    counter = FileCounter(ENCODINGS["gpt2"], replace=replace)
    assert in_parts(counter, path, size)[1] == counter.count(Part(str(path)))


def test_a_text_is_cut_soon_after_each_place(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(("hello 中文 world\r\n" * 100).encode())
    found, _ = in_parts(
        FileCounter(ENCODINGS["gpt2"]), path, 103
    )  # so that it is within characters
    assert len(found) == 19
    assert all(0 < part.start - 103 * number < 17 for number, part in enumerate(found) if number)


def test_a_text_is_cut_where_it_is_hard_to(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("é1" * 1000)
    found, _ = in_parts(FileCounter(ENCODINGS["gpt2"]), path, 100)
    assert len(found) == 30


@pytest.mark.parametrize("data", [b"a" * 1000, b"\x80" * 1000])
def test_a_text_without_cut_points_stays_whole(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "text"
    path.write_bytes(data)
    assert len(in_parts(FileCounter(ENCODINGS["gpt2"]), path, 100)[0]) == 1


def test_a_binary_file_stays_whole(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a b\0" + b"a b " * 300)
    assert len(in_parts(FileCounter(ENCODINGS["gpt2"]), path, 100)[0]) == 1
    assert len(in_parts(FileCounter(ENCODINGS["gpt2"], allow_nul=True), path, 100)[0]) > 1


def test_only_the_beginning_of_a_file_says_that_it_is_binary(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a b " * 2000 + b"\0 \0 " * 100)
    counter = FileCounter(ENCODINGS["gpt2"])
    some, outcome = in_parts(counter, path, 1000)
    assert len(some) == 8
    assert outcome == counter.count(Part(str(path)))
    assert outcome.counts is not None


def test_a_file_that_has_gone_stays_whole(tmp_path: Path) -> None:
    path = str(tmp_path / "gone")
    assert counting.parts_of(FileCounter(WHOLE), path, 10**9) == [(Part(path), 10**9)]


def test_a_file_that_has_grown_is_counted_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"hello world\n" * 100)
    counter = FileCounter(ENCODINGS["gpt2"])
    with mock.patch.object(counting, "_PART", 100):
        found = counting.parts_of(counter, str(path), 1200)
    with open(path, "ab") as file:
        file.write(b"hello world\n" * 10)
    counts = _joined([counter.count(part) for part, _ in found]).counts
    assert counts is not None
    assert counts.tokens == (330,)
