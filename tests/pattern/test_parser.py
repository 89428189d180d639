"""Reading patterns in both syntaxes: what is understood, and what is refused with which words."""

from __future__ import annotations

import re
import sys

import pytest

from compat_bpe.encodings.published import PATTERNS
from compat_bpe.pattern import splitter as splitter_module
from compat_bpe.pattern.cut_points import Reach, cut_point_pairs
from compat_bpe.pattern.oniguruma import parse_oniguruma
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.splitter import Splitter
from compat_bpe.pattern.tree import (
    EMPTY,
    Alternatives,
    Anchor,
    Atomic,
    Chars,
    Look,
    Node,
    PatternError,
    PatternTooLarge,
    Repeat,
    Sequence,
)
from compat_bpe.pipeline.pypy.encoder import table_of
from compat_bpe.unicode.properties import ALL, CodePoints


@pytest.mark.parametrize(
    ("pattern", "position", "reason"),
    [
        ("(a", 0, r"'\(' is not closed"),
        ("a)", 1, r"unmatched '\)'"),
        ("x[a", 1, r"'\[' is not closed"),
        ("*a", 0, "nothing to repeat"),
        ("a{3,2}", 1, "ends below its start"),
        ("a{1000000}", 1, "a repeat count above"),
        ("[z-a]", 1, "is not a range"),
        (r"[\s-a]", 1, "is not a range"),
        (r"[a-\P{Any}]", 1, "is not a range"),
        (r"a\p{Nope}", 1, r"the property \\p\{Nope\} is not supported"),
        (r"\x{110000}", 0, "is not a character"),
        (r"\uD800", 0, "is not a character"),
        (r"a\q", 1, r"the escape \\q is not supported"),
        (r"(a)\1", 3, r"the escape \\1 is not supported"),
        (r"\K", 0, r"the escape \\K is not supported"),
        ("(?<n", 1, "the group"),
        ("(?(1)a|b)", 1, "the group"),
        ("(?x: a)", 0, "flags that are not supported"),
        ("[[:nope:]]", 1, "is not known"),
        ("\\", 1, "an escape is not closed"),
        ("(" * 5000, 100, "nested more than"),
        ("[" * 5000, 99, "nested more than"),
    ],
)
def test_refusals_name_the_place(pattern: str, position: int, reason: str) -> None:
    with pytest.raises(PatternError, match=reason) as caught:
        parse(pattern)
    assert caught.value.position == position
    assert f"character {position}:" in str(caught.value)


def test_a_long_pattern_is_shown_by_its_beginning() -> None:
    for shown, pattern in (("a" * 59 + "(", "a" * 59 + "("), ("a" * 57 + "...", "a" * 60 + "(")):
        with pytest.raises(PatternError, match=re.escape(f"pattern '{shown}', character ")):
            parse(pattern)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        (r"[\p{L}&&[^a]]", "bé字", "a1"),
        (r"[a-e--[bc]]", "ade", "bcf"),
        (r"[a-c~~b-d]", "ad", "bc"),
        ("[]a]", "]a", "b"),
        ("[^]a]", "b", "]a"),
        ("[a-]", "a-", "b"),
        ("[[:^digit:]a]", "ax", "1"),
        (r"[\p{Han}]", "字", "aひ"),
        (r"\p{^L}", "1 ", "a"),
        (r"(?i:[^s])", "a", "sSſ"),
        (r"(?i:\P{Lu})", "1", "Aa"),
        (r"(?s:.)", "\na", ""),
        (".", "a", "\n"),
        (r"[\x{1F600}-\x{10FFFF}]", "😀\U0010ffff", "a"),
        (r"\s", "\x85\u3000", "\x1c\x1f\u180e"),
    ],
)
def test_sets(pattern: str, inside: str, outside: str) -> None:
    node = parse(pattern)
    assert isinstance(node, Chars)
    assert [char for char in inside + outside if ord(char) in node.points] == list(inside)


def chars(*members: str) -> Chars:
    return Chars(CodePoints.of(*members))


A, B = chars("a"), chars("b")
NO_NEWLINE = Chars(~CodePoints.of("\n"))


