"""What the comparisons with the real tiktoken share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import tiktoken

from compat_bpe import Encoding

T = TypeVar("T")

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
        Encoding("own", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special_tokens),
        tiktoken.Encoding(
            "own", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special_tokens
        ),
    )


def outcome(function: Callable[[], T]) -> T | type[BaseException]:
    """What a call returns, or the type of the error it raises."""
    try:
        return function()
    except Exception as error:
        return type(error)


def repaired(text: str) -> str:
    """What decoding gives back of a text: surrogates joined, lone ones replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
