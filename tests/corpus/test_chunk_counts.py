"""Chunks are counted exactly, summed in bounded memory, or summarized within a bound."""

from __future__ import annotations

import random
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable
from functools import reduce
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.corpus import chunk_counts, counts_file
from compat_bpe.corpus.chunk_counts import ChunkCounter, Counts, Spill, Summary, merged, summary
from compat_bpe.corpus.counts_file import CountsMerger, Row, collapsed, frequent_rows
from compat_bpe.parallel import pool, processes
from compat_bpe.pipeline.core import texts_of_chunks
from compat_bpe.unicode.surrogates import repair
from tests.strategies import texts

#: ``<think>`` is an added token of DeepSeek, which is found in any text.
DOCUMENTS = [f"<think>text {i}: naïve 字 😀 don't\n\n  x{i * 7}\n" * (i % 7) for i in range(60)]


def chunks_of(encoding: Encoding, documents: list[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for text in documents:
        for stretch, _ in texts_of_chunks(encoding.core, repair(text)):
            found.update(stretch)
    return found


@given(
    st.sampled_from(["gpt2", "o200k_base", "deepseek_v3"]),
    st.lists(st.lists(texts, min_size=1, max_size=4), max_size=3),
)
def test_however_the_texts_come(name: str, documents: list[list[str]]) -> None:
    encoding = get_encoding(name)
    counter = ChunkCounter(encoding)
    for pieces in documents:
        for number, piece in enumerate(pieces, 1):
            counter.feed(piece, is_last=number == len(pieces))
    found = counter.finish()
    joined = ["".join(pieces) for pieces in documents]
    assert found.get("", {}) == chunks_of(encoding, joined)


def counts_by(counter: ChunkCounter, documents: list[str] = DOCUMENTS) -> Counts:
    for number, text in enumerate(documents):
        counter.feed(text, "odd" if number % 2 else "even")
    return counter.finish()


def by_group(encoding: Encoding) -> Counts:
    documents = {"even": DOCUMENTS[::2], "odd": DOCUMENTS[1::2]}
    return {group: chunks_of(encoding, some) for group, some in documents.items()}


@pytest.fixture
def _small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_counts, "_SHARE", 100)
    monkeypatch.setattr(chunk_counts, "_WORTH_WORKERS", 200)


@pytest.mark.usefixtures("_small_shares")
@pytest.mark.parametrize(
    ("name", "workers"), [("gpt2", 1), ("gpt2", 2), ("deepseek_v3", 1), ("deepseek_v3", 3)]
)
def test_whatever_counts(name: str, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    encoding = get_encoding(name)
    started = []

    def start(module: str) -> subprocess.Popen[bytes]:
        started.append(module)
        return processes.start_worker(module)

    monkeypatch.setattr(pool, "start_worker", start)
    with ChunkCounter(encoding, workers) as counter:
        found = counts_by(counter)
    if name == "deepseek_v3":
        assert counter.added_tokens == "".join(DOCUMENTS).count("<think>") > 99
    assert found == by_group(encoding)
    assert len(started) == (0 if workers == 1 else workers)


@pytest.mark.usefixtures("_small_shares")
def test_where_nothing_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(module: str) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(pool, "start_worker", refuse)
    encoding = get_encoding("gpt2")
    with ChunkCounter(encoding, 2) as counter:
        assert counts_by(counter) == by_group(encoding)


@pytest.mark.usefixtures("_small_shares")
def test_a_killed_worker_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_CODE", "import sys; sys.exit(1) # {path!r} {module}")
    with (
        ChunkCounter(get_encoding("gpt2"), 2) as counter,
        pytest.raises(ChildProcessError, match="worker process was killed"),
    ):
        counts_by(counter, DOCUMENTS * 20)


@pytest.mark.usefixtures("_small_shares")
def test_no_process_is_left_after_an_error() -> None:
    counter = ChunkCounter(get_encoding("gpt2"), 2)

    def fail() -> None:
        with counter:
            for text in DOCUMENTS:
                counter.feed(text)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    workers = counter._workers
    assert workers is not None
    assert all(process.poll() is not None for process in workers._processes)
    assert not any(thread.is_alive() for thread in workers._threads)


def test_what_is_no_text() -> None:
    with pytest.raises(TypeError, match="text must be a str, not bytes"):
        ChunkCounter(get_encoding("gpt2")).feed(b"abc")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="workers is 0; it must be 1 or more"):
        ChunkCounter(get_encoding("gpt2"), 0)


rows = st.lists(
    st.tuples(st.text("ab\t\n\\\U0001f600", min_size=1), st.integers(1, 5), st.sampled_from("xy"))
)


def expected(some: list[Row]) -> list[Row]:
    sums: Counter[tuple[str, str]] = Counter()
    for chunk, count, group in some:
        sums[chunk, group] += count
    return [(*key[:1], sums[key], key[1]) for key in sorted(sums)]


@given(rows, st.integers(1, 12), st.integers(2, 4))
def test_rows_are_added_up_and_sorted(some: list[Row], most: int, fan: int) -> None:
    with pytest.MonkeyPatch.context() as patch, CountsMerger(most) as merger:
        patch.setattr(counts_file, "_FAN", fan)
        for row in some:
            merger.add_row(*row)
            assert all(len(level) < fan for level in merger._runs)
            assert sum(map(len, merger._counts.values())) < most
        assert [*merger.rows()] == expected(some)
        assert [*merger.rows()] == []


def test_long_chunks_do_not_wait_in_memory() -> None:
    with CountsMerger(10) as merger:
        for number in range(9):
            merger.add({f"{number}" * 500: 1})
            assert sum(map(len, merger._counts[""])) < 10 * counts_file._LENGTH
        assert len([*merger.rows()]) == 9


def test_temporary_files_are_closed() -> None:
    with CountsMerger(1) as merger:
        merger.add({"a": 1, "b": 2})
        files = [file for level in merger._runs for file in level]
    assert files
    assert all(file.closed for file in files)


def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, data: bytes) -> int:
            raise OSError(28, "No space left on device")

        def close(self) -> None:
            pass

    monkeypatch.setattr(tempfile, "TemporaryFile", Full)
    with CountsMerger(1) as merger, pytest.raises(OSError, match="No space left") as caught:
        merger.add({"a": 1})
    assert caught.value.filename == tempfile.gettempdir()


