"""Counting and encoding files: at once, in blocks, in parts by workers, and with the same errors.

Every example of a property writes the file anew, so it may be shared.
"""

from __future__ import annotations

import codecs
import io
import pickle
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.cli import counting
from compat_bpe.cli.commands import encode
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
from compat_bpe.cli.input import Reading, read_pieces
from compat_bpe.cli.output import CommandError
from compat_bpe.cli.progress import FileProgress
from compat_bpe.cli.tokens import LAYOUTS, Pieces, encoded
from compat_bpe.files.walk import Walk
from compat_bpe.parallel.pool import WorkerKilled
from tests.cli.running import TIMEOUT, run_process, started, write
from tests.examples import shared_fixture
from tests.fit.hard_encodings import encoding_of, encodings, hard_texts
from tests.strategies import texts

gpt2 = get_encoding("gpt2")
BYTES = {bytes([byte]): byte for byte in range(256)}

# UTF-32's other one begins with one of these.
MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


@pytest.fixture(params=[counting._BLOCK, 16])
def _block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files read at once, and block by block, though they are small."""
    monkeypatch.setattr(counting, "_BLOCK", request.param)


encoded_texts = texts.map(lambda text: text.encode("utf-8", "replace"))
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
@given(data=some_bytes | encoded_texts)
def test_any_bytes_are_text_or_named_by_the_first_that_is_not(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    advanced: list[int] = []
    outcome = FileCounter(gpt2, allow_nul=True).count(Part(str(path)), advanced.append)
    wrong = first_wrong(data)
    replaced = data.decode("utf-8", "replace")
    counts = Counts((gpt2.count(replaced),), len(data), len(replaced))
    if wrong is None:
        assert outcome == Outcome(counts)
        assert sum(advanced) == len(data)
    elif not data.startswith(MARKS):
        reason = f"not UTF-8: byte 0x{data[wrong]:02x} at offset {wrong}"
        assert outcome == Outcome(None, reason, "convert it to UTF-8")
    assert FileCounter(gpt2, allow_nul=True, replace=True).count(Part(str(path))) == Outcome(counts)


def test_binary_stays_binary_where_bytes_are_replaced_and_what_has_gone_was_not_read() -> None:
    write({"data": b"\xff\0"})
    outcome = FileCounter(gpt2, replace=True).count(Part("data"))
    assert (outcome.counts, outcome.was_read) == (None, True)
    assert "NUL byte at offset 1" in outcome.reason
    gone = Outcome(None, "No such file or directory", was_read=False)
    assert FileCounter(gpt2).count(Part("gone")) == gone
    assert counting.parts_of(FileCounter(gpt2), "gone", 10**9) == [(Part("gone"), 10**9)]


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
def test_progress_comes_after_the_work_and_in_small_steps(data: bytes) -> None:
    write({"text": data})
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
    FileCounter(encoding).count(Part("text"), advance)
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
        self.steps: list[int] = []

    def advance(self, size: int) -> None:
        self.steps.append(size)

    def file_done(self) -> None:
        self.files += 1


@pytest.fixture
def _small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some files that are counted by workers, though they are few and small."""
    monkeypatch.setattr(counting, "WORTH_WORKERS", 0)
    monkeypatch.setattr(counting, "_SHARE", 10)
    write({f"d/{number:02}": "hello world " * number for number in range(20)})
    write({"d/03": b"\xff"})


def outcomes(jobs: int | None, progress: FileProgress) -> list[Outcome]:
    found = list(Walk().find(["d", "d/missing", "d/01"]))
    return list(count_files(FileCounter(gpt2), found, jobs, progress))


