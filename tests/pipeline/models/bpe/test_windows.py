"""Merging in windows gives what merging the whole gives, and takes the memory of a window."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.pipeline.models.bpe.by_rank import BytePairEncoder, merge
from compat_bpe.pipeline.models.bpe.windows import WINDOW, merge_in_windows
from tests.examples import scaled

#: What two neighbours make, and their rank.
Rules = dict[tuple[int, int], tuple[int, int]]


def merged(rules: Rules, first: list[int]) -> tuple[list[int], list[int]]:
    """Merge by the plain rule: the lowest rank, the leftmost of these."""
    symbols, starts = first[:], list(range(len(first)))
    while True:
        pairs = [rules.get(pair, (99, 0)) for pair in zip(symbols, symbols[1:])]
        rank, made = min(pairs, default=(99, 0), key=lambda pair: pair[0])
        if rank == 99:
            return symbols, starts
        at = [pair[0] for pair in pairs].index(rank)
        symbols[at : at + 2] = [made]
        del starts[at + 1]


some_symbols = st.integers(0, 5)
some_rules = st.dictionaries(
    st.tuples(some_symbols, some_symbols), st.tuples(st.integers(0, 6), some_symbols), max_size=20
)


@given(
    some_rules,
    st.lists(st.integers(0, 3), max_size=20),
    st.integers(1, 20),
    st.integers(2, 12),
    st.integers(0, 5),
)
@settings(max_examples=scaled(1000))
def test_any_rule_of_neighbours(
    rules: Rules, row: list[int], times: int, window: int, overlap: int
) -> None:
    first = (row * times)[:120]
    found, starts = merge_in_windows(
        len(first), lambda low, high: merged(rules, first[low:high]), window, overlap
    )
    assert (found, list(starts)) == merged(rules, first)


@given(
    st.lists(st.text("ab", min_size=2, max_size=6), max_size=12, unique=True),
    st.text("ab", max_size=120),
    st.integers(2, 20),
)
@settings(max_examples=scaled(500))
def test_ranks_of_tokens(tokens: list[str], text: str, window: int) -> None:
    # A token may rank below its parts, or be one that merging never makes.
    ranks = {token.encode(): 256 + rank for rank, token in enumerate(tokens)}
    ranks.update({bytes([byte]): byte for byte in range(256)})
    chunk = text.encode()
    encoder = BytePairEncoder(ranks)
    ids, _ = merge_in_windows(
        len(chunk), lambda low, high: encoder._merge_heap(1 << 32, chunk[low:high]), window, 3
    )
    assert ids == [ranks[token] for token in merge(chunk, ranks)]


def test_rules_without_a_junction_are_merged_at_once() -> None:
    # Each symbol swallows its right neighbour, whatever is in it.
    swallow = {(0, 0): (0, 1), (1, 0): (0, 2), (2, 0): (0, 1)}
    first = [0] * 500
    found, _ = merge_in_windows(500, lambda low, high: merged(swallow, first[low:high]), 16, 4)
    assert found == merged(swallow, first)[0]


@pytest.mark.parametrize("letters", ["a", "ab", "etaoin"])
def test_long_chunks(letters: str) -> None:
    encoder = BytePairEncoder(get_encoding("gpt2")._mergeable_ranks)
    chosen = random.Random(28)
    chunk = "".join(chosen.choices(letters, k=2 * WINDOW + 77)).encode()
    assert encoder.merge(chunk) == encoder._merge_heap(1 << 32, chunk)[0]


_LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
import compat_bpe
print(compat_bpe.get_encoding("cl100k_base").count("a" * 4_000_000))
"""


@pytest.mark.sweep
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is limited on Linux")
def test_a_chunk_of_megabytes_takes_little_memory() -> None:
    # Merged at once, it took 580 MB.
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED], capture_output=True, text=True, timeout=100
    )
    assert done.stdout == "500000\n", done.stderr
