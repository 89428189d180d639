"""Encodings that are given to workers by value, and kept there."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from compat_bpe import Encoding
from compat_bpe.columns import batches as module
from compat_bpe.columns.batches import Carried

BYTES = {bytes([value]): value for value in range(256)}


@pytest.fixture(autouse=True)
def _quick_switches() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    module._known.clear()
    yield
    sys.setswitchinterval(before)
    module._known.clear()


def carried(number: int) -> Carried:
    """An encoding by value, as it comes to a worker."""
    names = {f"<{number}>": 256}
    encoding = Encoding(f"own {number}", pat_str=".", mergeable_ranks=BYTES, special_tokens=names)
    found: Carried = pickle.loads(pickle.dumps(Carried(encoding)))
    return found


def test_the_same_object_as_long_as_it_is_kept() -> None:
    first = carried(0)
    made = first.get()
    assert first.get() is carried(0).get() is made
    for number in range(1, module._MOST_KNOWN):
        carried(number).get()
    assert first.get() is made  # asked for last, it is given up last
    carried(module._MOST_KNOWN).get()
    assert first.get() is made
    for number in range(1, module._MOST_KNOWN + 1):
        carried(100 + number).get()
    assert first.get() is not made


def test_threads_share_what_is_kept() -> None:
    given = [carried(number) for number in range(module._MOST_KNOWN + 4)]

    def ask(turn: int) -> None:
        for at in range(300):
            number = (turn * 7 + at) % len(given)
            assert given[number].get().name == f"own {number}"

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(8)))
    assert len(module._known) <= module._MOST_KNOWN
