"""Every code point, between every kind of neighbour, in every encoding: in a sweep.

By default there are a few code points of each class instead, in the same contexts.

An encoding's pattern and vocabulary see the full set of contexts once, since several encodings
share them. The others get one context, so that each of the seven has met every code point.
Characters that are unassigned, for private use or letters without case, 98 in 100, are told apart
by no pattern, and get fewer contexts; that they are just those is what ``test_unicode`` shows.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compat_bpe.encodings.published import PUBLISHED
from compat_bpe.unicode.properties import category
from tests.differential.reference import SCALARS, Pair, sample

#: ``{}`` is the code point.
CONTEXTS = [
    "{}{}",
    "a{}a",
    "A{}a",
    "a{}A",
    "A{}A",
    " {}a",
    "1{}1",
    "a{}1",
    "1{} ",
    "!{}!",
    " {} ",
    "\n{}\n",
    "\r\n{}  ",
    "\t{}\t",
    "   {}   ",
    "\n\n{}\n\n",
    "\xa0{}\u3000",
    "\u0301{}\u0301",
    "字{}字",
    "\U00010400{}\U00010428",
    "{}'s'{}'ſ",
    "a'{}",
    "'{}a",
    "A'l{} ",
    "'S{} ",
    "/{}/\n",
    "12{}34",
    "1{}23",
    "\n",
]
#: Ids show where chunks end only if a token could go across: two spaces, ``'s`` and ``23`` do here
#: by whether the code point is a space, a letter, a number or none of them.
FEW = ["  {}'s 1{}23\n"]
#: For an encoding whose pattern has met the other contexts in another.
ONE = [" {}\n"]

NO_CHARACTERS = category("Cn") | category("Co")
MANY_ALIKE = NO_CHARACTERS | category("Lo")
#: Code points a text is made of, so that a difference is soon found and memory is bounded.
SLICE = 2048

FULL = ["r50k_base", "cl100k_base", "o200k_base"]


def text_of(chars: str, contexts: list[str]) -> str:
    pattern = "".join(contexts)
    return "".join([pattern.replace("{}", char) for char in chars])


def check(pair: Pair, chars: str, contexts: list[str]) -> None:
    """Compare the ids; on a difference, name the first code point and context that differ."""
    for start in range(0, len(chars), SLICE):
        part = chars[start : start + SLICE]
        text = text_of(part, contexts)
        if pair.ours.encode_ordinary(text) != pair.theirs.encode_ordinary(text):
            for char in part:
                for context in (*contexts, "".join(contexts)):
                    small = text_of(char, [context])
                    ours = pair.ours.encode_ordinary(small)
                    theirs = pair.theirs.encode_ordinary(small)
                    assert ours == theirs, f"U+{ord(char):04X} in {context!a}"
            pytest.fail(f"U+{ord(part[0]):04X} to U+{ord(part[-1]):04X}, but only together")


@pytest.fixture(
    params=["sample", *(pytest.param(number, marks=pytest.mark.sweep) for number in range(4))]
)
def chars(request: pytest.FixtureRequest) -> str:
    """A few of each class, or a fourth of all, by turns, so that the fourths take equal time."""
    if request.param == "sample":
        return sample()
    number: int = request.param
    slices = range(number * SLICE, len(SCALARS), 4 * SLICE)
    return "".join(SCALARS[start : start + SLICE] for start in slices)


@pytest.mark.parametrize("name", FULL)
def test_every_context(name: str, chars: str, get_pair: Callable[[str], Pair]) -> None:
    pair = get_pair(name)
    check(pair, "".join(char for char in chars if ord(char) not in MANY_ALIKE), CONTEXTS)
    check(pair, "".join(char for char in chars if ord(char) in MANY_ALIKE), FEW)
    pair.ours.clear_cache()


@pytest.mark.parametrize("name", [name for name in PUBLISHED if name not in FULL])
def test_one_context(name: str, chars: str, get_pair: Callable[[str], Pair]) -> None:
    pair = get_pair(name)
    # The others are to its pattern what they are to the same one in another encoding.
    check(pair, "".join(char for char in chars if ord(char) not in NO_CHARACTERS), ONE)
    pair.ours.clear_cache()
