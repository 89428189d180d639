"""Merging by windows: the parts of the whole, in memory that hardly grows with the chunk."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.pipeline.models.bpe.by_rank import _NO_RANK, BytePairEncoder
from compat_bpe.pipeline.models.bpe.windows import WINDOW, merge_in_windows

from tests.pipeline.models.bpe.test_by_rank import by_the_rule, vocabularies

#: Repeated, so that what a window begins with matters far away from it.
texts = st.builds(
    lambda parts, times, end: b"".join(parts) * times + end,
    st.lists(st.sampled_from([b"a", b"b", b"c"]), max_size=12),
    st.integers(1, 12),
    st.sampled_from([b"", b"a", b"ba"]),
)


@given(texts, vocabularies(), st.integers(1, 30))
@example(b"a" * 50, {b"a": 2, b"aa": 0, b"aaa": 1}, 7)
def test_windows_give_what_the_whole_gives(
    text: bytes, ranks: dict[bytes, int], window: int
) -> None:
    encoder = BytePairEncoder(ranks)
    found = merge_in_windows(
        len(text), lambda start, end: encoder._merged(_NO_RANK, text, start, end), window
    )
    assert found == [ranks[part] for part in by_the_rule(text, ranks)]


def test_windows_that_never_agree_become_one() -> None:
    asked = []

    def merge(start: int, end: int) -> tuple[list[int], list[int]]:
        asked.append((start, end))
        return [end - start], [0]

    assert merge_in_windows(100, merge, 10) == [100]
    assert asked[-1] == (0, 100)


@pytest.mark.parametrize("text", [b"a", b"ab", b"abcab"])
def test_a_long_chunk_takes_the_same_ids_as_without_windows(text: bytes) -> None:
    ranks = {bytes([byte]): byte + 9 for byte in range(256)}
    ranks.update({b"ab": 0, b"aa": 1, b"aaa": 2, b"ba": 3, b"abab": 4})
    encoder = BytePairEncoder(ranks)
    chunk = text * (WINDOW * 5 // 4 // len(text))
    assert encoder.merge(chunk) == encoder._merge_heap(_NO_RANK, chunk)
