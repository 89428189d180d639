from __future__ import annotations

import pickle
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding
from compat_bpe.cli.count_files import _SHARE, _shares
from compat_bpe.cli.counting import FileCounter, Part


@given(sizes=st.lists(st.integers(0, 2 * _SHARE)))
def test_each_file_is_in_one_share_and_the_largest_come_first(sizes: list[int]) -> None:
    parts = [Part(str(index), index, 2 * index) for index in range(len(sizes))]
    shares = _shares(list(zip(parts, sizes)))
    assert sorted(item for share in shares for item in share) == list(enumerate(parts))
    totals = [sum(sizes[index] for index, _ in share) for share in shares]
    assert totals == sorted(totals, reverse=True)
    assert sum(total < _SHARE for total in totals) <= 1


def test_a_counter_can_be_sent(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"hi\0hi\xff")
    encoding = Encoding(
        "tiny",
        pat_str=r"\w+|\W",
        mergeable_ranks={**{bytes([byte]): byte for byte in range(256)}, b"hi": 256},
        special_tokens={},
    )
    counter = FileCounter(encoding, allow_nul=True, replace=True)
    sent = pickle.loads(pickle.dumps(counter))
    part = Part(str(path))
    assert sent.count(part) == counter.count(part)
    assert sent.count(part).counts == (6, 6, 6)
