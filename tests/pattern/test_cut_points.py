"""Paths, cut points and reach of a pattern, on patterns of all kinds and all short words."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compat_bpe.pattern.cut_points import Automaton, Reach, cut_point_pairs, without_conditions
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pattern.translation import to_re
from compat_bpe.pattern.tree import Alternatives, Anchor, Look, Node, PatternError, walk
from tests.examples import scaled
from tests.pattern.random_trees import PATTERNS, hard_texts, trees, words


def accepts(automaton: Automaton, text: str) -> bool:
    """Return True if a path from a first position to a last one has these characters."""
    state, following = 0, automaton.first
    for char in text:
        state = following & automaton.holding[char]
        following = automaton.after[state]
    return bool(state & automaton.last)


@settings(max_examples=scaled(300))
@given(trees("ab"))
@example(parse("(?:ab){2}"))
@example(parse("a(?:b|$)a?"))
@example(parse("(?:a|(?=b)){1,3}b"))
@example(parse("(?:[ab]??)??a"))  # which PyPy's `re` takes for (?:[ab]??){0,2}?a
@example(parse("(?<=a)b"))
def test_every_match_has_a_path(tree: Node) -> None:
    find = re.compile(to_re(tree)).finditer
    bare = without_conditions(tree)
    assert not any(isinstance(node, (Look, Anchor)) for node in walk(bare))
    for automaton in (Automaton(tree), Automaton(bare)):
        for word in words("ab"):
            for match in find(word):
                assert not match[0] or accepts(automaton, match[0]), match


@pytest.mark.parametrize(
    ("low", "high"), [(0, 2), (1, 2), (2, 2), (0, 16), (2, 16), (16, 16), (0, 17), (2, 17)]
)
def test_rounds_are_counted_up_to_sixteen(low: int, high: int) -> None:
    automaton = Automaton(parse(f"ba{{{low},{high}}}c"))
    # With more rounds, none or any number, for all that is known.
    low, high = (low, high) if high <= 16 else (min(low, 1), 100)
    for rounds in range(20):
        assert accepts(automaton, "b" + "a" * rounds + "c") == (low <= rounds <= high), rounds


def test_a_range_is_held_where_one_of_its_characters_is() -> None:
    automaton = Automaton(parse("[a-c]|[d-f]$"))
    both = automaton.holding_any[range(ord("c"), ord("e"))]
    assert both == automaton.holding["a"] | automaton.holding["d"]
    assert automaton.holding_any[range(ord("g"), ord("z"))] == 0


#: Before two of them a cut is looked for.
LETTERS = "a ,"
WORDS = words(LETTERS)


@settings(max_examples=scaled(300))
@given(trees(LETTERS))
@example(parse("(?: a)+|,"))
@example(parse("(?:a,?){2}"))
@example(parse("(?:a|,)+"))
@example(parse("a(?> ,)"))
@example(parse("a(?:(?=,)|b)"))
@example(parse("a$|a "))
@example(parse("(?=a,a)a"))
@example(parse("a?(?: ?,)?"))
@example(parse("a{2}(?:,a)?"))
def test_the_sides_are_split_alone(tree: Node) -> None:
    try:
        splitter = Splitter.of_tree(Alternatives((tree, parse("a"))), "some")
    except PatternError:
        return  # neither `re` nor states can match it in bounded time
    if splitter.cut_points is None:
        return
    for word in WORDS:
        whole = splitter.chunks(word)
        for found in splitter.cut_points.finditer(word):
            sides = word[: found.end()], word[found.end() :]
            assert [chunk for side in sides for chunk in splitter.chunks(side)] == whole, sides


@pytest.mark.parametrize(
    ("pattern", "text", "places"),
    [
        ("[a-z]+|[^a-z]", "ab cd, e", [2, 5, 6]),
        (" ?[a-z]+|[^a-z]", "ab cd, e", [2, 5, 6]),
        ("(?: ?[a-z])+|,", "ab cd, e", [5, 6]),
        ("[a-z]+(?= )|.", "ab cd, e", [6]),
        (r"[a-z]+$|.", "ab, c", [3]),
        (r"\b.", "ab, c", []),
        ("▁[^▁]*|[^▁]+", "▁a▁▁b c▁", [2, 3, 7]),
        ("▁+[^▁]*|[^▁]+", "▁a▁▁b c▁", [2, 7]),
    ],
)
def test_there_is_a_cut_where_no_match_goes_on(pattern: str, text: str, places: list[int]) -> None:
    cut_points = Splitter(pattern).cut_points
    found = [] if cut_points is None else [match.end() for match in cut_points.finditer(text)]
    assert found == places


def test_fine_breaks_are_those_and_more() -> None:
    tree = parse("[a-z]+|[^a-z]")
    plain, fine = (dict(cut_point_pairs(tree, fine)) for fine in (False, True))
    assert not any(ord("1") in right for right in plain.values())
    assert any(ord("1") in right for right in fine.values())
    for left, right in plain.items():
        assert right - fine[left] == right - right


@given(st.sampled_from(PATTERNS).map(Splitter), hard_texts)
def test_a_match_is_the_same_wherever_all_that_it_looks_at_is(
    splitter: Splitter, text: str
) -> None:
    text = text.encode("utf-8", "replace").decode()
    chunks = splitter.chunks(text)
    assert "".join(chunks) == text
    starts = accumulate(map(len, chunks[:-1]), initial=0)
    #: For each number of chunks, all that they look at.
    looked_at = [*accumulate((splitter.reach.end(text, s) for s in starts if text), max)]
    for end in range(len(text)):
        # The most chunks that look at no more than there is: then fewer do not, either.
        number = bisect_right(looked_at, end)
        assert splitter.chunks(text[:end])[:number] == chunks[:number]


@settings(max_examples=scaled(300))
@given(trees("ab"))
@example(parse("(?:ab)+"))
@example(parse("a(?:ba)*(?!b)"))
@example(parse("(?:a{3}){2}"))
@example(parse("a(?:$|b)"))
@example(parse("a(?=b(?=a))"))
def test_any_match_is_the_same_wherever_all_that_it_looks_at_is(tree: Node) -> None:
    match = re.compile(to_re(tree)).match
    reach = Reach(tree)
    for word in words("ab"):
        end = reach.end(word, 0)
        if end < len(word):
            # Whatever may follow, and be it nothing.
            for other in (word[:end], word[:end] + "a", word[:end] + "bb"):
                found, expected = match(other), match(word)
                assert (found and found.span()) == (expected and expected.span()), (word, other)


@pytest.mark.parametrize(
    ("pattern", "text", "end"),
    [
        ("a{1,3}", "aaaaa", 3),
        ("a+", "aaab", 4),
        ("a+", "aaa", 4),
        ("a(?=bb)", "abb", 3),
        ("a{16}", "a" * 20, 16),
        # Not written out: any number of rounds, for all that is known.
        ("a{17}", "a" * 20, 21),
        ("a{2}|a{1}b{0}", "aaa", 2),
        ("a$", "ab", 2),
        ("a$", "a", 2),
        ("b", "a", 1),
        ("a(?=b{2})", "abbbb", 3),
        ("(?>a{2})", "aaaa", 2),
    ],
)
def test_it_looks_no_further_than_need_be(pattern: str, text: str, end: int) -> None:
    assert Splitter(pattern).reach.end(text, 0) == end
