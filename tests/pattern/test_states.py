"""States find what ``re`` finds, and take few of them at a time."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from compat_bpe.pattern import states as states_module
from compat_bpe.pattern.ast import Alternatives, Anchor, Chars, Look, Node, PatternError, Sequence
from compat_bpe.pattern.lookahead import NoTable
from compat_bpe.pattern.matcher import Matcher
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pattern.states import States
from compat_bpe.pattern.writer import can_be_empty, relax, to_re
from compat_bpe.unicode.code_points import CodePoints
from tests.examples import scaled
from tests.pattern.backtracking import Backtracking
from tests.pipeline.random_trees import trees

LETTERS = "ab é𐐀"
_sets = st.sets(st.sampled_from(LETTERS), min_size=1).map(lambda some: CodePoints.of(*some))
_chars = st.one_of(_sets, _sets.map(CodePoints.__invert__)).map(Chars)
#: Conditions on the character before, or the start of the text.
_behind = st.builds(
    Look,
    st.one_of(_chars, st.builds(lambda one: Alternatives((one, Anchor("start"))), _chars)),
    st.just(False),
    st.booleans(),
)
_conditions = st.one_of(_behind, st.just(Anchor("start")), st.just(parse(r"\b")))
looking_back = st.lists(st.one_of(_conditions, trees(LETTERS)), min_size=1, max_size=4).map(
    lambda items: Sequence(tuple(items))
)


@settings(max_examples=scaled(200))
@given(st.one_of(trees(LETTERS), looking_back), st.text(LETTERS, max_size=10))
@example(parse("(?:a+)+b|."), "aaaa aab")
@example(parse(r"\ba+?|\Ba|^b"), "aa ba ab")
@example(parse("a++(?:b|a)"), "aab aaa")
@example(parse("[ab]{1,2}+b"), "abb ab bbb")
@example(parse("(?>a+|b)b"), "aab bb")
@example(parse("x?"), "axa")
@example(parse(r"(?<=a)b|(?<!a)b(?!\z)"), "abbb b")
def test_the_matches_are_those_of_re(tree: Node, text: str) -> None:
    tree = relax(tree)
    try:
        states = States(tree)
    except NoTable:
        return
    assert states.end(text, 0) == Backtracking(text, 10**6).end(tree, 0)
    with suppress(re.error):  # a lookbehind of variable width
        expected = Matcher(re.compile(to_re(tree)), can_be_empty(tree))
        assert list(states.spans(text)) == list(expected.find_spans(text))


@given(trees("ab"), st.text("ab", max_size=30))
def test_nothing_depends_on_what_was_forgotten(tree: Node, text: str) -> None:
    try:
        states = States(tree)
    except NoTable:
        return
    expected = list(states.spans(text))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states_module, "_MOST_KEPT", 0)
        patch.setattr(states_module, "_MOST_CHARACTERS", 1)
        assert list(States(tree).spans(text)) == expected


def test_there_are_never_many_states() -> None:
    # In advance, these were 2 to the power of 60.
    states = States(parse("(?:a|b)*a" + "(?:a|b)" * 60))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(states_module, "_MOST_KEPT", 5_000)
        text = "".join("ab"[number * number % 7 % 2] for number in range(3_000))
        states.end(text, 0)
        assert states.kept <= 5_000 + 200


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"(?>a|a+b)+(?:a+)+c", "and it has an atomic group"),
        (r"(?:ab|a+)++(?:a+)+c", "and it has a possessive group"),
        (r"(?:a+)+b(?=cde)", "and it looks far ahead"),
        (r"(?<=ab)(?:a+)+b", "and it looks far back"),
        ("(?:a{1,2000}){1,50}b", "and it repeats a part in many rounds"),
        (
            "(?:(?:a+)+bcdefg){1,900}h",
            "and it has more than 1,000 parts if its repeats are written out",
        ),
    ],
)
def test_a_pattern_without_states_is_refused_at_load(pattern: str, reason: str) -> None:
    with pytest.raises(PatternError, match=f"in too many ways to try them all, {reason}; write"):
        Splitter(pattern)


def test_a_splitter_by_states_does_all_that_others_do() -> None:
    splitter = Splitter(r"(?:a+)+b|\w")
    assert splitter.chunks("aab é! aa") == ["aab", "é", "a", "a"]
    assert splitter.replace("aab!", "-") == "-!"
    assert splitter.chunk_end("xaab")(1) == 4
    assert "".join(splitter.segments("aab " * 1000)) == "aab " * 1000
