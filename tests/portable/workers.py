"""Batches, threads, and worker processes where they can be had."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from .place import CORPUS, TEXT, Check, Place


def batches(place: Place) -> Iterator[Check]:
    encoding = place.module().get_encoding("gpt2")
    texts = [TEXT, *CORPUS, ""] * 3
    ids = [encoding.encode_ordinary(text) for text in texts]
    yield Check("encode", encoding.encode_batch(texts, disallowed_special=()), ids)
    yield Check("ordinary", encoding.encode_ordinary_batch(texts, num_threads=3), ids)
    decoded = encoding.decode_batch(ids)
    yield Check("decode", decoded, texts)


def processes(place: Place) -> Iterator[Check]:
    """Large batches and training by worker processes; by this process where none can be had."""
    batch = place.module("encodings.batch")
    encoding = place.module().get_encoding("gpt2")
    texts = [TEXT, *CORPUS] * 2
    ids = [encoding.encode_ordinary(text) for text in texts]
    kept = batch.WORTH_WORKERS, batch.processors
    batch.WORTH_WORKERS, batch.processors = 0, lambda: 2
    try:
        yield Check("encode", encoding.encode_ordinary_batch(texts, num_threads=2), ids)
    finally:
        batch.WORTH_WORKERS, batch.processors = kept
    train_bpe = place.module("train").train_bpe
    alone, together = (train_bpe(CORPUS * 20, 300, workers=number) for number in (1, 2))
    found = together.token_byte_values()
    yield Check("train", list(map(list, found)), list(map(list, alone.token_byte_values())))


def threads(place: Place) -> Iterator[Check]:
    """Threads that use an encoding for the first time, all at once."""
    if not threads_start():
        return
    tokens = place.module()
    ids = tokens.get_encoding("o200k_base").encode_ordinary(TEXT)
    tokens.unload()
    found: list[list[int]] = []

    def work() -> None:
        found.append(tokens.get_encoding("o200k_base").encode_ordinary(TEXT))

    started = [threading.Thread(target=work) for _ in range(4)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()
    yield Check("ids", found, [ids] * 4)


def threads_start() -> bool:
    """Return True if this Python can start threads."""
    try:
        thread = threading.Thread(target=int)
        thread.start()
    except RuntimeError:
        return False
    thread.join()
    return True


def workers_start(place: Place) -> bool:
    """Return True if worker processes can be had, and answer."""
    pool = place.module("parallel.pool")
    with pool.Pool(pool.Echo, ("!",), 1) as started:
        return started.size > 0 and list(started.run(["a"])) == ["a!"]
