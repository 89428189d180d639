"""What the comparisons with the real tiktoken share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple, TypeVar

import tiktoken

from compat_bpe import Encoding
from compat_bpe.unicode.properties import CodePoints, category, property_set
from compat_bpe.unicode.tables import CATEGORIES, SCRIPTS
from tests.strategies import CASED, NO_WHITE_SPACE, RECENT, WHITE_SPACE

T = TypeVar("T")

#: A vocabulary that can encode any text and merges nothing.
BYTES = {bytes([byte]): byte for byte in range(256)}

#: The names of POSIX's classes of characters.
POSIX = """
    alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit
""".split()

#: The pattern of Kimi K2, as published.
KIMI = (
    r"[\p{Han}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

#: All characters that a text without surrogates can hold.
SCALARS = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))


@cache
def sample() -> str:
    """Return three code points of each class, and those that engines are known to differ in.

    A class is a category in a script, of one length in UTF-8; of each there are its first code
    point, its last and one in between.
    """
    scripts = list(map(property_set, SCRIPTS))
    scripts.append(~CodePoints.union(*scripts))
    lengths = [CodePoints((low, high)) for low, high in ((0x80, 0x800), (0x800, 0x10000))]
    lengths.append(CodePoints((0x10000,)))
    found = {*range(0x80), *map(ord, CASED + NO_WHITE_SPACE + RECENT + WHITE_SPACE)}
    for name in CATEGORIES.keys() - {"Cs"}:
        for script in scripts:
            both = category(name) & script
            for length in lengths if both else ():
                ranges = list((both & length).ranges())
                if ranges:
                    found |= {ranges[0][0], ranges[len(ranges) // 2][0], ranges[-1][1]}
    return "".join(map(chr, sorted(found)))


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
