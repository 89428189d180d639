"""All shipped encodings on texts made to be hard."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.published import PUBLISHED, load_ranks
from tests.differential.reference import Pair, outcome, repaired
from tests.strategies import SPECIAL_PARTS, names_from, texts, texts_from


def check_ordinary(pair: Pair, text: str) -> None:
    ids = pair.ours.encode_ordinary(text)
    assert ids == pair.theirs.encode_ordinary(text)
    assert pair.ours.count(text) == len(ids)
    assert pair.ours.decode(ids) == repaired(text)


@pytest.mark.hypothesis
@pytest.mark.parametrize(
    "hard",
    [texts, st.text(st.characters(exclude_categories=()), max_size=200)],
    ids=["hard", "any"],
)
def test_any_text(shipped: Pair, hard: st.SearchStrategy[str], thorough: settings) -> None:
    @thorough
    @given(text=hard)
    def check(text: str) -> None:
        check_ordinary(shipped, text)

    check()


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", PUBLISHED)
def test_tokens_of_the_vocabulary(
    name: str, get_pair: Callable[[str], Pair], thorough: settings
) -> None:
    pair = get_pair(name)

    @thorough
    @given(text=texts_from(load_ranks(PUBLISHED[name].pack)))
    def check(text: str) -> None:
        check_ordinary(pair, text)

    check()


@pytest.mark.hypothesis
@pytest.mark.parametrize("name", PUBLISHED)
def test_allowed_and_disallowed(
    name: str, get_pair: Callable[[str], Pair], thorough: settings
) -> None:
    pair = get_pair(name)
    names = PUBLISHED[name].special_tokens
    part = st.one_of(texts, st.sampled_from(sorted(names)), st.sampled_from(SPECIAL_PARTS))
    chosen = names_from(names)

    @thorough
    @given(
        text=st.lists(part, max_size=6).map("".join),
        allowed=st.one_of(chosen, st.just("all")),
        disallowed=st.one_of(chosen, chosen.map(sorted), st.just("all"), st.just(())),
    )
    def check(text: str, allowed: object, disallowed: object) -> None:
        arguments = {"allowed_special": allowed, "disallowed_special": disallowed}
        ours = outcome(lambda: pair.ours.encode(text, **arguments))  # type: ignore[arg-type]
        theirs = outcome(lambda: pair.theirs.encode(text, **arguments))  # type: ignore[arg-type]
        assert ours == theirs
        if isinstance(ours, list):
            assert pair.ours.decode(ours) == pair.theirs.decode(ours)

    check()
