"""Patterns in Oniguruma's syntax, against tokenizers, which uses it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat_bpe.pattern.ast import PatternError
from compat_bpe.pattern.oniguruma import parse_oniguruma, to_oniguruma
from compat_bpe.pattern.parser import parse
from compat_bpe.pipeline.pre_tokenizers.split import Split
from compat_bpe.pipeline.pre_tokenizers.splitter import StepSplitter
from compat_bpe.unicode.tables import CATEGORIES, SCRIPTS
from tests.differential.oniguruma import split_here, split_there
from tests.differential.reference import SCALARS, sample
from tests.examples import scaled


@pytest.mark.parametrize(
    "name",
    [
        *(rf"\p{{{name}}}" for name in [*CATEGORIES, "L", "M", "N", "P", "S", "Z", "C", "Letter"]),
        *(rf"\p{{{name}}}" for name in ("Han", "Latin", "Cyrillic", "Hiragana", "Greek", "Thai")),
        *(rf"\{letter}" for letter in "wWdDsShH"),
        ".",
        "(?m:.)",
        r"\p{^L}",
        r"[^\p{L}\s]",
        # In a class, six of the characters of `\w` are none of it.
        *(r"[\w]", r"[^\w\s]", r"[\W]", r"[^\d\W]", r"[\w&&[^a]]", r"[\s]", r"[\D]", r"[^\h]"),
        r"[\p{L}&&\p{Lu}]",
    ],
)
def test_classes_hold_the_same_characters(name: str, code_points: str) -> None:
    points = parse_oniguruma(name)
    splitter = StepSplitter([Split(points)])
    # Each character of the class is a piece, and so is what stands between two of them.
    text = code_points
    if len(text) == len(SCALARS) and name not in (r"\w", r"\p{L}"):
        text = text[::7]
    assert splitter.chunks(text) == split_there(name, text)


def test_all_scripts_are_known_there_too() -> None:
    text = sample()
    for name in SCRIPTS:
        pattern = rf"\p{{{name}}}"
        assert split_here(pattern, text) == split_there(pattern, text), name


@pytest.mark.parametrize(
    "pattern",
    [
        "^a|b$",
        r"a\Z|\Ab",
        r"a\z",
        "a(?i)b|c",
        "(a(?i)b|c)d",
        "a{1,2}+",
        "a{2}?",
        "a{1,2}?",
        "a{,2}",
        "a{1,}+b",
        "(?i:'s|'ll|'re)",
        "(?i)[a-k]+",
        "a++a",
        "(?>a|ab)c",
        r"\bab\b|\B1",
        r"(?<=a)b|(?<!b)c",
        "a.b",
        "(?m:a.b)",
        "(?<name>a)b",
        r"\x41|\u0042|\x{43}",
        r"\t|\n|\h",
        "[a-c&&[^b]]+",
        "a*?b",
        "a|ab|b",
        "x*",
        "a?",
        "$",
        "^",
    ],
)
@settings(max_examples=scaled(100))
@given(text=st.text("abcABC 's\nlLrRE1\x85K\u212a\u017f", max_size=14))
def test_a_pattern_splits_the_same(pattern: str, text: str) -> None:
    assert split_here(pattern, text) == split_there(pattern, text)


atoms = st.sampled_from(["a", "b", ".", r"\w", r"\s", "[ab]", "[^a]", r"\p{L}", "(?i:b)"])
quantifiers = ["", "", "", "?", "*", "+", "{2}", "{1,2}", "+?", "*+", "?+", "{1,2}+", "{2}?"]
conditions = st.sampled_from(["^", "$", r"\b", "(?=a)", "(?!b)", r"\Z", "(?<=a)"])
single = st.one_of(st.builds("".join, st.tuples(atoms, st.sampled_from(quantifiers))), conditions)
patterns = st.recursive(
    st.lists(single, min_size=1, max_size=3).map("".join),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("|".join),
        inner.map(lambda pattern: f"(?:{pattern})"),
        inner.map(lambda pattern: f"(?>{pattern})"),
    ),
    max_leaves=4,
)


@settings(max_examples=scaled(500))
@given(patterns, st.lists(st.text("abB \n", max_size=8), max_size=4))
def test_any_pattern_splits_the_same_or_is_refused(pattern: str, several: list[str]) -> None:
    try:
        split_here(pattern, "x")
    except PatternError:
        return
    # Written back from the tree it is the same pattern, too.
    written = to_oniguruma(parse_oniguruma(pattern))
    for text in several:
        expected = split_there(pattern, text)
        assert split_here(pattern, text) == expected
        assert split_there(written, text) == expected


@pytest.mark.parametrize(
    "pattern",
    [
        r"\pL",
        r"(a)\1",
        r"\K",
        "(?s:.)",
        "(?x:a b)",
        "(?P<a>b)",
        "[a--b]",
        "[a~~b]",
        "(?i:s(s))",
        "(?i:s)(?i:s)",
        "(?<!(?<!s?))",
        "(?i:(?:xs)(?:tx?))",
        "(?i:s{1}s)",
        "(?i)f(?:i|j)|f(?:ix)",
        *(r"(?i:\p{Lu})", "(?i:[ßﬀ])", "(?i:s[[^x]]t)", r"\p{InCB}", r"\p{Nope}", "[[:nope:]]"),
        *(r"\p{L}|\X", r"\Xa", r"(?=\X)a", r"\X{2}", r"[\X]", r"[\R]"),
        r"\xe9",
        r"\u{41}",
        "(?~ab)",
        "a(",
        "*a",
    ],
)
def test_what_might_mean_something_else_is_refused(pattern: str) -> None:
    with pytest.raises(PatternError):
        parse_oniguruma(pattern)


def test_the_written_pattern_has_no_surrogates() -> None:
    assert re.search("[\ud800-\udfff]", to_oniguruma(parse(r"[^a]|\P{L}|."))) is None
