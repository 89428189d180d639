"""Ids back to bytes: the same with a table of all tokens and without."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.pipeline.decoders.byte_decoder import _BLOCK, _COST_OF_SEARCH, _FEW, ByteDecoder

#: More ids than are looked up without a table.
MANY = _FEW + 1

ids = st.integers(0, 40)
vocabularies = st.dictionaries(st.binary(max_size=3), ids, max_size=12).map(
    # No id comes twice.
    lambda tokens: {data: number for number, data in {n: d for d, n in tokens.items()}.items()}
)
others = st.dictionaries(ids, st.binary(max_size=3), max_size=6)


def expected(ranks: dict[bytes, int], more: dict[int, bytes], others_win: bool) -> dict[int, bytes]:
    by_id = {number: data for data, number in ranks.items()}
    return {**by_id, **more} if others_win else {**more, **by_id}


@given(vocabularies, others, st.booleans(), st.lists(ids, max_size=8))
@example({b"b": 1, b"a": 0}, {}, False, [0, 1])
@example({b"a": 0, b"b": 1}, {0: b"x"}, True, [0, 1])
@example({b"a": 0, b"b": 1}, {0: b"x"}, False, [0, 1])
def test_few_and_many(
    ranks: dict[bytes, int], more: dict[int, bytes], others_win: bool, wanted: list[int]
) -> None:
    by_id = expected(ranks, more, others_win)
    known = [number for number in wanted if number in by_id]
    few = ByteDecoder(ranks, more, others_win)
    for number in wanted:
        if number not in by_id:
            with pytest.raises(KeyError, match=f"{number} is not in the vocabulary"):
                few.decode([number])
    assert few.decode(known) == b"".join(map(by_id.__getitem__, known))
    many = ByteDecoder(ranks, more, others_win)
    if known:
        whole = known * MANY
        assert many.decode(whole) == b"".join(map(by_id.__getitem__, whole))
        assert many._listed is None
    for number in wanted:
        if number in by_id:
            assert few.decode_one(number) == many.decode_one(number) == by_id[number]
        else:
            for decoder in (few, many):
                with pytest.raises(KeyError, match=f"{number} is not in the vocabulary"):
                    decoder.decode_one(number)


@pytest.mark.parametrize("count", [1, 2, MANY, 2 * _BLOCK + 1])
@pytest.mark.parametrize(
    ("wrong", "error"),
    [(-1, OverflowError), (1 << 32, OverflowError), (1.0, TypeError), (None, TypeError)],
)
def test_what_is_no_id(count: int, wrong: object, error: type[Exception]) -> None:
    decoder = ByteDecoder({b"a": 0, b"b": 1}, {})
    with pytest.raises(error):
        decoder.decode([0] * (count - 1) + [wrong])  # type: ignore[list-item]
    assert decoder.decode([1, 0]) == b"ba"


def test_few_ids_need_no_table_and_many_get_one() -> None:
    decoder = ByteDecoder({b"a": 0, b"b": 1}, {2: b"<|end|>"})
    assert decoder.decode([0, 2] * (_FEW // 2)) == b"a<|end|>" * (_FEW // 2)
    assert decoder._texts is None
    assert decoder.decode_one(1) == b"b"
    assert decoder._texts == ["a", "b", "<|end|>"]


def test_a_table_is_made_rather_than_searched_for_many() -> None:
    backwards = {bytes([255 - number]): 255 - number for number in range(256)}
    decoder = ByteDecoder(backwards, {})
    assert decoder.decode(list(range(256))) == bytes(range(256))
    assert _FEW // _COST_OF_SEARCH < 100
    assert decoder._texts is not None


def test_threads_that_decode_first() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    for _ in range(20):
        decoder = ByteDecoder(ranks, {})
        jobs = [list(range(256)) * times for times in (1, 2, 3, 5, 8, 1, 2, 3)]
        with ThreadPoolExecutor(len(jobs)) as executor:
            found = list(executor.map(decoder.decode, jobs))
        assert found == list(map(bytes, jobs))
