"""Plain rules by trying every place, all cuts, long stretches, what is looked at, what arrives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TypeVar
from unittest.mock import Mock

import pytest
from hypothesis import strategies as st

from compat_bpe import Encoding
from compat_bpe.fit.boundary import BOUNDARIES, Boundary, rule_of

boundaries = st.sampled_from(BOUNDARIES)
asides = st.one_of(st.just(""), st.sampled_from(["…", " [cut] ", "a", "\n", "s", "1", "<b>"]))
limits = st.integers(0, 60)


def prefix_by_trying(
    encoding: Encoding, text: str, limit: int, start: int, boundary: Boundary, trail: str
) -> int | None:
    """Return what ``longest_prefix`` promises."""
    may_cut = rule_of(boundary)
    for end in range(len(text), start, -1):
        allowed = end == len(text) or may_cut(text, end)
        if allowed and encoding.count(text[start:end] + trail) <= limit:
            return end
    return start if encoding.count(trail) <= limit else None


def suffix_by_trying(
    encoding: Encoding, text: str, limit: int, end: int, boundary: Boundary, lead: str, start: int
) -> int | None:
    """Return what ``longest_suffix`` promises."""
    may_cut = rule_of(boundary)
    for begin in range(start, end):
        allowed = begin == 0 or may_cut(text, begin)
        if allowed and encoding.count(lead + text[begin:end]) <= limit:
            return begin
    return end if encoding.count(lead) <= limit else None


def all_found(find: Callable[[int], int | None]) -> list[int]:
    """All places that a search finds, each looked for from the one before on."""
    found = [0]
    while (place := find(found[-1])) is not None:
        found.append(place)
    return found[1:]


tokens = st.lists(
    st.sampled_from(["ab", "1", " ", "=", "中国"]).flatmap(
        lambda letters: st.text(letters, min_size=2, max_size=6)
    ),
    max_size=20,
    unique=True,
)
stretches = st.lists(
    st.builds(
        lambda part, times: part * times,
        st.sampled_from(["a", "b", "ab", "1", " ", "=", "中", "\n", "c", "国", "é"]),
        st.sampled_from([1, 1, 2, 3, 20, 50]),
    ),
    max_size=6,
).map("".join)


class Counted:
    """The characters of all texts that an encoding has counted since ``characters`` was set to 0.

    Args:
        encoding: the encoding, whose core is replaced for the test.
        patch: the test's ``monkeypatch``.
    """

    def __init__(self, encoding: Encoding, patch: pytest.MonkeyPatch) -> None:
        self.characters = 0
        self._count = encoding.core.count
        patch.setattr(encoding.core, "count", self._note)

    def _note(self, text: str) -> int:
        self.characters += len(text)
        return self._count(text)


def characters_of(function: Mock) -> int:
    """The characters, or bytes, that a function which is looked at was given in all its calls."""
    return sum(len(call.args[0]) for call in function.call_args_list)


T = TypeVar("T")


async def arriving(pieces: Iterable[T]) -> AsyncIterator[T]:
    for piece in pieces:
        await asyncio.sleep(0)
        yield piece


async def gathered(items: AsyncIterator[T]) -> list[T]:
    return [item async for item in items]
