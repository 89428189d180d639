"""Tables of states find what ``re`` finds, on any interpreter."""

from __future__ import annotations

import re
import sys
from contextlib import suppress

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from compat_bpe import get_encoding
from compat_bpe.encodings.published import PATTERNS
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pattern.states import NoTable
from compat_bpe.pattern.translation import relax, to_re
from compat_bpe.pattern.tree import (
    Alternatives,
    Anchor,
    Chars,
    Look,
    Node,
    PatternError,
    Repeat,
    Sequence,
    can_be_empty,
)
from compat_bpe.pipeline.pypy.encoder import Table, table_of
from compat_bpe.unicode.properties import CodePoints
from compat_bpe.unicode.surrogates import repair
from tests.pattern.random_trees import trees
from tests.strategies import texts

#: It looks two characters ahead, as no table does.
FAR = PATTERNS["superbpe"]
SPLITTERS = {pattern: Splitter(pattern) for pattern in sorted({*PATTERNS.values()} - {FAR})}
#: Several steps that are joined into one pattern.
DEEPSEEK = get_encoding("deepseek_v3").core.splitter
assert isinstance(DEEPSEEK, Splitter)
SPLITTERS["deepseek"] = DEEPSEEK
PUBLISHED = list(SPLITTERS)
#: One character of each length in UTF-8.
LETTERS = "ab\n é字𐐀"


def chunks(table: Table, text: str) -> list[str]:
    data = text.encode()
    bounds = table.bounds(data)
    return [data[start:end].decode() for start, end in zip(bounds[::2], bounds[1::2])]


def made_table(splitter: Splitter) -> Table:
    table = table_of(splitter)
    assert table is not None
    return table


def test_a_pattern_that_looks_far_ahead_has_no_table() -> None:
    assert table_of(Splitter(FAR)) is None


def _larger(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    def repeat(item: Node, low: int, more: int | None, mode: str) -> Node:
        if can_be_empty(item):  # of such repeats only one is taken
            return Repeat(item, min(low, 1), 1, mode)
        return Repeat(item, low, None if more is None else max(low + more, 1), mode)

    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        several.map(Sequence),
        several.map(Alternatives),
        st.builds(
            repeat,
            inner,
            st.integers(0, 2),
            st.none() | st.integers(0, 2),
            st.sampled_from(["", "?"]),
        ),
    )


_sets = st.sets(st.sampled_from(LETTERS), min_size=1).map(lambda some: CodePoints.of(*some))
_chars = st.one_of(_sets, _sets.map(CodePoints.__invert__)).map(Chars)
_ends = st.just(Anchor("end"))
_one = st.one_of(_chars, _ends, st.lists(st.one_of(_chars, _ends), max_size=2).map(
    lambda some: Alternatives(tuple(some)) if some else Sequence(())
))  # fmt: skip
_looks = st.builds(Look, _one, st.just(True), st.booleans())
_simple = st.recursive(st.one_of(_chars, _chars, _looks, _ends), _larger, max_leaves=12)
#: Patterns that have a table, unless it would have too many states.
with_table = _simple.map(
    lambda node: Sequence((node, node)) if can_be_empty(node) else node
).filter(lambda node: not can_be_empty(node))
words = st.text(LETTERS, max_size=12)


@given(with_table, words)
@example(parse("(?:a|ab){0,2}?(?=b)b"), "abab")
@example(parse(r"a*?b|a+"), "aaab aaa")
@example(parse(r"\s+(?!\S)|\s*\n|\s"), " \n  a")
@example(parse(r"(?:ab|a)(?:b|bb)?"), "abbb")
@example(parse(r"a+(?=b|$)"), "aab aa a")
@example(parse(r"é+(?!é|\z)|."), "éé字é")
def test_the_matches_are_those_of_re(tree: Node, text: str) -> None:
    expected = [match.group() for match in re.finditer(to_re(tree), text)]
    try:
        table = Table(tree)
    except NoTable as error:
        assume(str(error) != "too many states")
        raise
    assert chunks(table, text) == expected