@pytest.mark.parametrize(
    ("pattern", "tree"),
    [
        ("", EMPTY),
        ("ab", Sequence((A, B))),
        ("a|b", Alternatives((A, B))),
        ("a|", Alternatives((A, EMPTY))),
        *((f"{opening}a)", A) for opening in ("(", "(?:", "(?P<n>", "(?<n>", "(?s:", "(?-i:")),
        ("(?=a)", Look(A, ahead=True, negative=False)),
        ("(?!a)", Look(A, ahead=True, negative=True)),
        ("(?<=a)", Look(A, ahead=False, negative=False)),
        ("(?<!a)", Look(A, ahead=False, negative=True)),
        ("(?>a)", Atomic(A)),
        *(
            (f"a{sign}{mode}", Repeat(A, low, high, mode))
            for mode in ("", "?", "+")
            for sign, low, high in (
                ("*", 0, None),
                ("+", 1, None),
                ("?", 0, 1),
                ("{2}", 2, 2),
                ("{2,}", 2, None),
                ("{2,3}", 2, 3),
                ("{,3}", 0, 3),
                ("{0}", 0, 0),
            )
        ),
        ("a{100000}", Repeat(A, 100_000, 100_000, "")),
        ("(?:a+){2}", Repeat(Repeat(A, 1, None, ""), 2, 2, "")),
        ("a+{2", Sequence((Repeat(A, 1, None, ""), chars("{"), chars("2")))),
        ("a+?+", Atomic(Repeat(A, 1, None, "?"))),
        ("[--]", chars("-")),
        ("[^--a]", Chars(~CodePoints.of("-", "a"))),
        ("()*a", A),
        ("a{", Sequence((A, chars("{")))),
        ("^", Anchor("start")),
        ("$", Anchor("end")),
        (r"\A", Anchor("start")),
        (r"\z", Anchor("end")),
        ("(?m:^)", Look(NO_NEWLINE, ahead=False, negative=True)),
        ("(?m:$)", Look(NO_NEWLINE, ahead=True, negative=True)),
        (".", NO_NEWLINE),
        ("(?s:.)", Chars(ALL)),
        ("(?s:(?-s:.).)", Sequence((NO_NEWLINE, Chars(ALL)))),
        ("(?i:a)b", Sequence((chars("a", "A"), B))),
        ("(?i)a", chars("a", "A")),
        ("(?i:(?-i:a)b)", Sequence((A, chars("b", "B")))),
        ("((?i)a)b", Sequence((chars("a", "A"), chars("b", "B")))),
        ("(?u:a)", A),
        *((rf"\{char}", chars(meant)) for char, meant in zip("aefnrtv", "\a\x1b\f\n\r\t\v")),
        *(
            (escape, chars("A"))
            for escape in (r"\x41", r"\u0041", r"\U00000041", r"\x{41}", r"\u{41}")
        ),
        (r"\.", chars(".")),
        (r"\h", chars("09", "AF", "af")),
        (r"\U0010FFFF", chars("\U0010ffff")),
        ("[a-c]", chars("ac")),
        ("[a-]", chars("a", "-")),
        (r"[\x61-c]", chars("ac")),
        ("[a-a]", A),
        ("[[a-c]&&[b-d]--c]", B),
        ("[ab&&bc]", B),
    ],
)
def test_trees(pattern: str, tree: Node) -> None:
    assert parse(pattern) == tree


@pytest.mark.parametrize("sign", [r"\b", r"\B"])
def test_word_boundaries(sign: str) -> None:
    found = [start for start, _ in Splitter(sign).spans("ab, é_1")]
    edges = [0, 2, 4, 7]
    assert found == (edges if sign == r"\b" else [at for at in range(8) if at not in edges])


def test_groups_and_classes_may_be_nested_to_some_depth() -> None:
    assert parse("(" * 99 + "a" + ")" * 99) == A
    assert parse("[" * 99 + "a" + "]" * 99) == A
    for opening, closing in ("()", "[]"):
        with pytest.raises(PatternError, match="nested more than 100 deep"):
            parse(opening * 101 + "a" + closing * 101)
        # Each is left again.
        assert isinstance(parse(f"{opening}a{closing}" * 200), Sequence)


def test_a_repeat_of_what_may_be_empty_is_refused() -> None:
    with pytest.raises(PatternError, match="character 0: it repeats something that may be empty"):
        Splitter("(a*|b)*")


def test_without_regex_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "regex", None)
    with pytest.raises(PatternError, match=r"character 3: the escape .*'\.\[regex\]'"):
        Splitter(r"(a)\1")


@pytest.mark.parametrize(
    ("pattern", "text", "chunks"),
    [
        (r"(a|b)\1", "aabbab", ["aa", "bb"]),
        # Lookbehind of no fixed width: `re` refuses it, not the parser.
        (r"(?<=a{1,2})b", "aab b", ["b"]),
    ],
)
def test_regex_takes_what_re_cannot(pattern: str, text: str, chunks: list[str]) -> None:
    pytest.importorskip("regex")
    assert Splitter(pattern).chunks(text) == chunks
    assert Splitter(pattern).chunks(text + "é字") == chunks


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
        "a?" * 800,
        "(?:a|" * 99 + "b" + ")+" * 99,
        "(?:" + "|".join(CHINESE[:1000]) + ")+",
        "(?:" * 4 + "a" + "{16})" * 4,
        "a{1,50000}b",
        "(?=a" * 99 + ")" * 99 + "a",
        "[" * 99 + "a" + "]" * 99,
        "|".join(f"w{number}" for number in range(300)),
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
    monkeypatch.setattr(splitter_module, "_FEWEST_SECONDS", 0.01)
    with pytest.raises(PatternError, match="a text of 60 characters takes more than 0 seconds"):
        splitter.chunks("a" * 60)


@pytest.mark.parametrize(
    ("pattern", "position", "reason"),
    [
        (r"a(?i:x(s)\x73)", 13, "ignoring case is not supported where letters"),
        ("(?i)f(?:[a]|i)(f(l))", 19, "ignoring case is not supported where letters"),
        ("(?i:[ßﬀ])", 8, "ignoring case is not supported where letters"),
        ("a[[:alpha:]]\\p{InCB}", 12, r"the property \\p\{InCB\} is not supported"),
        ("[a--b]", 2, "-- in a class is not supported"),
        (r"a\xe9", 1, r"the escape \\xe9 is not supported"),
        (r"a\X", 0, r"\\X is supported only beside branches without emoji"),
        ("(?s:a)", 0, r"the group \(\?s: has flags that are not supported"),
    ],
)
def test_refusals_of_oniguruma_name_the_place(pattern: str, position: int, reason: str) -> None:
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
