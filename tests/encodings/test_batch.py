"""Batches give what single calls give, whatever does the work."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from compat_bpe import Encoding, get_encoding
from compat_bpe.encodings import batch
from compat_bpe.parallel import processes

TEXTS = [f"text {i}: naïve 字 😀 <|endoftext|>\n" * (i % 7) for i in range(40)]
OWN = Encoding(
    "own",
    pat_str=r"\w+|\W",
    mergeable_ranks={bytes([i]): i for i in range(256)},
    special_tokens={"<|endoftext|>": 256},
)


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Worker processes for any batch; the list holds the number of those started."""
    monkeypatch.setattr(batch, "WORTH_WORKERS", 0)
    monkeypatch.setattr(batch, "_SHARE", 200)
    monkeypatch.setattr(batch, "processors", lambda: 2)
    started: list[int] = []
    feed = batch._feed

    def counted(*arguments: object) -> None:
        started.append(1)
        feed(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(batch, "_feed", counted)
    return started


@pytest.mark.parametrize("encoding", [get_encoding("cl100k_base"), OWN], ids=repr)
@pytest.mark.parametrize("num_threads", [1, 2, 50])
def test_workers(encoding: Encoding, num_threads: int, workers: list[int]) -> None:
    single = [encoding.encode(text, allowed_special="all") for text in TEXTS]
    found = encoding.encode_batch(TEXTS, num_threads=num_threads, allowed_special="all")
    assert found == single
    ordinary = encoding.encode_ordinary_batch(TEXTS, num_threads=num_threads)
    assert ordinary == list(map(encoding.encode_ordinary, TEXTS))
    assert len(workers) == (0 if num_threads == 1 else 4)


def test_surrogates_reach_the_workers(workers: list[int]) -> None:
    assert (
        OWN.encode_batch(["\ud800", "\ud83d\ude00"] * 200)
        == [
            list("\ufffd".encode()),
            list("😀".encode()),
        ]
        * 200
    )
    assert workers


def test_the_first_bad_text_raises(workers: list[int]) -> None:
    with pytest.raises(ValueError, match="disallowed special token"):
        OWN.encode_batch(["fine", "<|endoftext|>", None])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        OWN.encode_batch(["fine", None, "<|endoftext|>"])  # type: ignore[list-item]
    assert not workers


def test_lists_are_fresh() -> None:
    found = OWN.encode_batch(["a", "a"])
    found[0].append(1)
    assert found[1] == [97]


def test_from_a_thread(workers: list[int]) -> None:
    found: list[list[list[int]]] = []
    thread = threading.Thread(target=lambda: found.append(OWN.encode_ordinary_batch(TEXTS)))
    thread.start()
    thread.join()
    assert found == [list(map(OWN.encode_ordinary, TEXTS))]
    assert workers


def test_no_process_is_left(workers: list[int]) -> None:
    OWN.encode_ordinary_batch(TEXTS)
    assert workers
    if sys.platform == "linux":
        children = subprocess.run(
            ["ps", "--ppid", str(os.getpid()), "-o", "args="], capture_output=True, text=True
        ).stdout
        assert "compat_bpe.encodings.batch" not in children


@pytest.mark.parametrize("error", [OSError("no"), RuntimeError("can't start new thread")])
def test_where_nothing_can_be_started(
    error: Exception, workers: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(subprocess, "Popen", refuse)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert OWN.encode_ordinary_batch(TEXTS) == list(map(OWN.encode_ordinary, TEXTS))


def test_a_killed_worker_does_no_harm(workers: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_CODE", "import sys; sys.exit(1) # {path!r} {module}")
    assert OWN.encode_ordinary_batch(TEXTS) == list(map(OWN.encode_ordinary, TEXTS))
    assert workers


def test_without_a_global_lock_there_are_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "has_gil", lambda: False)
    assert OWN.encode_ordinary_batch(TEXTS) == list(map(OWN.encode_ordinary, TEXTS))
    assert OWN.decode_batch([[97], [98]]) == ["a", "b"]
    with pytest.raises(ValueError, match="disallowed"):
        OWN.encode_batch(TEXTS)


def test_small_batches_start_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "encode_in_workers", None)
    assert OWN.encode_batch(["a"]) == [[97]]
    assert OWN.decode_bytes_batch([[97], []]) == [b"a", b""]


def test_num_threads_must_be_positive() -> None:
    with pytest.raises(ValueError, match="num_threads is 0"):
        OWN.encode_batch(["a"], num_threads=0)
