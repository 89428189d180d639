"""Chunks are counted as the encoding splits them, whatever does the counting."""

from __future__ import annotations

import subprocess
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding, get_encoding
from compat_bpe.corpus import chunk_counts as chunks
from compat_bpe.corpus.chunk_counts import ChunkCounter
from compat_bpe.parallel import pool, processes
from compat_bpe.pipeline.chunks import texts_of_chunks
from compat_bpe.unicode.surrogates import repair
from tests.strategies import texts

#: ``<think>`` is an added token of DeepSeek, which is found in any text.
DOCUMENTS = [f"<think>text {i}: naïve 字 😀 don't\n\n  x{i * 7}\n" * (i % 7) for i in range(60)]


def expected(encoding: Encoding, documents: list[str]) -> Counter[str]:
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
    assert found.get("", {}) == expected(encoding, joined)


@pytest.fixture
def _small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "_SHARE", 100)
    monkeypatch.setattr(chunks, "_WORTH_WORKERS", 200)


@pytest.mark.usefixtures("_small_shares")
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("name", ["gpt2", "deepseek_v3"])
def test_whatever_counts(name: str, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    encoding = get_encoding(name)
    started = []

    def start(module: str) -> subprocess.Popen[bytes]:
        started.append(module)
        return processes.start_worker(module)

    monkeypatch.setattr(pool, "start_worker", start)
    with ChunkCounter(encoding, workers) as counter:
        for number, text in enumerate(DOCUMENTS):
            counter.feed(text, "odd" if number % 2 else "even")
        found = counter.finish()
    if name == "deepseek_v3":
        assert counter.added_tokens == "".join(DOCUMENTS).count("<think>") > 99
    assert found == {
        "even": expected(encoding, DOCUMENTS[::2]),
        "odd": expected(encoding, DOCUMENTS[1::2]),
    }
    assert len(started) == (0 if workers == 1 else workers)


@pytest.mark.usefixtures("_small_shares")
def test_where_nothing_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(module: str) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(pool, "start_worker", refuse)
    encoding = get_encoding("gpt2")
    with ChunkCounter(encoding, 2) as counter:
        for text in DOCUMENTS:
            counter.feed(text)
        assert counter.finish() == {"": expected(encoding, DOCUMENTS)}


@pytest.mark.usefixtures("_small_shares")
def test_a_killed_worker_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_CODE", "import sys; sys.exit(1) # {path!r} {module}")
    with ChunkCounter(get_encoding("gpt2"), 2) as counter:

        def feed_all() -> None:
            for text in DOCUMENTS * 20:
                counter.feed(text)
            counter.finish()

        with pytest.raises(ChildProcessError, match="worker process was killed"):
            feed_all()


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
