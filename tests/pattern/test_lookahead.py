"""A lookahead that is asked after a character gives the matches of one before it."""

from __future__ import annotations

import re

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from compat_bpe.pattern.ast import Alternatives, Anchor, Chars, Look, Node, Repeat, Sequence
from compat_bpe.pattern.lookahead import NoTable, asked_after, asked_of_next
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.writer import can_be_empty, to_re
from compat_bpe.pipeline.pypy.table import Table
from compat_bpe.unicode.code_points import CodePoints
from tests.pipeline.random_trees import trees, words

WORDS = words("abc", 4)
_sets = st.sets(st.sampled_from("abc"), min_size=1).map(lambda some: Chars(CodePoints.of(*some)))
_few = st.one_of(
    _sets,
    st.builds(Repeat, _sets, st.just(0), st.sampled_from([0, 1, None]), st.just("")),
    st.builds(Repeat, _sets, st.just(1), st.sampled_from([1, 2, None]), st.sampled_from(["", "?"])),
    st.just(Anchor("end")),
)
#: Patterns of which many are decided by two characters.
_short = st.lists(st.lists(_few, min_size=1, max_size=3).map(tuple).map(Sequence), max_size=3).map(
    lambda branches: Alternatives(tuple(branches)) if len(branches) > 1 else Sequence(())
)


@given(st.one_of(_short, trees("abc")), _sets)
@example(parse("a?b|c+a*"), parse("[abc]"))
@example(parse("a?$"), parse("[ab]"))
@example(parse("ab{0}"), parse("[ab]"))
@example(parse("a{2}|ba*?"), parse("[ab]"))
@example(parse("a(?:b|$)"), parse("[ab]"))
@example(parse("b{0}a"), parse("[ab]"))
@example(parse(r"a[\s\S]"), parse("[ab]"))
@example(parse("b?+b"), parse("[ab]"))
def test_to_ask_after_is_the_same(item: Node, chars: Chars) -> None:
    look = Look(item, ahead=True, negative=True)
    try:
        found = asked_after(look, chars)
    except NoTable:
        event("no table")
        return
    event("a table")
    before, after = re.compile(to_re(Sequence((look, chars)))), re.compile(to_re(found))
    for word in WORDS:
        assert bool(before.match(word)) == bool(after.match(word))


@given(_short, _sets, st.text("abc", max_size=9))
@example(parse("a?b"), parse("[ac]"), "aacaba")
@example(parse("b?c|ab"), parse("[abc]"), "abacbcaab")
def test_gaps_in_a_table(matches: Node, chars: Chars, text: str) -> None:
    gap = Repeat(Sequence((Look(matches, ahead=True, negative=True), chars)), 1, None, "")
    tree = gap if can_be_empty(matches) else Alternatives((matches, gap))
    try:
        table = Table(tree)
    except NoTable:
        return
    bounds = table.bounds(text.encode())
    assert list(zip(bounds[::2], bounds[1::2])) == [
        match.span() for match in re.finditer(to_re(tree), text)
    ]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("(?!a?b)[ab]", "a(?!b)"),
        ("(?!ab|c)[abc]", "b|a(?!b)"),
        ("(?!ab|[ac]$)[abc]", "b|a(?!b|\\Z)|c(?!\\Z)"),
        ("(?!ab|ac)[abc]", "[b-c]|a(?![b-c])"),
        ("(?!abc?)[ab]", "b|a(?!b)"),
        ("(?!b?+b)[ab]", None),
        ("(?!a*c|ab)[abx]", None),
        ("(?!a+b*)[ab]", "b"),
        ("(?!a|b)[ab]", "(?!)"),
        ("(?!)[ab]", "(?!)"),
    ],
)
def test_what_is_asked(pattern: str, expected: str | None) -> None:
    look, chars = parse(pattern).items  # type: ignore[union-attr]
    assert isinstance(look, Look)
    assert isinstance(chars, Chars)
    if expected is None:
        with pytest.raises(NoTable):
            asked_after(look, chars)
    else:
        assert set(to_re(asked_after(look, chars)).split("|")) == set(expected.split("|"))


@given(st.one_of(_short, trees("abc")))
def test_what_one_character_decides(node: Node) -> None:
    asked = asked_of_next(node)
    if asked is None:
        return
    points, end = asked
    pattern = re.compile(to_re(node))
    for word in WORDS:
        assert bool(pattern.match(word)) == (ord(word[0]) in points if word else end)
