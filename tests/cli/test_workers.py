from __future__ import annotations

import pickle
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding
from compat_bpe.cli.counting import Counter
from compat_bpe.cli.workers import _SHARE, _shares


@given(sizes=st.lists(st.integers(0, 2 * _SHARE)))
def test_each_file_is_in_one_share_and_the_largest_come_first(sizes: list[int]) -> None:
    shares = _shares([(number, str(number), size) for number, size in enumerate(sizes)])
    assert sorted(file for share in shares for file in share) == sorted(
        (number, str(number)) for number in range(len(sizes))
    )
    totals = [sum(sizes[number] for number, _ in share) for share in shares]
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
    counter = Counter(encoding, allow_nul=True, replace=True)
    sent = pickle.loads(pickle.dumps(counter))
    assert sent.count(str(path)) == counter.count(str(path))
    assert sent.count(str(path)).counts == (6, 6, 6)
