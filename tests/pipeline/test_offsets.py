"""Places of tokens that only odd models give; the differential tests compare with tokenizers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from compat_bpe.pipeline.added.added_tokens import AddedToken, AddedTokens
from compat_bpe.pipeline.models.base import ChunkToken
from compat_bpe.pipeline.offsets import locate
from compat_bpe.pipeline.pre_tokenizers.step_splitter import make_splitter


def definition(*places: tuple[int, int]) -> Any:
    """Parts of a tokenizer whose model finds a token at some places, in bytes."""
    model = SimpleNamespace(find=lambda _: [ChunkToken(1, "x", *place) for place in places])
    added = AddedTokens([AddedToken("<b>", 2)])
    return SimpleNamespace(added=added, splitter=make_splitter([]), model=model, words=None)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ((0, 2), (5, 6)),
        ((1, 3), (5, 7)),  # from within a character
        ((2, 2), (6, 6)),  # empty
        ((4, 4), (8, 8)),
        ((2, 5), (1, 3)),  # longer than the chunk, so it counts from the beginning of the text
        ((0, 9), (0, 6)),
        ((4, 40), (2, 4)),  # longer than the text
        ((9, 40), (6, 8)),
        ((11, 40), (8, 8)),
    ],
)
def test_places_of_odd_tokens(place: tuple[int, int], expected: tuple[int, int]) -> None:
    [_, _, token] = locate(definition(place), "éé<b>éab", set())
    assert (token.start, token.end) == expected


def test_a_chunk_without_tokens_is_a_word_all_the_same() -> None:
    assert [token.word for token in locate(definition(), "a<b>a<b>", set())] == [1, 3]
