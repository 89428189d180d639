"""Where no token reaches over a boundary between two characters, and that little is looked at."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.pipeline.models.bpe import boundaries
from compat_bpe.pipeline.models.bpe.boundaries import Boundaries
from tests.pipeline.models.bpe.character_ranks import BYTES, CHARS, chars, vocabularies


def reaches_over(tokens: dict[bytes, int], left: str, right: str) -> bool:
    """The plain rule: some token has bytes of both characters next to each other.

    It begins with the last bytes of the left one or has all of it, and ends with the first bytes of
    the right one or has all of it.
    """
    if max(left, right) < "\u0800":
        return True
    before, after = left.encode(), right.encode()
    for token in tokens:
        for place in range(1, len(token)):
            some, others = token[:place], token[place:]
            if (some.endswith(before) or before.endswith(some)) and (
                others.startswith(after) or after.startswith(others)
            ):
                return True
    return False


@given(vocabularies(), st.lists(st.tuples(chars, chars), max_size=12))
@example({**BYTES, "中国".encode()[:4]: 256}, [("中", "国"), ("中", "圽"), ("国", "中")])
@example({**BYTES, "a中".encode()[:2]: 256}, [("a", "中"), ("é", "中"), ("中", "a")])
@example({**BYTES, "中a".encode()[2:]: 256}, [("中", "a"), ("国", "a"), ("丮", "a")])
@example({**BYTES, "ࠀ中".encode()[:4]: 256}, [("ࠀ", "中"), ("中", "ࠀ")])
def test_each_pair_by_the_plain_rule(ranks: dict[bytes, int], pairs: list[tuple[str, str]]) -> None:
    found = Boundaries(ranks)
    # What comes first decides in which order the vocabulary is looked through.
    for left, right in [*pairs, *((one, other) for one in CHARS for other in CHARS)]:
        assert found.joins(left, right) == reaches_over(ranks, left, right), (left, right)


@given(vocabularies())
def test_shared_bits_join_more_and_never_less(ranks: dict[bytes, int]) -> None:
    few, many = boundaries._BITS, Boundaries(ranks)
    try:
        boundaries._BITS = 3
        shared = Boundaries(ranks)
        for left in CHARS:
            for right in CHARS:
                assert shared.joins(left, right) >= many.joins(left, right)
    finally:
        boundaries._BITS = few


def test_only_what_a_text_has_is_looked_for() -> None:
    ranks = get_encoding("o200k_base")._mergeable_ranks
    found = Boundaries(ranks)
    assert not found._after_family
    assert found.joins("的", "人")
    assert not found.joins("人", "鑫")
    assert set(found._after_family) == {b"\xe7", b"\xe4"}  # of 的 and 人
    assert all(member[:1] == b"\xe7" for member in found._after_family[b"\xe7"])


def test_threads_find_the_same() -> None:
    ranks = get_encoding("cl100k_base")._mergeable_ranks
    pairs = [(one, other) for one in "的中国はいのaé가देह" for other in "人，。がの Aय"]
    alone = Boundaries(ranks)
    expected = [alone.joins(*pair) for pair in pairs]
    assert True in expected
    assert False in expected
    for _ in range(5):
        shared = Boundaries(ranks)
        with ThreadPoolExecutor(4) as executor:
            jobs = [executor.submit(lambda: [shared.joins(*p) for p in pairs]) for _ in range(4)]  # noqa: B023
        assert all(job.result() == expected for job in jobs)
