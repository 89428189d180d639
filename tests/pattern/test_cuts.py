"""Safe places to cut, on patterns of all kinds and all short words."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings

from compat_bpe.pattern.ast import Alternatives, Node, PatternError
from compat_bpe.pattern.cuts import cut_point_pairs
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.splitter import Splitter
from tests.examples import scaled
from tests.pipeline.random_trees import trees, words

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
