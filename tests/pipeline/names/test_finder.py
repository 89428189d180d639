"""Finding names in text: many are found as by a pattern of all, in a time that few steps bound."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compat_bpe.pipeline.names import sorted_names
from compat_bpe.pipeline.names.finder import FEW, NameFinder
from compat_bpe.pipeline.names.sorted_names import SortedNames
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
    monkeypatch.setattr(sorted_names, "SortedNames", lambda names: made.append(names))
    assert list(NameFinder(OTHERS | {"<b>"}).spans("a < b")) == []
    assert not made


#: 2,000 names that share their beginning, and 40,000 places for them: 95 s by a pattern of all.
HOSTILE = """
from compat_bpe.pipeline.added.added_tokens import AddedToken, AddedTokens
from compat_bpe.pipeline.added.special import allowed_names
names = {"a" * length + "b": length for length in range(2000)}
tokens = AddedTokens([AddedToken(name, length) for name, length in names.items()])
text = "a" * 40000
assert list(tokens.split(text, set())) == [(text, None)]
assert list(tokens.split(text + "b", set())) == [(text[1999:], None), ("", 1999)]
assert allowed_names(text, frozenset(names), set(), "all") == set()
"""


def test_hostile_names_end() -> None:
    subprocess.run([sys.executable, "-c", HOSTILE], check=True, timeout=60)
