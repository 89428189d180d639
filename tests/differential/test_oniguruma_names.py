r"""Oniguruma's names of classes, ``\R`` and ``\X``, against tokenizers."""

from __future__ import annotations

from functools import cache

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from compat_bpe.pattern.oniguruma import named, parse_oniguruma
from compat_bpe.pipeline.pre_tokenizers.split import Split
from compat_bpe.unicode import tables, tables_properties
from compat_bpe.unicode.properties import parse_ranges
from tests.differential.oniguruma import split_there
from tests.differential.reference import SCALARS
from tests.examples import scaled

POSIX = (
    *("alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct"),
    *("space", "upper", "word", "xdigit"),
)
NAMES = [
    *(*tables_properties.PROPERTIES, *tables_properties.BLOCKS, *tables_properties.SHORT_NAMES),
    *(*tables.CATEGORIES, *tables.SCRIPTS, *POSIX, "Any", "Assigned", "Unknown", "In_No_Block"),
    *("emoji", "in basic-latin", "XID start", "greek", "Punctuation", "Decimal_Number"),
]


@cache
def edges() -> str:
    """Return the characters at both sides of each place where a class begins or ends."""
    found: set[int] = set()
    all_tables = (tables.CATEGORIES, tables.SCRIPTS)
    more_tables = (tables_properties.PROPERTIES, tables_properties.BLOCKS)
    for table in (*all_tables, *more_tables):
        for points in map(parse_ranges, table.values()):
            found.update(bound + side for bound in points.bounds for side in (-1, 0))
    scalars = set(SCALARS)
    return "".join(char for char in map(chr, sorted(found - {-1})) if char in scalars)


def members_there(pattern: str, text: str) -> set[str]:
    split = pre_tokenizers.Split(tokenizers.Regex(pattern), "removed")
    left: set[str] = set()
    for start in range(0, len(text), 500):
        left.update(*(piece for piece, _ in split.pre_tokenize_str(text[start : start + 500])))
    return set(text) - left


def check(pattern: str, text: str) -> None:
    node = parse_oniguruma(pattern)
    here = {char for char in text if ord(char) in node.points}  # type: ignore[union-attr]
    assert here == members_there(pattern, text)


@pytest.mark.parametrize("name", POSIX)
@pytest.mark.parametrize("pattern", ["[[:{}:]]", "[[:^{}:]]", r"\p{{{}}}", r"[^\P{{{}}}]"])
def test_posix_classes_hold_the_same_characters(pattern: str, name: str) -> None:
    check(pattern.format(name), edges()[::11])


@pytest.mark.parametrize(
    "pattern", [r"\p{Emoji}", r"\p{ExtPict}", r"\P{^Alpha}", "[[:alpha:]_&&é]"]
)
def test_some_names_hold_the_same_characters(pattern: str) -> None:
    check(pattern, edges()[::5])


@pytest.mark.sweep
@pytest.mark.parametrize("name", NAMES)
def test_each_name_holds_the_same_characters(name: str) -> None:
    check(rf"\p{{{name}}}", edges())


@pytest.mark.sweep
def test_all_code_points_of_some() -> None:
    for name in ("Alphabetic", "Lowercase", "Uppercase", "Emoji", "Graph", "Print", "Word"):
        check(rf"\p{{{name}}}", SCALARS)


def test_names_are_known() -> None:
    for name in NAMES:
        assert named(name) or name == "Cs", name


#: One of each class of characters in clusters, twice for emoji and flags.
CLUSTERS = (
    "a é字1\r\n\x01\u0301\u0903\u0600\u200d\ufe0f🏽🇦🇧👍😀©ℹ"
    "\u1100\u1161\u11a8각가\u0915\u094d\u0937\u0e33\u0d4e"
)


@cache
def splitter(pattern: str) -> Split:
    return Split(parse_oniguruma(pattern))


@pytest.mark.parametrize(
    "pattern",
    [
        r"\X",
        r"\X+",
        r"\X{1,2}",
        r"\s+|\X",
        r"[a-z]|\X",
        r"[é\u0301]+|\X",
        r"\R|\X",
        r"\R",
        r"a\R?b|\R+",
    ],
)
@settings(max_examples=scaled(150))
@given(text=st.text(CLUSTERS, max_size=12))
def test_clusters_and_ends_of_lines_are_the_same(pattern: str, text: str) -> None:
    assert splitter(pattern).pieces([text] if text else []) == split_there(pattern, text)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "around", ["a{}", "{}\u0301", "👍{}👍", "👍\u200d{}", "{}\u1161", "🇦{}🇦", "\u0600{}b"]
)
def test_each_character_is_in_the_same_clusters(around: str) -> None:
    for start in range(0, len(SCALARS), 2000):
        text = "\n".join(around.replace("{}", char) for char in SCALARS[start : start + 2000])
        assert splitter(r"\X").pieces([text]) == split_there(r"\X", text)
