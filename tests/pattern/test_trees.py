"""Trees of patterns: what is told from them is so, and what is made faster finds the same."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.published import PATTERNS
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pattern.translation import join_runs, relax, to_re
from compat_bpe.pattern.tree import (
    Chars,
    Node,
    can_be_empty,
    looks_back,
    project,
    stays_whole,
    surely_begins,
    walk,
)
from compat_bpe.unicode.properties import CodePoints
from tests.examples import scaled
from tests.pattern.random_trees import trees, words

JOINED = [
    "[A-Z]*[a-z]+|[A-Z]+[a-z]*",
    "[ .]?[A-Z]*[a-z]+(?:'s|'ll)?|[ .]?[A-Z]+[a-z]*(?:'s|'ll)?|[0-9]{1,3}| ?[^ A-Za-z0-9]+| +",
    "[0-9]|[ .]?[A-Z]*[a-z]+[!?]*|[ .]?[A-Z]+[a-z]*[!?]*|.",
]
LEFT_ALONE = [
    # A character of two classes: how many of them each run takes is not settled.
    *("[A-Za]*[a-z]+|[A-Za]+[a-z]*", "[ A]?[A-Z]*[a-z]+|[ A]?[A-Z]+[a-z]*"),
    *("[A-Z]*[a-z]+!|[A-Z]+[a-z]*!|.", " ?[A-Z]*[a-z]+|[A-Z]+[a-z]*|."),
    *("[A-Z]*[a-z]+!?|[A-Z]+[a-z]*|.", "[A-Z]*[a-z]+|[0-9]|[A-Z]+[a-z]*"),
    *("[A-Z]*?[a-z]+|[A-Z]+[a-z]*", "[A-Z]+[a-z]*|[A-Z]*[a-z]+", "[A-Z]+", ""),
]


@pytest.mark.hypothesis
@pytest.mark.parametrize("pattern", JOINED)
def test_joined_runs_match_as_before(pattern: str) -> None:
    tree = parse(pattern)
    joined = join_runs(tree)
    assert joined != tree
    before, after = re.compile(to_re(tree)), re.compile(to_re(joined))

    @given(st.text("abAB .'sl!?1", max_size=20))
    def run(text: str) -> None:
        assert after.findall(text) == before.findall(text)

    run()


@pytest.mark.parametrize("pattern", LEFT_ALONE)
def test_what_cannot_be_joined_is_left_alone(pattern: str) -> None:
    tree = parse(pattern)
    assert join_runs(tree) == tree


WORDS = words("ab")


def matches(tree: Node) -> list[tuple[int, int] | None]:
    """Return the match of a pattern at the beginning of each word."""
    compiled = re.compile(to_re(tree))
    return [found.span() if (found := compiled.match(word)) else None for word in WORDS]


@settings(max_examples=scaled(300))
@given(trees("ab"))
@example(parse("(?:a?+b)?+a"))
@example(parse("(?:(?>a|ab))?b"))
@example(parse("(?:a++b?){2}a"))
@example(parse("a?+(?:b|)a"))
@example(parse("a*+$"))
@example(parse("a*+(?=b)a"))
def test_relaxed_patterns_match_as_before(tree: Node) -> None:
    assert matches(relax(tree)) == matches(tree)


@settings(max_examples=scaled(300))
@given(trees("ab"))
def test_what_is_known_of_a_pattern_is_so(tree: Node) -> None:
    found = matches(tree)
    if not can_be_empty(tree):
        assert (0, 0) not in found
    for word, match in zip(WORDS, found):
        if word and ord(word[0]) in surely_begins(tree):
            assert match is not None, word


@settings(max_examples=scaled(300))
@given(trees("ab"))
@example(parse("(?!b)a|b?a"))
@example(parse("(?=b)a|a"))
@example(parse("b+a|b*a"))
@example(parse("(?>b)|(?>ab?)"))
@example(parse("b|b"))
def test_projected_patterns_match_words_of_the_alphabet_alike(tree: Node) -> None:
    projected = project(tree, lambda points: points & CodePoints.of("a"))
    expected, found = matches(tree), matches(projected)
    for number, word in enumerate(WORDS):
        if "b" not in word:
            assert found[number] == expected[number], word
        assert not any(
            ord("b") in node.points for node in walk(projected) if isinstance(node, Chars)
        )


@pytest.mark.parametrize(
    ("pattern", "relaxed"),
    [
        ("a++", "a+"),
        ("a++b", "a+b"),
        ("a?+b", "a?b"),
        ("a++b?", "a+b?"),
        ("a++b*c*", "a+b*c*"),
        ("a++(?:b|c)", "a+(?:b|c)"),
        ("(?>ab|a)", "ab|a"),
        ("(?:a++|b)c", "(?:a+|b)c"),
        ("a++$", r"a+\Z"),
        ("(?:a++b)?", "(?:a+b|)"),
        # These do not match the same without.
        ("a++a", "(?=(?P<a1>a+))(?P=a1)a"),
        ("a++[ab]", "(?=(?P<a1>a+))(?P=a1)[a-b]"),
        ("a++b?a", "(?=(?P<a1>a+))(?P=a1)b?a"),
        ("(?>a|ab)c", "(?=(?P<a1>a|ab))(?P=a1)c"),
        ("(?:ab)++a", "(?=(?P<a1>(?:ab)+))(?P=a1)a"),
    ],
)
def test_what_is_relaxed(pattern: str, relaxed: str) -> None:
    assert to_re(relax(parse(pattern))) == relaxed


@pytest.mark.parametrize(
    ("pattern", "points"),
    [
        ("a", "a"),
        ("a|b", "ab"),
        ("a+", "a"),
        ("a{2}", ""),
        ("a*", ""),
        ("a?b", "b"),
        ("a?[ab]c*", "b"),
        ("a?bc", ""),
        ("(?:a|b)?c", ""),
        ("a(?=b)", ""),
        ("(?=a)a", ""),
        ("(?>a)", ""),
    ],
)
def test_characters_at_which_a_pattern_surely_matches(pattern: str, points: str) -> None:
    assert surely_begins(parse(pattern)) == CodePoints.of(*points)


@pytest.mark.parametrize(
    ("pattern", "is_empty", "back"),
    [
        ("a", False, False),
        ("", True, False),
        ("a?b*", True, False),
        ("a?b", False, False),
        ("a|", True, False),
        ("(?:a?){2}", True, False),
        ("(?>a?)", True, False),
        ("(?>a)", False, False),
        ("$", True, False),
        ("^", True, True),
        ("(?=a)", True, False),
        ("(?<=a)", True, True),
        ("(?:a|(?=(?<!a)b)c)", False, True),
    ],
)
def test_what_may_be_empty_and_what_looks_back(pattern: str, is_empty: bool, back: bool) -> None:
    assert can_be_empty(parse(pattern)) is is_empty
    assert looks_back(parse(pattern)) is back


@pytest.mark.parametrize(
    ("pattern", "needed"), [("a+b", False), ("a++b", True), ("(?>a)b", True), ("(?=a++)b", True)]
)
def test_what_needs_groups(pattern: str, needed: bool) -> None:
    assert (re.compile(to_re(parse(pattern))).groups > 0) is needed


@pytest.mark.parametrize(
    ("pattern", "written"),
    [
        ("a{2,}b{2,3}c{2}", "a{2,}b{2,3}c{2,2}"),
        ("a+?b*?c??", "a+?b*?c??"),
        ("(?:ab)?c", "(?:ab|)c"),
        ("(?:ab)??c", "(?:|ab)c"),
        ("^a$", r"\Aa\Z"),
        ("(?=a)(?!a)(?<=a)(?<!a)", "(?=a)(?!a)(?<=a)(?<!a)"),
        ("(?>a)(?>b)", "(?=(?P<a1>a))(?P=a1)(?=(?P<a2>b))(?P=a2)"),
        ("(?:a|b)c", "(?:a|b)c"),
        ("a|b", "a|b"),
    ],
)
def test_what_is_written(pattern: str, written: str) -> None:
    assert to_re(parse(pattern)) == written


#: Patterns over few characters; the first eight must be taken for ones with the property.
WHOLE = [
    r"a+|b",
    r"a(?!b)|.",
    r"a++b|a|b|c",
    r"ab?(?!c)|[abc]|\s+$|\s",
    r"(?:ab)+?(?!a)|.",
    r"a+?$|a+b|.",
    r"(?:a|ab)(?!c)b?|.",
    r"(?>a)b|(?:aa|b)+|.",
]
SPLIT = [
    r"(?<=a)b+|.",
    r"(?<!a)b|..",
    r"\A.b|.",
    r"aa(?=b)|.",
    r"a(?!bc)b?|aab|.",
    r"(?>aaab|a)(?!c)|aa|.",
    r"(?:aaab|a)++(?!c)|aa|.",
    r"a(?!$)|.",
    r"\ba+|.b?",
    r"a(?!(?!b))|ab|.",
]


def test_known_patterns_have_the_property() -> None:
    without = [name for name, pattern in PATTERNS.items() if not stays_whole(parse(pattern))]
    # "it's " before a digit ends in a space, which is a chunk of its own at the end of a text.
    assert without == ["superbpe"]


@pytest.mark.parametrize("pattern", WHOLE)
@given(text=st.text("aaab c", max_size=8))
def test_chunks_stay_whole(pattern: str, text: str) -> None:
    assert stays_whole(parse(pattern))
    chunks = Splitter(pattern).chunks
    for chunk in chunks(text):
        assert chunks(chunk) == [chunk]


@pytest.mark.parametrize("pattern", SPLIT)
def test_all_others_are_told_apart(pattern: str) -> None:
    assert not stays_whole(parse(pattern))