@given(trees("abc"), st.text("abc", max_size=8))
@example(parse("a?+ab|b"), "aab")
@example(parse("(?>a|ab)c|b"), "abc")
@example(parse("a(?=bc)|b"), "abc")
@example(parse("a(?=(?=b))"), "ab")
@example(parse("a(?=b*)|a(?=b+)b"), "ab")
def test_any_pattern_has_a_right_table_or_none(tree: Node, text: str) -> None:
    try:
        table = Table(relax(tree))
    except NoTable:
        return
    assert chunks(table, text) == [match.group() for match in re.finditer(to_re(tree), text)]


@pytest.mark.parametrize("pattern", PUBLISHED)
def test_published_patterns_have_small_tables(pattern: str) -> None:
    table = made_table(SPLITTERS[pattern])
    assert len(table.steps) // table.width <= 40
    assert table.width <= 30


@given(st.sampled_from(PUBLISHED), texts.map(repair))
def test_published_patterns_split_as_by_re(pattern: str, text: str) -> None:
    splitter = SPLITTERS[pattern]
    assert chunks(made_table(splitter), text) == splitter.chunks(text)


@pytest.mark.sweep
@pytest.mark.parametrize("pattern", PUBLISHED)
@pytest.mark.parametrize("around", ["A{}{}' {}1", "\n{} !{}/"])
def test_every_code_point_is_split_as_by_re(pattern: str, around: str) -> None:
    splitter = SPLITTERS[pattern]
    points = [*range(0xD800), *range(0xE000, sys.maxunicode + 1)]
    for start in range(0, len(points), 10_000):
        text = "\n x".join(around.replace("{}", chr(p)) for p in points[start : start + 10_000])
        assert chunks(made_table(splitter), text) == splitter.chunks(text)


@pytest.mark.parametrize(
    "pattern",
    [
        r"^a",
        r"(?<=a)b",
        r"\ba",
        r"a(?=bc)",
        r"(?!abc)a",
        r"(?!a(?=b)b)a",
        r"(?!ab)(?:a|b)",
        r"(?=ab)a",
        "(?!" + "(?:x?|y?)" * 20 + "z)z",
        r"(?!a|[ab]c|[ac]d|[ad]e|[ae]f|[af]g|[ag]h|[ah]i|[ai]j)a",
        r"(?>a|ab)c",
        r"(?:ab)++a",
        r"a{60}",
        r"a{1,1000}",
        r"a?",
        r"(?=a)",
        "|".join(f"{chr(200 + number)}x" for number in range(260)),
        "".join("(?:a|b)" + "a?b?" * 20 for _ in range(40)),
        r"(?:a|b)*a" + "(?:a|b)" * 10,
    ],
    ids=lambda pattern: str(pattern)[:20],
)
def test_what_a_table_cannot_do_is_refused(pattern: str) -> None:
    with pytest.raises(NoTable):
        Table(relax(parse(pattern)))
    with suppress(PatternError):  # one of them may be matched in too many ways
        assert table_of(Splitter(pattern)) is None


def test_a_pattern_for_regex_has_no_table() -> None:
    pytest.importorskip("regex")
    assert table_of(Splitter(r"(a)\1|.")) is None


@given(with_table, words)
@example(parse(r"a+ ?|\s+(?!\S)|\s"), "aa a  a")
def test_cut_points_keep_the_chunks(tree: Node, text: str) -> None:
    table = Table(tree)
    data = text.encode()
    cut = table.next_cut(data, 0)
    while cut >= 0:
        left, right = data[:cut].decode(), data[cut:].decode()
        assert chunks(table, left) + chunks(table, right) == chunks(table, text)
        cut = table.next_cut(data, cut)


@given(st.sampled_from(PUBLISHED), texts.map(repair))
def test_published_patterns_have_the_cut_points_of_cuts(pattern: str, text: str) -> None:
    """``Splitter`` looks for some of them, this for all."""
    splitter = SPLITTERS[pattern]
    table = made_table(splitter)
    for place in range(1, min(len(text), 30)):
        beside = text[place - 1 : place + 1]
        if splitter.is_cut(beside, fine=True):
            assert table.next_cut(beside.encode(), 0) == len(beside[0].encode())


def test_a_text_without_cut_points_has_none() -> None:
    table = made_table(SPLITTERS[PATTERNS["cl100k_base"]])
    assert table.next_cut(b"a" * 100, 0) == -1
    assert table.next_cut(b"", 0) == -1
    assert table.next_cut("字字 a".encode(), 3) == 6
