"""A pattern has limits, which are noticed before anything large is made of it."""

from __future__ import annotations

import pytest

from compat_bpe.pattern import matcher
from compat_bpe.pattern.ast import PatternError, PatternTooLarge
from compat_bpe.pattern.cuts import cut_point_pairs
from compat_bpe.pattern.oniguruma import parse_oniguruma
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.reach import Reach
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pipeline.pypy.table import table_of

CHINESE = "".join(map(chr, range(0x4E00, 0x4E00 + 6000)))


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("a" * 2_000_000, "it has more than 100,000 characters"),
        ("(" * 100_001, "it has more than 100,000 characters"),
        ("a{" + "9" * 5000 + "}", "a repeat count above 100,000"),
        ("a{2," + "0" * 5000 + "}", "a repeat count above 100,000"),
        ("a{100001}", "a repeat count above 100,000"),
        ("(?:(?:a{100}){100}){101}", "more than 1,000,000 characters if its repeats are written"),
        ("(" * 101 + "a" + ")" * 101, "groups are nested more than 100 deep"),
        ("[" * 101 + "a" + "]" * 101, "classes are nested more than 100 deep"),
        (r"\p{L}" * 400, "it has more than 200,000 ranges in its classes"),
        ("[" + r"\p{L}" * 10_000 + "]", "its classes join more than 1,000,000 ranges"),
        ("[" + r"\p{L}&&" * 10_000 + "a]", "its classes join more than 1,000,000 ranges"),
        ("|".join(CHINESE), "it has more than 5,000 different classes"),
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.parametrize("read", [parse, parse_oniguruma, Splitter])
def test_a_pattern_beyond_them_is_refused(read: object, pattern: str, reason: str) -> None:
    with pytest.raises(PatternTooLarge, match=reason):
        read(pattern)  # type: ignore[operator]


def test_repeats_of_repeats_are_nested() -> None:
    with pytest.raises(PatternTooLarge, match="nested more than 100 deep"):
        parse_oniguruma("a" + "{1}" * 1000)


@pytest.mark.parametrize(
    "pattern",
    [
        *("a?" * 800, "(?:a|" * 99 + "b" + ")+" * 99, "(?:" + "|".join(CHINESE[:1000]) + ")+"),
        *("(?:" * 4 + "a" + "{16})" * 4, "a{1,50000}b", "(?=a" * 99 + ")" * 99 + "a"),
        *("[" * 99 + "a" + "]" * 99, "|".join(f"w{number}" for number in range(300))),
    ],
    ids=lambda text: text[:20],
)
def test_a_large_pattern_can_be_used(pattern: str) -> None:
    splitter = Splitter(pattern)
    assert "".join(splitter.segments("ab é " * 1000)) == "ab é " * 1000
    splitter.chunks("aab é")
    assert splitter.reach.end("ab", 0) <= 3
    table = table_of(splitter)
    assert table is None or table.width < 250


def test_what_follows_what_is_bounded() -> None:
    tree = parse("(?:" + "|".join(CHINESE[:1000]) + ")+")
    assert cut_point_pairs(tree) == []
    assert Reach(parse("a" * 6000)).end("ab", 0) == 3  # it is not followed any more


def test_a_pattern_for_regex_has_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("regex")
    splitter = Splitter(r"((?:a|a)+)\1b|a")
    assert splitter.chunks("aab aa") == ["aab", "a", "a"]
    monkeypatch.setattr(matcher, "_FEWEST_SECONDS", 0.01)
    with pytest.raises(PatternError, match="a text of 60 characters takes more than 0 seconds"):
        splitter.chunks("a" * 60)
