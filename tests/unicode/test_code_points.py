"""Sets of code points against Python's own sets."""

from __future__ import annotations

import re
import warnings

from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.unicode.properties import ALL, END, NONE, CodePoints

# Edges of everything: of ASCII, of the surrogates, of the planes, of Unicode, and specials of `re`.
EDGES = sorted(
    {c + d for c in (0, 0x2D, 0x5B, 0x5D, 0x80, 0xD800, 0xE000, 0x10000) for d in (0, 1, 2)}
    | {END - 1, END - 2, *map(ord, "-[]^&~|\\")}
)
members = st.sets(st.sampled_from(EDGES))


def points(chosen: set[int]) -> CodePoints:
    return CodePoints.from_ranges((c, c) for c in chosen)


@given(members, members)
def test_operators_are_those_of_sets(a: set[int], b: set[int]) -> None:
    def inside(found: CodePoints) -> set[int]:
        return {c for c in EDGES if c in found}

    assert inside(points(a) | points(b)) == a | b
    assert inside(points(a) & points(b)) == a & b
    assert inside(points(a) - points(b)) == a - b
    assert inside(points(a) ^ points(b)) == a ^ b
    assert inside(~points(a)) == set(EDGES) - a
    assert ~~points(a) == points(a)
    assert (points(a) == points(b)) == (a == b)


@given(members, st.sampled_from(EDGES), st.sampled_from([*EDGES, END]))
@example({END - 1}, END - 1, END)
def test_clip(a: set[int], start: int, end: int) -> None:
    expected = points({c for c in a if start <= c < end})
    assert points(a).clip(start, end) == expected


@given(st.lists(members))
def test_union(sets: list[set[int]]) -> None:
    assert CodePoints.union(*map(points, sets)) == points(set().union(*sets))


@given(members)
@example(set(map(ord, "-[]^&~|\\")))
def test_re_class_matches_the_members(a: set[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = re.compile(points(a).to_re())
    text = "".join(map(chr, EDGES))
    assert set(map(ord, filter(None, compiled.findall(text)))) == a


def test_every_ascii_character_alone_and_as_the_end_of_a_range() -> None:
    for code in range(128):
        assert re.fullmatch(CodePoints((code, code + 1)).to_re(), chr(code))
        found = re.findall(CodePoints((code, 0x80)).to_re(), "".join(map(chr, range(0x81))))
        assert found == [chr(c) for c in range(code, 0x80)]


def test_all_and_none() -> None:
    assert END - 1 in ALL
    assert 0 in ALL
    assert ~ALL == NONE
    assert not NONE
    assert list(ALL.ranges()) == [(0, END - 1)]
    assert CodePoints.from_ranges([(5, END - 1)]) == CodePoints((5,))