@given(rows, st.integers(1, 8))
def test_rare_chunks_are_left_out(some: list[Row], least: int) -> None:
    found: dict[str, Any] = {}
    sums = counted(row[:2] for row in some)
    kept = [*frequent_rows(expected(some), least, found)]
    assert kept == [row for row in expected(some) if sums[row[0]] >= least]
    rare = [count for count in sums.values() if count < least]
    assert found == {"chunks": len(rare), "counts": sum(rare)}
    assert [*collapsed(expected(some))] == [(chunk, sums[chunk], "") for chunk in sorted(sums)]


@pytest.mark.usefixtures("_small_shares")
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("most", [1, 20, 10**6])
def test_counting_hands_over_what_is_counted(workers: int, most: int) -> None:
    taken: list[Counts] = []
    encoding = get_encoding("gpt2")
    with ChunkCounter(encoding, workers, Spill(taken.append, most)) as counter:
        assert counts_by(counter) == {}
    sums: dict[str, Counter[str]] = {"even": Counter(), "odd": Counter()}
    for counts in taken:
        for group, own in counts.items():
            sums[group].update(own)
    assert sums == by_group(encoding)
    # A share of text has fewer than 100 chunks.
    assert max(sum(map(len, counts.values())) for counts in taken) < most + 100
    assert (len(taken) > workers + 1) == (most < 10**6)


def test_when_counts_are_many() -> None:
    full = chunk_counts._Full(3)
    assert not full.is_after({}, {"x": Counter("a"), "y": Counter("a")})
    assert full.is_after({}, {"x": Counter("ab"), "y": Counter("a")})
    assert not chunk_counts._Full(None).is_after({}, {"": Counter("abcde")})


def test_long_chunks_are_handed_over_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_counts, "_SHARE", 1000)
    taken: list[Counts] = []
    with ChunkCounter(get_encoding("gpt2"), 1, Spill(taken.append, 500)) as counter:
        for number in range(4):
            counter.feed(f"{chr(97 + number)}" * 70_000)
        counter.finish()
    assert [len(counts.get("", {})) for counts in taken] == [1] * 4 + [0]


counted_rows = st.lists(
    st.tuples(st.sampled_from("abcdefghijklmnop"), st.integers(1, 9)), max_size=40
)


def counted(some: Iterable[tuple[str, int]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for chunk, count in some:
        found[chunk] += count
    return found


def check(found: Summary, some: list[tuple[str, int]]) -> None:
    true = counted(some)
    total = sum(true.values())
    bound = total // (found.most + 1)
    assert all(0 < count <= true[chunk] for chunk, count in found.counts.items())
    for chunk, count in true.items():
        assert count - found.counts.get(chunk, 0) <= found.error
    assert found.error * (found.most + 1) <= total - sum(found.counts.values())
    assert found.error <= bound
    assert all(chunk in found.counts for chunk, count in true.items() if count > bound)


@given(counted_rows, st.integers(1, 12))
def test_a_summary(some: list[tuple[str, int]], most: int) -> None:
    found = summary(some, most)
    check(found, some)
    assert len(found.counts) <= most
    if len(counted(some)) <= most:
        assert (found.counts, found.error) == (counted(some), 0)


@given(
    st.lists(counted_rows, min_size=1, max_size=6),
    st.lists(st.integers(1, 9), min_size=6),
    st.data(),
)
def test_merged_in_any_order(
    parts: list[list[tuple[str, int]]], sizes: list[int], data: st.DataObject
) -> None:
    left = [(summary(part, most), part) for part, most in zip(parts, sizes)]
    while len(left) > 1:
        first, one = left.pop(data.draw(st.integers(0, len(left) - 1)))
        second, other = left.pop(data.draw(st.integers(0, len(left) - 1)))
        found = merged(first, second)
        check(found, one + other)
        assert len(found.counts) <= found.most == min(first.most, second.most)
        left.append((found, one + other))


def test_on_a_long_tail_it_errs_far_less_than_it_may() -> None:
    drawn = random.Random(21)
    some = [(str(int(drawn.paretovariate(0.7))), 1) for _ in range(20_000)]
    parts = [summary(some[start : start + 1000], 500) for start in range(0, len(some), 1000)]
    found = reduce(merged, parts)
    check(found, some)
    assert 0 < found.error < len(some) // (found.most + 1) / 2


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="most is 0; it must be 1 or more"):
        summary({}, 0)
