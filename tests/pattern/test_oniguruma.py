"""Patterns in Oniguruma's syntax: what is refused with which words, and what is the same here."""

from __future__ import annotations

import pytest

from compat_bpe.encodings.patterns import PATTERNS
from compat_bpe.pattern.ast import PatternError
from compat_bpe.pattern.oniguruma import parse_oniguruma
from compat_bpe.pattern.parser import parse


@pytest.mark.parametrize(
    ("pattern", "position", "reason"),
    [
        (r"a(?i:x(s)\x73)", 13, "case is ignored where letters may be one character"),
        ("(?i)f(?:[a]|i)(f(l))", 19, "case is ignored where letters may be one character"),
        ("(?i:[ßﬀ])", 8, "case is ignored where letters may be one character"),
        ("a[[:alpha:]]\\p{InCB}", 12, r"the property \\p\{InCB\} is not supported"),
        ("[a--b]", 2, "-- in a class is not supported"),
        (r"a\xe9", 1, r"the escape \\xe9 is not supported"),
        (r"a\X", 0, r"\\X is supported only beside branches without emoji"),
        ("(?s:a)", 0, r"the group \(\?s: has flags that are not supported"),
    ],
)
def test_refusals_name_the_place(pattern: str, position: int, reason: str) -> None:
    with pytest.raises(PatternError, match=reason) as caught:
        parse_oniguruma(pattern)
    assert caught.value.position == position


@pytest.mark.parametrize("pattern", [PATTERNS["llama3"], PATTERNS["o200k_base"], "(?i:s)t"])
def test_what_means_the_same_is_the_same_tree(pattern: str) -> None:
    assert parse_oniguruma(pattern) == parse(pattern)
    assert hash(parse_oniguruma(pattern)) == hash(parse(pattern))


def test_what_means_something_else_is_another_tree() -> None:
    assert parse_oniguruma("a{2}?|a{1,2}+") == parse("(?:a{2})?|(?:a{1,2})+")
    for pattern in ("^a", r"\w", "a{2}?", "a{1,2}+", "((?i)a)b"):
        assert parse_oniguruma(pattern) != parse(pattern)