@pytest.mark.usefixtures("_small_files")
def test_workers_count_as_one_process_does(monkeypatch: pytest.MonkeyPatch) -> None:
    alone, together = Fake(), Fake()
    expected = outcomes(1, alone)
    assert outcomes(2, together) == expected
    assert (together.files, sum(together.steps)) == (alone.files, sum(alone.steps))
    assert alone.files == len(expected) == 22
    # What a worker does not do is done here.
    monkeypatch.setattr("compat_bpe.parallel.pool.may_fork", lambda: False)
    for code in (
        "import os; os._exit(1)",
        "import sys; sys.stdin.buffer.read(9); sys.stdout.write('x')",
    ):
        monkeypatch.setattr("compat_bpe.parallel.processes._CODE", code)
        assert outcomes(2, Fake()) == expected

    def refuse(*args: object, **options: object) -> None:
        raise OSError("no processes here")

    monkeypatch.setattr("subprocess.Popen", refuse)
    assert outcomes(None, Fake()) == expected


def test_workers_tell_of_their_work_in_small_steps() -> None:
    data = b"hello world\n" * 300_000
    write({"large": data})
    progress = Fake()
    ((counts, *_),) = count_files(FileCounter(gpt2), list(Walk().find(["large"])), 2, progress)
    assert counts == Counts((900_000,), len(data), len(data))
    assert sum(progress.steps) == len(data)
    assert max(progress.steps) < 400_000  # of parts of a million


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


def test_a_counter_can_be_sent() -> None:
    write({"a": b"hi\0hi\xff"})
    encoding = Encoding(
        "tiny", pat_str=r"\w+|\W", mergeable_ranks={**BYTES, b"hi": 256}, special_tokens={}
    )
    counter = FileCounter(encoding, allow_nul=True, replace=True)
    sent = pickle.loads(pickle.dumps(counter))
    assert sent.count(Part("a")) == counter.count(Part("a"))
    assert sent.count(Part("a")).counts == ((6,), 6, 6)


# Large files in parts: the counts are those of the whole.

