"""The real tiktoken, run offline on the files that this package writes.

tiktoken looks for a file it has downloaded before under the sha1 of the file's address, and it
checks the sha256 of what it finds.  So a vocabulary that loads here is, byte for byte, the one
that OpenAI published: that is the proof of the packs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

import tiktoken

from compat_bpe import Encoding
from compat_bpe.encodings.openai import PUBLISHED, load_ranks
from compat_bpe.formats.gpt2 import format_encoder_json, format_vocab_bpe
from compat_bpe.formats.tiktoken import format_ranks

T = TypeVar("T")

ADDRESS = "https://openaipublic.blob.core.windows.net/"

#: A vocabulary that can encode any text and merges nothing.
BYTES = {bytes([byte]): byte for byte in range(256)}

#: All characters that a text without surrogates can hold.
SCALARS = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))


class Pair(NamedTuple):
    """An encoding of this package and tiktoken's of the same name."""

    ours: Encoding
    theirs: tiktoken.Encoding


def pair(ranks: dict[bytes, int], pattern: str, special_tokens: dict[str, int]) -> Pair:
    """An encoding of one's own, in both packages."""
    return Pair(
        Encoding(
            "own", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special_tokens
        ),
        tiktoken.Encoding(
            "own", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special_tokens
        ),
    )


def write_cache(folder: Path) -> None:
    """Write what tiktoken would download for the shipped encodings."""
    files = {
        f"encodings/{pack}.tiktoken": format_ranks(load_ranks(pack))
        for pack in {published.pack for published in PUBLISHED.values()}
    }
    gpt2 = PUBLISHED["gpt2"]
    ranks = load_ranks(gpt2.pack)
    files["gpt-2/encodings/main/encoder.json"] = format_encoder_json(ranks, gpt2.special_tokens)
    files["gpt-2/encodings/main/vocab.bpe"] = format_vocab_bpe(ranks)
    for path, data in files.items():
        (folder / hashlib.sha1((ADDRESS + path).encode()).hexdigest()).write_bytes(data)


def outcome(function: Callable[[], T]) -> T | type[BaseException]:
    """What a call returns, or the type of the error it raises."""
    try:
        return function()
    except Exception as error:
        return type(error)


def repaired(text: str) -> str:
    """What decoding gives back of a text: surrogates joined, lone ones replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
