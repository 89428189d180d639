"""Special and other added tokens, and how their names are found in text."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Set

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compat_bpe.pipeline import special_tokens
from compat_bpe.pipeline.added_tokens import AddedToken, AddedTokens, normalized_content
from compat_bpe.pipeline.normalizers.simple import Lowercase
from compat_bpe.pipeline.special_tokens import (
    FEW,
    NameFinder,
    SortedNames,
    allowed_names,
    split_special,
)
from tests.examples import scaled


def by_pattern(names: set[str], text: str) -> list[tuple[int, int]]:
    """The plain rule: the leftmost name, and there the longest."""
    longest_first = sorted(filter(None, names), key=len, reverse=True)
    pattern = "|".join(map(re.escape, longest_first)) or "(?!)"
    return [match.span() for match in re.finditer(pattern, text)]


#: So many names, none of them in the texts below, that a pattern is not used.
OTHERS = {f"x{number}" for number in range(FEW)}
alphabets = st.sampled_from(["ab", "a", "aé<|", "a\n\0]^-\\", "a\U0001f600\U0010ffff\uffff"])


@st.composite
def cases(draw: st.DrawFn) -> tuple[set[str], str]:
    alphabet = draw(alphabets)
    names = draw(st.sets(st.text(alphabet, max_size=6), max_size=30))
    parts = st.one_of(st.text(alphabet + "x1", max_size=8), st.sampled_from([*names, "x1"]))
    return names, "".join(draw(st.lists(parts, max_size=6)))


@settings(max_examples=scaled(300))
@given(cases(), st.booleans())
@example(({"a" * length for length in range(1, 40)}, "a" * 100), True)
@example(({"a" + "b" * length for length in range(40)}, "ac" + "ab" * 5 + "a" + "b" * 50), True)
@example(({""}, "a"), False)
def test_names_are_found_as_by_a_pattern(case: tuple[set[str], str], has_others: bool) -> None:
    names, text = case
    if has_others:
        names = names | OTHERS
    found = NameFinder(names)
    expected = by_pattern(names, text)
    assert list(found.spans(text)) == expected
    assert found.first(text) == (text[slice(*expected[0])] if expected else None)
    for place in range(len(text)):
        here = [len(name) for name in names if text.startswith(name, place)]
        assert found.length_at(text, place) == max(here, default=0)
        assert not any(here) or re.compile(found.candidates()).match(text, place)


@pytest.mark.parametrize("first", [0x4E00, 0x1F000, 0xFF80], ids=hex)
def test_so_many_beginnings_that_they_are_a_set_of_characters(first: int) -> None:
    names = {chr(point) + "!" for point in range(first, first + 400, 2)}
    found = NameFinder(names)
    assert found.candidates().startswith("[")
    text = "".join(chr(point) + "!?" for point in range(first - 3, first + 410))
    assert list(found.spans(text)) == by_pattern(names, text)


class Counted(str):
    """A name that counts how often a text is asked if it begins with another."""

    asked = 0

    def __getitem__(self, key: object) -> Counted:
        return Counted(super().__getitem__(key))  # type: ignore[index]

    def startswith(self, *arguments: object) -> bool:
        Counted.asked += 1
        return super().startswith(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        # Each name begins with all shorter ones, and the last one before the text is a long one.
        ({"a" + "b" * length for length in range(4000)}, "ac"),
        ({"a" + "b" * length for length in range(4000)}, "a" + "b" * 2000 + "c"),
        ({"a" * length + "b" for length in range(4000)}, "a" * 3000),
        ({"a" * length + end for length in range(2000) for end in "\0z"}, "a" * 1500 + "b"),
        ({f"<|reserved_special_token_{number}|>" for number in range(20000)}, "<|reserved_"),
    ],
    ids=["short in long", "half of long", "none", "both sides", "one beginning"],
)
def test_a_place_takes_few_steps(names: set[str], text: str) -> None:
    found = SortedNames(names)
    expected = max((len(name) for name in names if text.startswith(name)), default=0)
    Counted.asked = 0
    assert found.longest_at(Counted(text), 0) == expected
    # Two questions a jump; the way down is about three times the logarithm of the names.
    assert Counted.asked <= 80


def test_nothing_is_sorted_before_a_beginning_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(special_tokens, "SortedNames", lambda names: made.append(names))
    assert list(NameFinder(OTHERS | {"<b>"}).spans("a < b")) == []
    assert not made


#: 2,000 names that share their beginning, and 40,000 places for them: 95 s by a pattern of all.
HOSTILE = """
from compat_bpe.pipeline.added_tokens import AddedToken, AddedTokens
from compat_bpe.pipeline.special_tokens import SortedNames
from compat_bpe.pipeline.special_tokens import allowed_names
names = {"a" * length + "b": length for length in range(2000)}
tokens = AddedTokens([AddedToken(name, length) for name, length in names.items()])
text = "a" * 40000
assert list(tokens.spans(text, set())) == [(text, None)]
assert list(tokens.spans(text + "b", set())) == [(text[1999:], None), ("", 1999)]
assert allowed_names(text, frozenset(names), set(), "all") == set()
"""


def test_hostile_names_end() -> None:
    subprocess.run([sys.executable, "-c", HOSTILE], check=True, timeout=60)


def refused(text: str, names: Set[str]) -> str | None:
    """Return the name for which a text is refused."""
    try:
        assert allowed_names(text, frozenset(), set(), names) == set()
    except ValueError as error:
        return str(ast.literal_eval(str(error).splitlines()[0].partition(" token ")[2][:-1]))
    return None


@given(
    st.text("ab<|.*", max_size=12),
    st.sets(st.text("ab<|.*", min_size=1, max_size=4), max_size=4),
)
def test_the_pieces_are_the_text(text: str, chosen: set[str]) -> None:
    pieces = list(split_special(text, chosen))
    assert "".join(plain + (special or "") for plain, special in pieces) == text
    assert [special for _, special in pieces].index(None) == len(pieces) - 1
    assert all(special in chosen for _, special in pieces[:-1])
    # Nothing is overlooked: no name is left in plain text.
    assert not any(name in plain for plain, _ in pieces for name in chosen)
    assert refused(text, chosen) == pieces[0][1]


def test_of_two_at_one_place_the_longer_counts() -> None:
    pieces = [("", "<a>b"), ("", "<a>"), ("", None)]
    assert list(split_special("<a>b<a>", {"<a>", "<a>b"})) == pieces


def test_the_empty_name_is_found_in_any_text() -> None:
    # As in tiktoken, where it is only ever refused.
    assert refused("a", {""}) == ""
    assert refused("ab", {"", "b"}) == ""
    assert refused("ab", {"", "a"}) == "a"
    assert refused("x", OTHERS | {""}) == ""


Found = list[tuple[str, "int | None"]]


def split(text: str, *tokens: AddedToken, allowed: str = "") -> Found:
    return list(AddedTokens(tokens).spans(text, set(allowed.split())))


@given(
    st.lists(st.text("ab<", min_size=1, max_size=3), max_size=4, unique=True),
    st.sets(st.integers(0, 3)),
    st.sets(st.integers(0, 3)),
    st.text("ab< ", max_size=14),
)
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
    assert list(AddedTokens(tokens).spans(text, names_allowed)) == expected


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


@pytest.mark.parametrize(
    ("text", "tokens", "expected"),
    [
        # One that lost all its text is none, and one that lost some ends where it ended.
        ("a b", [("a", "rstrip"), (" ", "lstrip")], [("", 0), ("b", None)]),
        ("a  bc", [("a", "rstrip"), (" b", "lstrip")], [("", 0), ("", 1), ("c", None)]),
        # Of two alike the first counts, and one without a name never.
        ("axb", [("x", ""), ("x", ""), ("", "")], [("a", None), ("", 0), ("b", None)]),
        ("ab", [("", "")], [("ab", None)]),
        # Names are no patterns.
        ("a.b+c", [(".", ""), ("b+", "")], [("a", None), ("", 0), ("", 1), ("c", None)]),
    ],
)
def test_several_tokens(text: str, tokens: list[tuple[str, str]], expected: Found) -> None:
    listed = [
        AddedToken(name, number, **dict.fromkeys(flags.split(), True))
        for number, (name, flags) in enumerate(tokens)
    ]
    assert split(text, *listed) == expected


def test_normalized_tokens_are_looked_for_in_what_the_others_leave() -> None:
    tokens = [AddedToken("AB", 1), AddedToken("B", 2, normalized=True)]
    tested = AddedTokens(tokens, Lowercase())
    assert list(tested.spans("ABbBc", set())) == [("", 1), ("", 2), ("", 2), ("c", None)]
    assert normalized_content(tokens[0], Lowercase()) == "AB"
    assert normalized_content(tokens[1], Lowercase()) == "b"
    assert normalized_content(tokens[1], None) == "B"


def test_of_two_that_look_the_same_the_special_one_counts() -> None:
    tokens = [AddedToken("A", 1, normalized=True), AddedToken("a", 2, True, normalized=True)]
    tested = AddedTokens(tokens, Lowercase())
    assert list(tested.spans("a", {"a"})) == [("", 2)]
    assert list(tested.spans("a", set())) == [("a", None)]
