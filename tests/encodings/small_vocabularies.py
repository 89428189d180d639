"""A small vocabulary, and its files of some kinds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from compat_bpe import Encoding
from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from compat_bpe.save import save_gpt2

PATTERN = r" ?\p{L}+|\s+|[^\s\p{L}]"
RANKS = {bytes([byte]): number for number, byte in enumerate(BYTE_TO_UNICODE)}
RANKS.update({b"ab": 256, b"abc": 257})
SMALL = Encoding(
    "small", pat_str=PATTERN, mergeable_ranks=RANKS, special_tokens={"<s>": 258, "</s>": 259}
)


def write_pair(folder: Path, config: Any = None, *names: str) -> None:
    vocabulary, merges = names or ("vocab.json", "merges.txt")
    save_gpt2(SMALL, folder / vocabulary, folder / merges)
    if config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))


def own_encoding(name: str = "own") -> Encoding:
    """Return an encoding that is in no list: of bytes and one merge."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    return Encoding(
        name, pat_str=r"\w+|\W", mergeable_ranks={**ranks, b"ab": 256}, special_tokens={}
    )
