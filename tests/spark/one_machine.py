"""Results of one machine, which those of Spark are to equal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from compat_bpe.corpus.chunk_counts import ChunkCounter
from compat_bpe.spark.counts import splitter_of


def of_one_machine(some: list[str | None], pattern: str = "gpt2") -> Counter[str]:
    with ChunkCounter(splitter_of(pattern), workers=1) as counter:
        for text in some:
            counter.feed(text or "")
        return counter.finish().get("", Counter())


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a vocabulary but for those that say how it was made."""
    others = ("manifest.json", "validation.jsonl")
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in others}
