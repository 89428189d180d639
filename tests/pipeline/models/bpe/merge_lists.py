"""Lists of merges such as no training gives."""

from __future__ import annotations

from hypothesis import strategies as st

from compat_bpe.pipeline.byte_level import BYTE_TO_UNICODE
from compat_bpe.pipeline.models.bpe.by_merges import ListedMergesEncoder, UnknownPolicy

Pairs = list[tuple[str, str]]


ALPHABET = list(BYTE_TO_UNICODE.values())


@st.composite
def merges(draw: st.DrawFn, letters: str = "abc") -> Pairs:
    known = list(letters)
    found: dict[tuple[str, str], None] = {}
    for _ in range(draw(st.integers(0, 10))):
        pair = draw(st.tuples(*[st.sampled_from(known)] * 2))
        if len("".join(pair)) < 9:
            found[pair] = None
            known.append("".join(pair))
    return draw(st.permutations(list(found)))


def encoder_of(pairs: Pairs, order: list[str]) -> tuple[ListedMergesEncoder, dict[str, int]]:
    ids = {name: number for number, name in enumerate(dict.fromkeys(order))}
    lefts, rights = [left for left, _ in pairs], [right for _, right in pairs]
    return ListedMergesEncoder(ids, (lefts, rights), UnknownPolicy()), ids
