"""The ways of a pattern: what ``re`` is given can be matched in few steps, and nothing is lost."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.encodings.patterns import PATTERNS
from compat_bpe.formats.checked_json import Json
from compat_bpe.formats.parts.pre_tokenizers import steps
from compat_bpe.pattern.ast import Node
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.prepared import PREPARED
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pattern.ways import is_bounded
from compat_bpe.pattern.writer import relax, walk
from compat_bpe.pipeline.pre_tokenizers.splitter import make_splitter
from tests.examples import scaled
from tests.pattern.backtracking import Backtracking
from tests.pipeline.random_trees import trees

HOSTILE = [
    *("(?:a+)+b", "(?:a+)+b|.", "(?:a|a)*b", "(?:a|aa)+b", "(?:(?:a|b)+)+c", "(?:a*b*a+)*c"),
    *("a*a*b", "a*a*a*a*b", r"\s*\s*\s*x", r"(?:\w+\s?)+$", r'"(?:[^"\\]+|\\.)*"'),
    *("a?" * 30 + "a" * 30, "(?:a|a)" * 30 + "b", "(?:a{1,100}){1,100}b", "a{0,50}a{0,50}b"),
    *("(?:(?=a*b)a)*c", "a+(?=a+b)", "(?:(?!a*b)a)*c", "(?=(?:a+)+b)a", "(?=(?:(?=a+)a)*)x"),
    *("(?:(?:a+)+b)+", "(?:(?:a+)+b|a)*", "a|(?:a+)+b"),
]
HARMLESS = [
    *("a*b", "(?:a+)+", "(?:a+b)+c", "(?:a*b|a)+", r'"(?:[^"\\]++|\\.)*"', r'"(?:[^"\\]|\\.)*"'),
    *(r"\w+@\w+\.com", r"https?://\S+", "[^\n]*\n", "<[^>]*>|[^<]+", r"[A-Z]+(?=[A-Z][a-z]+)"),
    *(r"\d+(?=\.\d+)", r"\s+(?!\S)", r"\d{1,3}(?=(?:\d{3})*\b)", "a{1,1000}b"),
    *("|".join(f"w{number}x{7 * number}" for number in range(500)), "(?:(?:(?:a*)b)*c)*d"),
]


@pytest.mark.parametrize("pattern", HOSTILE, ids=lambda pattern: pattern[:20])
def test_many_ways_are_noticed(pattern: str) -> None:
    assert not is_bounded(relax(parse(pattern)))


@pytest.mark.parametrize("pattern", HARMLESS, ids=lambda pattern: pattern[:20])
def test_few_ways_are_left_to_re(pattern: str) -> None:
    assert is_bounded(relax(parse(pattern)))


@pytest.mark.parametrize("pattern", sorted({*PATTERNS.values(), *PREPARED}))
def test_patterns_that_ship_are_left_to_re(pattern: str) -> None:
    """``Translation`` takes this for granted."""
    is_steps = pattern.startswith("{")  # as Python writes those of a file
    assert is_bounded(_tree_of_steps(pattern) if is_steps else relax(parse(pattern)))


def _tree_of_steps(text: str) -> Node:
    splitter = make_splitter(steps(Json(ast.literal_eval(text), "pre_tokenizer"))[:-1])
    assert splitter.tree is not None
    return splitter.tree


@settings(max_examples=scaled(200))
@given(trees("ab"), st.text("ab", max_size=3), st.sampled_from(["a", "b", "ab", "aab"]))
def test_what_is_left_to_re_takes_few_steps(tree: Node, start: str, again: str) -> None:
    tree = relax(tree)
    if not is_bounded(tree):
        return
    size = sum(1 for _ in walk(tree))
    for times in (4, 8, 16, 32):
        text = start + again * times
        # Each character in at most so many ways, and what ends a round is tried once more.
        matcher = Backtracking(text, 4 * max(64, size) * (len(text) + 1) * size)
        matcher.end(tree, 0)


def test_a_hostile_pattern_ends() -> None:
    chunks = Splitter("(?:a+)+b|.").chunks
    assert chunks("a" * 40) == ["a"] * 40
    assert chunks("a" * 40 + "b") == ["a" * 40 + "b"]
