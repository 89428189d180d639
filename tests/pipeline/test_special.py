"""Finding special tokens in text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.pipeline.special import find_special, split_special

names = st.sets(st.text("ab<|.*", min_size=1, max_size=4), max_size=4)


@given(st.text("ab<|.*", max_size=12), names)
def test_the_pieces_are_the_text(text: str, chosen: set[str]) -> None:
    pieces = list(split_special(text, chosen))
    assert "".join(plain + (special or "") for plain, special in pieces) == text
    assert [special for _, special in pieces].index(None) == len(pieces) - 1
    assert all(special in chosen for _, special in pieces[:-1])
    # Nothing is overlooked: no name is left in plain text.
    assert not any(name in plain for plain, _ in pieces for name in chosen)


@given(st.text("ab<|.*", max_size=12), names)
def test_find_agrees_with_split(text: str, chosen: set[str]) -> None:
    assert find_special(text, chosen) == next(split_special(text, chosen))[1]


def test_of_two_at_one_place_the_longer_counts() -> None:
    pieces = [("", "<a>b"), ("", "<a>"), ("", None)]
    assert list(split_special("<a>b<a>", {"<a>", "<a>b"})) == pieces


def test_the_empty_name_is_found_in_any_text() -> None:
    # As in tiktoken, where it is only ever refused.
    assert find_special("a", {""}) == ""
