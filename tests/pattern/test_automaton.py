"""Paths through a pattern: all matches have one."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings

from compat_bpe.pattern.ast import Anchor, Look, Node
from compat_bpe.pattern.automaton import Automaton, without_conditions
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.writer import to_re, walk
from tests.examples import scaled
from tests.pipeline.random_trees import trees, words


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
