"""A large file that several processes encode: the ids of one, and the same errors."""

from __future__ import annotations

import pickle
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.cli import counting
from compat_bpe.cli.commands import encode as encode_file
from compat_bpe.cli.input import Reading, read_pieces
from compat_bpe.cli.output import CommandError
from compat_bpe.cli.tokens import LAYOUTS, encoded
from compat_bpe.parallel.pool import WorkerKilled
from tests.cli.running import COMMAND, environment, run_process
from tests.examples import shared_fixture
from tests.fit.hard_encodings import encodings, hard_texts

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


def by_workers(path: Path, encoding: Encoding, allowed: frozenset[str], layout: str) -> bytes:
    write = LAYOUTS[layout].write
    portions = encode_file.encoded_by_workers(encoding, str(path), allowed, write, 2)
    return b"" if portions is None else b"".join(LAYOUTS[layout].joined(portions))


# Every example writes the file anew, so it may be shared.
@shared_fixture()
@given(
    encodings,
    st.lists(hard_texts, min_size=1, max_size=5),
    st.integers(1, 40),
    st.sampled_from([frozenset(), frozenset({"<|endoftext|>", "<|end", "x<b>"})]),
    st.sampled_from(list(LAYOUTS)),
    st.integers(-1, 5),
)
def test_any_file(
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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "WORTH_WORKERS", 0)
        patch.setattr(counting, "_PART", size)
        patch.setattr(PoolHere, "killed_by", killed_by)
        patch.setattr("compat_bpe.parallel.pool.Pool", PoolHere)
        try:
            ids = encoding.encode(text, allowed_special=allowed, disallowed_special=())
        except ValueError:
            return
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
    encoding, reading = get_encoding("gpt2"), Reading(errors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "WORTH_WORKERS", 0)
        patch.setattr(counting, "_PART", size)
        patch.setattr("compat_bpe.parallel.pool.Pool", PoolHere)
        write = LAYOUTS["spaces"].write
        portions = encode_file.encoded_by_workers(
            encoding, str(path), frozenset(), write, 2, reading
        )
        if portions is None:
            return
        try:
            found = b"".join(LAYOUTS["spaces"].joined(portions))
        except CommandError:
            assert errors == "keep"
            assert data.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff"))
            return
    ids = encoded(encoding, read_pieces(str(path), reading), frozenset(), "x")
    assert found == b"".join(LAYOUTS["spaces"].joined([write(list(ids))]))


@pytest.mark.parametrize("size", range(1, 30, 3))
def test_no_special_token_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    path = tmp_path / "text"
    path.write_text("ab<|endoftext|>" * 10)
    monkeypatch.setattr(counting, "WORTH_WORKERS", 0)
    monkeypatch.setattr(counting, "_PART", size)
    monkeypatch.setattr("compat_bpe.parallel.pool.Pool", PoolHere)
    encoding = Encoding(
        "own",
        pat_str=r"\w+|\W",
        mergeable_ranks={bytes([byte]): byte for byte in range(256)},
        special_tokens={"<|endoftext|>": 256},
    )
    found = by_workers(path, encoding, frozenset({"<|endoftext|>"}), "spaces")
    assert found == b" ".join([b"97 98 256"] * 10) + b"\n"


@pytest.mark.sweep
def test_ids_and_errors_of_one_process(tmp_path: Path) -> None:
    repeats = counting.WORTH_WORKERS // len(LINE.encode()) + 1
    path = tmp_path / "large"
    path.write_bytes((LINE * repeats).encode())
    for args in ([], ["--json", "--special"], ["--packed"]):
        alone, together = (
            run_process("encode", "-e", "gpt2", "-j", jobs, *args, str(path)) for jobs in "12"
        )
        assert (together.returncode, together.stderr) == (0, b"")
        assert together.stdout == alone.stdout != b""
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"\xff")
    alone, together = (run_process("encode", "-e", "gpt2", "-j", jobs, str(path)) for jobs in "12")
    assert (alone.stdout, alone.returncode) == (together.stdout, 0)
    assert (together.stderr, together.returncode) == (b"", 0)
    strict = ("--errors", "strict", str(path))
    alone, together = (run_process("encode", "-e", "gpt2", "-j", jobs, *strict) for jobs in "12")
    assert (alone.returncode, alone.stderr) == (together.returncode, together.stderr)
    assert b"byte 0xff at offset %d;" % size in together.stderr
    assert alone.stdout.startswith(together.stdout)


def test_a_pipe_that_is_closed_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(LINE.encode() * 100_000)
    with subprocess.Popen(
        [*COMMAND, "encode", "-e", "gpt2", "-j", "2", str(path)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


@pytest.mark.parametrize("jobs", [1, None])
def test_what_one_process_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int | None
) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a b c " * 100)
    write = LAYOUTS["spaces"].write
    if jobs == 1:
        monkeypatch.setattr(counting, "WORTH_WORKERS", 0)
    gpt2, words = get_encoding("gpt2"), get_encoding("words")
    assert encode_file.encoded_by_workers(gpt2, str(path), frozenset(), write, jobs) is None
    monkeypatch.setattr(counting, "WORTH_WORKERS", 0)
    monkeypatch.setattr(counting, "_PART", 10)
    for encoding, name in ((words, str(path)), (gpt2, "-"), (gpt2, "/dev/null"), (gpt2, "/none")):
        assert encode_file.encoded_by_workers(encoding, name, frozenset(), write, 2) is None
    assert encode_file.encoded_by_workers(gpt2, str(path), frozenset(), write, 2) is not None
