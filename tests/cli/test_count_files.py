from __future__ import annotations

import pickle
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from compat_bpe import Encoding
from compat_bpe.cli.count_files import _LARGEST_SHARE, _SHARE, _shares
from compat_bpe.cli.counting import FileCounter, Part


@given(st.lists(st.integers(0, 40 * _SHARE)), st.integers(1, 5))
def test_each_file_is_in_one_share_in_order_and_the_last_are_small(
    sizes: list[int], workers: int
) -> None:
    parts = [Part(str(index), index, 2 * index) for index in range(len(sizes))]
    shares = _shares(list(zip(parts, sizes)), workers)
    assert [item for share in shares for item in share] == list(enumerate(parts))
    left = sum(sizes)
    for share in shares:
        # Without its last file it is not large enough.
        total = sum(sizes[index] for index, _ in share[:-1])
        assert total < max(_SHARE, min(_LARGEST_SHARE, left / (2 * workers)))
        left -= sum(sizes[index] for index, _ in share)
    assert sum(sum(sizes[index] for index, _ in share) < _SHARE for share in shares) <= 1


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
    assert sent.count(part).counts == ((6,), 6, 6)
