"""Merging by windows: the parts of the whole, in memory that hardly grows with the chunk."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.pipeline.models.bpe.by_rank import _NO_RANK, BytePairEncoder
from compat_bpe.pipeline.models.bpe.characters import CharacterBPE
from compat_bpe.pipeline.models.bpe.shared_ids import SharedIdsBPE
from compat_bpe.pipeline.models.bpe.windows import WINDOW, merge_in_windows
from compat_bpe.pipeline.models.sentencepiece_bpe import SentencePieceBPE
from compat_bpe.pipeline.sentencepiece_vocabulary import NORMAL, UNKNOWN, SentencePieceVocabulary
from tests.pipeline.models.bpe.test_by_merges import ALPHABET, encoder_of, merges
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


@given(texts, merges(), st.integers(1, 30))
def test_lists_of_merges(text: bytes, pairs: list[tuple[str, str]], window: int) -> None:
    encoder, ids = encoder_of(pairs, [*ALPHABET, *map("".join, pairs)])
    first = [ids[char] for char in text.decode()]
    found = merge_in_windows(
        len(first), lambda start, end: encoder._ids_and_starts(first[start:end]), window
    )
    assert found == [number for number, _, _ in encoder._merge_symbols(first)]


@given(texts, merges(), st.integers(1, 30), st.integers(0, 2))
def test_characters(text: bytes, pairs: list[tuple[str, str]], window: int, shared: int) -> None:
    names = list(dict.fromkeys([*"abc", *map("".join, pairs)]))
    ids = {name: max(0, number - shared) for number, name in enumerate(names)}
    parts = [left for left, _ in pairs], [right for _, right in pairs]
    model = (SharedIdsBPE if shared else CharacterBPE)(ids, parts)
    first = [symbol.name for symbol in model.first_symbols(text.decode())]
    found = merge_in_windows(
        len(first), lambda start, end: model._merge_heap(first[start:end]), window
    )
    assert found == model._merge_heap(first)[0]


@given(texts, vocabularies(), st.integers(1, 30), st.integers(1, 4))
def test_pieces(text: bytes, ranks: dict[bytes, int], window: int, ties: int) -> None:
    names = ["<unk>", *(token.decode() for token in ranks)]
    scores = [0.0, *(-float(rank // ties) for rank in ranks.values())]
    types = bytes([UNKNOWN] + [NORMAL] * len(ranks))
    model = SentencePieceBPE(SentencePieceVocabulary(names, scores, types, False))
    chunk = text.decode()
    found = merge_in_windows(
        len(chunk), lambda start, end: model._texts_and_starts(chunk[start:end]), window
    )
    assert found == [piece for piece, _ in model.split(chunk)]


_LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
import compat_bpe
print(compat_bpe.get_encoding("cl100k_base").count("a" * 4_000_000))
"""


@pytest.mark.sweep
def test_a_chunk_of_megabytes_takes_little_memory() -> None:
    """It took 580 MB for the chunk alone."""
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED], capture_output=True, text=True, timeout=100
    )
    assert done.stdout == "500000\n", done.stderr
