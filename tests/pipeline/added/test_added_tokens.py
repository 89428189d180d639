"""Finding added tokens, against the rule; the differential tests compare with tokenizers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compat_bpe.pipeline.added.added_tokens import AddedToken, AddedTokens, normalized_content
from compat_bpe.pipeline.normalizers.simple import Lowercase

Found = list[tuple[str, "int | None"]]


def split(text: str, *tokens: AddedToken, allowed: str = "") -> Found:
    return list(AddedTokens(tokens).split(text, set(allowed.split())))


names = st.lists(st.text("ab<", min_size=1, max_size=3), max_size=4, unique=True)


@given(names, st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3)), st.text("ab< ", max_size=14))
def test_leftmost_and_longest(
    contents: list[str], special: set[int], allowed: set[int], text: str
) -> None:
    tokens = [AddedToken(name, i, special=i in special) for i, name in enumerate(contents)]
    expected: Found = []
    plain, at = "", 0
    while at < len(text):
        here = [token for token in tokens if text.startswith(token.content, at)]
        longest = max(here, key=lambda token: len(token.content), default=None)
        if longest is None:
            plain += text[at]
            at += 1
            continue
        at += len(longest.content)
        if longest.special and longest.id not in allowed:
            plain += longest.content  # and no other is found within it
            continue
        expected += [(plain, None)] * bool(plain) + [("", longest.id)]
        plain = ""
    expected += [(plain, None)] * bool(plain)
    names_allowed = {token.content for token in tokens if token.id in allowed}
    assert list(AddedTokens(tokens).split(text, names_allowed)) == expected


@pytest.mark.parametrize(
    ("text", "flags", "expected"),
    [
        ("a <b> c", "lstrip", [("a", None), ("", 1), (" c", None)]),
        ("a <b> c", "rstrip", [("a ", None), ("", 1), ("c", None)]),
        ("a \t\n<b>\u3000\xa0c", "lstrip rstrip", [("a", None), ("", 1), ("c", None)]),
        # U+001C is white space to Python alone.
        ("\x1c<b>\x1c", "lstrip rstrip", [("\x1c", None), ("", 1), ("\x1c", None)]),
        ("  <b>  ", "lstrip rstrip", [("", 1)]),
        # What the first took, the second has no more.
        ("<b> <b>", "lstrip rstrip", [("", 1), ("", 1)]),
        ("<b>x", "single_word", [("<b>x", None)]),
        ("x<b>", "single_word", [("x<b>", None)]),
        (" <b>.", "single_word", [(" ", None), ("", 1), (".", None)]),
        ("<b>", "single_word", [("", 1)]),
        ("é<b>", "single_word", [("é<b>", None)]),
        ("<b><b>", "", [("", 1), ("", 1)]),
        ("", "", []),
    ],
)
def test_what_is_beside_a_token(text: str, flags: str, expected: Found) -> None:
    token = AddedToken("<b>", 1, **dict.fromkeys(flags.split(), True))
    assert split(text, token) == expected


def test_a_token_that_lost_all_its_text_is_none() -> None:
    tokens = AddedToken("a", 1, rstrip=True), AddedToken(" ", 2, lstrip=True)
    assert split("a b", *tokens) == [("", 1), ("b", None)]


def test_a_token_that_lost_some_of_its_text_ends_where_it_ended() -> None:
    tokens = AddedToken("a", 1, rstrip=True), AddedToken(" b", 2, lstrip=True)
    assert split("a  bc", *tokens) == [("", 1), ("", 2), ("c", None)]


def test_normalized_tokens_are_looked_for_in_what_the_others_leave() -> None:
    tokens = [AddedToken("AB", 1), AddedToken("B", 2, normalized=True)]
    tested = AddedTokens(tokens, Lowercase())
    assert list(tested.split("ABbBc", set())) == [("", 1), ("", 2), ("", 2), ("c", None)]
    assert normalized_content(tokens[0], Lowercase()) == "AB"
    assert normalized_content(tokens[1], Lowercase()) == "b"
    assert normalized_content(tokens[1], None) == "B"


def test_of_two_that_look_the_same_the_special_one_counts() -> None:
    tokens = [AddedToken("A", 1, normalized=True), AddedToken("a", 2, True, normalized=True)]
    tested = AddedTokens(tokens, Lowercase())
    assert list(tested.split("a", {"a"})) == [("", 2)]
    assert list(tested.split("a", set())) == [("a", None)]


def test_of_two_alike_the_first_counts_and_one_without_a_name_never() -> None:
    tokens = AddedToken("x", 1), AddedToken("x", 2), AddedToken("", 3)
    assert split("axb", *tokens) == [("a", None), ("", 1), ("b", None)]
    assert split("ab", AddedToken("", 3)) == [("ab", None)]


def test_names_are_no_patterns() -> None:
    assert split("a.b+c", AddedToken(".", 1), AddedToken("b+", 2)) == [
        ("a", None),
        ("", 1),
        ("", 2),
        ("c", None),
    ]