WHOLE = Encoding(
    "no cuts", pat_str=r"[\s\S]+", mergeable_ranks={**BYTES, b"ab": 256}, special_tokens={}
)
ENCODINGS = {
    **{name: [get_encoding(name)] for name in ("gpt2", "o200k_base", "deepseek_v3")},
    "no cuts": [WHOLE],
    **{name: [encoding_of(name)] for name in ("llama", "spm bpe", "unigram, first", "word pieces")},
    "together": [gpt2, encoding_of("llama"), get_encoding("characters")],
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
    counter = FileCounter(*ENCODINGS[name], allow_nul=True)
    whole = counter.count(Part(str(path)))
    told: list[int] = []
    with mock.patch.object(counting, "_BLOCK", block):
        at_once = counter.count(Part(str(path)), told.append)
        assert in_parts(counter, path, size)[1] == at_once == whole
    assert whole.counts is not None
    assert sum(told) == whole.counts.bytes
    counters = [FileCounter(one, allow_nul=True) for one in ENCODINGS[name]]
    assert [one.count(Part(str(path))).counts for one in counters] == [
        whole.counts._replace(tokens=(tokens,)) for tokens in whole.counts.tokens
    ]


@shared_fixture()
@given(
    data=st.lists(st.binary(max_size=8) | encoded_texts, max_size=12).map(b"".join),
    size=st.integers(1, 20),
    replace=st.booleans(),
)
def test_parts_of_any_bytes_have_the_outcome_of_the_whole(
    tmp_path: Path, data: bytes, size: int, replace: bool
) -> None:
    path = tmp_path / "data"
    path.write_bytes(data)
    counter = FileCounter(gpt2, replace=replace)
    assert in_parts(counter, path, size)[1] == counter.count(Part(str(path)))


def test_where_a_text_is_cut() -> None:
    for data, allow_nul, number in (
        ("é1" * 1000, False, 30),  # hard to cut
        (b"a" * 1000, False, 1),  # without cut points
        (b"\x80" * 1000, False, 1),
        (b"a b\0" + b"a b " * 300, False, 1),  # a binary file stays whole
        (b"a b\0" + b"a b " * 300, True, 12),
    ):
        write({"text": data})
        some, _ = in_parts(FileCounter(gpt2, allow_nul=allow_nul), Path("text"), 100)
        assert len(some) == number
    # Soon after each place, which is within a character.
    write({"text": "hello 中文 world\r\n" * 100})
    some, _ = in_parts(FileCounter(gpt2), Path("text"), 103)
    assert len(some) == 19
    assert all(0 < part.start - 103 * number < 17 for number, part in enumerate(some) if number)


def test_only_the_beginning_of_a_file_says_that_it_is_binary() -> None:
    write({"text": b"a b " * 2000 + b"\0 \0 " * 100})
    counter = FileCounter(gpt2)
    some, outcome = in_parts(counter, Path("text"), 1000)
    assert len(some) == 8
    assert outcome == counter.count(Part("text"))
    assert outcome.counts is not None


def test_a_file_that_has_grown_is_counted_to_its_end() -> None:
    write({"text": b"hello world\n" * 100})
    counter = FileCounter(gpt2)
    with mock.patch.object(counting, "_PART", 100):
        found = counting.parts_of(counter, "text", 1200)
    write({"text": b"hello world\n" * 110})
    counts = _joined([counter.count(part) for part, _ in found]).counts
    assert counts is not None
    assert counts.tokens == (330,)


# A large file that several processes encode: the ids of one, and the same errors.

LINE = "Zwölf Boxkämpfer jagen Viktor quer über den Deich. 你好<|endoftext|>\r\n"


class PoolHere:
    """A pool whose worker works in this process, out of order; or is killed by some task."""

    size = 2
    killed_by = -1

    def __init__(self, make: Any, arguments: tuple[Any, ...], number: int, forks: bool) -> None:
        self._worker = make(*pickle.loads(pickle.dumps(arguments)))
        self._tasks: list[Any] = []
        self._was_killed = False

    def __enter__(self) -> PoolHere:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    @property
    def is_busy(self) -> bool:
        return bool(self._tasks)

    def give(self, task: Any) -> Sequence[Any]:
        if self._was_killed:
            raise WorkerKilled
        self._tasks.append(task)
        return self.arrived(0) if len(self._tasks) > self.size else []

    def arrived(self, patience: float) -> Sequence[Any]:
        found: list[Any] = []
        task = self._tasks.pop()
        if task[0] == self.killed_by:
            self._was_killed = True
            self._tasks.clear()
        else:
            self._worker.do(task, found.append)
        return found


@contextmanager
def pool_here(size: int, killed_by: int = -1) -> Iterator[None]:
    """Let "workers" of this process encode files in parts of so many bytes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "WORTH_WORKERS", 0)
        patch.setattr(counting, "_PART", size)
        patch.setattr(PoolHere, "killed_by", killed_by)
        patch.setattr("compat_bpe.parallel.pool.Pool", PoolHere)
        yield


def by_workers(
    path: Path, encoding: Encoding, allowed: frozenset[str], layout: str, *reading: Reading
) -> bytes:
    write = LAYOUTS[layout].write
    portions = encode.encoded_by_workers(encoding, str(path), allowed, write, 2, *reading)
    return b"" if portions is None else b"".join(LAYOUTS[layout].joined(portions))


@shared_fixture()
@given(
    encodings,
    st.lists(hard_texts, min_size=1, max_size=5),
    st.integers(1, 40),
    st.sampled_from([frozenset(), frozenset({"<|endoftext|>", "<|end", "x<b>"})]),
    st.sampled_from(list(LAYOUTS)),
    st.integers(-1, 5),
)
def test_any_file_has_the_ids_of_its_text(
    tmp_path: Path,
    encoding: Encoding,
    texts: list[str],
    size: int,
    allowed: frozenset[str],
    layout: str,
    killed_by: int,
) -> None:
    text = "".join(texts).encode("utf-8", "ignore").decode()
    path = tmp_path / "text"
    path.write_bytes(text.encode())
    try:
        ids = encoding.encode(text, allowed_special=allowed, disallowed_special=())
    except ValueError:
        return
    with pool_here(size, killed_by):
        found = by_workers(path, encoding, allowed, layout)
    if found:
        assert found == b"".join(LAYOUTS[layout].joined([LAYOUTS[layout].write(ids)]))


@shared_fixture()
@given(
    st.lists(
        st.sampled_from([b"one ", b"two\n", "naïve ".encode(), b"\xe9", b"\xe4\xb8", b" "])
        | st.binary(max_size=3),
        max_size=30,
    ),
    st.integers(1, 40),
    st.sampled_from(["keep", "replace"]),
)
def test_what_is_not_utf8_has_the_same_ids(
    tmp_path: Path, pieces: list[bytes], size: int, errors: Any
) -> None:
    data = b"".join(pieces)
    path = tmp_path / "bytes"
    path.write_bytes(data)
    reading = Reading(errors)
    try:
        with pool_here(size):
            found = by_workers(path, gpt2, frozenset(), "spaces", reading)
    except CommandError:
        assert errors == "keep"
        assert data.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff"))
        return
    layout = LAYOUTS["spaces"]
    if found:
        ids = encoded(Pieces(gpt2, read_pieces(str(path), reading), frozenset(), "x"))
        assert found == b"".join(layout.joined([layout.write(list(ids))]))


@pytest.mark.parametrize("size", range(1, 30, 3))
def test_no_special_token_is_cut(size: int) -> None:
    write({"text": "ab<|endoftext|>" * 10})
    end = {"<|endoftext|>": 256}
    encoding = Encoding("own", pat_str=r"\w+|\W", mergeable_ranks=BYTES, special_tokens=end)
    with pool_here(size):
        found = by_workers(Path("text"), encoding, frozenset(end), "spaces")
    assert found == b" ".join([b"97 98 256"] * 10) + b"\n"


@pytest.mark.sweep
def test_ids_and_errors_of_one_process() -> None:
    write({"large": LINE * (counting.WORTH_WORKERS // len(LINE.encode()) + 1)})
    size = Path("large").stat().st_size

    def encode(*args: str) -> list[subprocess.CompletedProcess[bytes]]:
        line = ("encode", "-e", "gpt2", *args, "large", "-j")
        return [run_process(*line, jobs) for jobs in "12"]

    for args in ([], ["--json", "--special"], ["--packed"]):
        alone, together = encode(*args)
        assert (together.returncode, together.stderr) == (0, b"")
        assert together.stdout == alone.stdout != b""
    with open("large", "ab") as file:
        file.write(b"\xff")
    alone, together = encode()
    assert (alone.stdout, alone.returncode) == (together.stdout, 0)
    assert (together.stderr, together.returncode) == (b"", 0)
    alone, together = encode("--errors", "strict")
    assert (alone.returncode, alone.stderr) == (together.returncode, together.stderr)
    assert b"byte 0xff at offset %d;" % size in together.stderr
    assert alone.stdout.startswith(together.stdout)


def test_a_pipe_that_is_closed_ends_it() -> None:
    write({"large": LINE * 50_000})
    with started("encode", "-e", "gpt2", "-j", "2", "large") as process:
        assert process.stdout is not None
        process.stdout.read(10)
        process.stdout.close()
        process.stdout = None
        assert process.communicate(timeout=TIMEOUT)[1] == b""
    assert process.returncode == 1


@pytest.mark.parametrize("jobs", [1, None])
def test_what_one_process_does(monkeypatch: pytest.MonkeyPatch, jobs: int | None) -> None:
    write({"text": b"a b c " * 100})

    def is_shared(encoding: Encoding, path: str, jobs: int | None = 2) -> bool:
        write = LAYOUTS["spaces"].write
        found = encode.encoded_by_workers(encoding, path, frozenset(), write, jobs)
        return found is not None

    if jobs == 1:
        monkeypatch.setattr(counting, "WORTH_WORKERS", 0)
    assert not is_shared(gpt2, "text", jobs)
    monkeypatch.setattr(counting, "WORTH_WORKERS", 0)
    monkeypatch.setattr(counting, "_PART", 10)
    words = get_encoding("words")
    for encoding, name in ((words, "text"), (gpt2, "-"), (gpt2, "/dev/null"), (gpt2, "/none")):
        assert not is_shared(encoding, name)
    assert is_shared(gpt2, "text")
