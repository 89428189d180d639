"""Reading patterns: what is understood, and what is refused with which words."""

from __future__ import annotations

import sys

import pytest

from compat_bpe.pattern.ast import Chars, PatternError
from compat_bpe.pattern.parser import parse
from compat_bpe.pattern.splitter import Splitter


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


def test_a_repeat_of_what_may_be_empty_is_refused() -> None:
    with pytest.raises(PatternError, match="repeats something that may be empty"):
        Splitter("(a*|b)*")


def test_without_regex_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "regex", None)
    with pytest.raises(PatternError, match=r"character 3: the escape .*compat-bpe\[regex\]"):
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
