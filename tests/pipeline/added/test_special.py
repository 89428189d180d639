"""Finding special tokens in text."""

from __future__ import annotations

import ast
from collections.abc import Set

from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.pipeline.added.special import allowed_names, split_special
from compat_bpe.pipeline.names.finder import FEW


def refused(text: str, names: Set[str]) -> str | None:
    """Return the name for which a text is refused."""
    try:
        assert allowed_names(text, frozenset(), set(), names) == set()
    except ValueError as error:
        return str(ast.literal_eval(str(error).splitlines()[0].partition(" token ")[2][:-1]))
    return None


names = st.sets(st.text("ab<|.*", min_size=1, max_size=4), max_size=4)


@given(st.text("ab<|.*", max_size=12), names)
def test_the_pieces_are_the_text(text: str, chosen: set[str]) -> None:
    pieces = list(split_special(text, chosen))
    assert "".join(plain + (special or "") for plain, special in pieces) == text
    assert [special for _, special in pieces].index(None) == len(pieces) - 1
    assert all(special in chosen for _, special in pieces[:-1])
    # Nothing is overlooked: no name is left in plain text.
    assert not any(name in plain for plain, _ in pieces for name in chosen)


#: So many that no pattern of them all is made.
MANY = frozenset(
    f"{first}{second}{number}" for first in "ab" for second in "<.*" for number in "123"
)


@given(st.text("ab<|.*123", max_size=12), st.sets(st.text("ab<.12", min_size=1, max_size=5)))
@example("ab<1", set())
@example("x<", {"<"})
def test_many_names_are_found_as_few_are(text: str, others: set[str]) -> None:
    chosen = MANY | others
    assert len(chosen) > FEW
    # The leftmost, and there the longest.
    found = sorted((text.find(name), -len(name), name) for name in chosen if name in text)
    assert refused(text, chosen) == (found[0][2] if found else None)


@given(st.text("ab<|.*", max_size=12), names)
def test_find_agrees_with_split(text: str, chosen: set[str]) -> None:
    assert refused(text, chosen) == next(split_special(text, chosen))[1]


def test_of_two_at_one_place_the_longer_counts() -> None:
    pieces = [("", "<a>b"), ("", "<a>"), ("", None)]
    assert list(split_special("<a>b<a>", {"<a>", "<a>b"})) == pieces


def test_the_empty_name_is_found_in_any_text() -> None:
    # As in tiktoken, where it is only ever refused.
    assert refused("a", {""}) == ""
    assert refused("ab", {"", "b"}) == ""
    assert refused("ab", {"", "a"}) == "a"
    assert refused("x", MANY | {""}) == ""
