"""Splitting: tiers, cuts and awkward patterns agree with one another."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.encodings.openai import PUBLISHED
from compat_bpe.pattern.splitter import LONGEST_SEGMENT, SHORTEST_SEGMENT, Splitter
from compat_bpe.unicode.surrogates import repair

PATTERNS = sorted({published.pattern for published in PUBLISHED.values()})
SPLITTERS = {pattern: Splitter(pattern) for pattern in PATTERNS}

# A few of each class in the patterns, in ASCII, in the plane below U+10000 and above it.
ALPHABET = "\x00 \t\n\r\u3000\x85\x1caAsS'éÉǅʰ字\u0301𐐀𐐨𝟘𠀀𞤀\U000e01001½२!/(，😀\u0378\U0010ffff"
texts = st.text(ALPHABET, max_size=40)
splitters = st.sampled_from(PATTERNS).map(SPLITTERS.__getitem__)


@given(splitters, texts)
def test_published_patterns_drop_nothing(splitter: Splitter, text: str) -> None:
    assert "".join(splitter.chunks(text)) == text


@given(splitters, texts, st.integers(0, 10), st.integers(0, 10))
@example(SPLITTERS[PATTERNS[0]], "a  b", 0, 0)
def test_passages_split_as_the_whole(
    splitter: Splitter, text: str, shortest: int, longer: int
) -> None:
    parts = list(splitter.segments(text, shortest, shortest + longer))
    assert "".join(parts) == text
    assert [chunk for part in parts for chunk in splitter.chunks(part)] == splitter.chunks(text)


@given(splitters, st.text("aA sS'1!\n\r\t/\x1c", max_size=40), st.sampled_from("éx字𐐀"))
def test_ascii_is_split_alike_by_both_ways(splitter: Splitter, text: str, other: str) -> None:
    # A newline and a space in between: what follows is another match, whatever it is.
    rest = splitter.chunks(f"x\n {other}")[2:]
    ascii_part = splitter.chunks(f"{text}x\n")
    assert splitter.chunks(f"{text}x\n {other}") == [*ascii_part, *rest]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_long_text_is_cut(pattern: str) -> None:
    parts = list(SPLITTERS[pattern].segments("Two words. " * 30_000))
    lengths = set(map(len, parts[:-1]))
    assert SHORTEST_SEGMENT <= min(lengths) <= max(lengths) < SHORTEST_SEGMENT + 20
    assert len(parts[-1]) <= LONGEST_SEGMENT


@pytest.mark.parametrize("pattern", PATTERNS)
def test_passages_end_at_empty_lines(pattern: str) -> None:
    """So that a change in a text changes few of them."""
    lines = "".join(f"the {i}th line of some text\n" + "\n" * (i % 20 == 0) for i in range(1000))
    splitter = SPLITTERS[pattern]
    before = set(splitter.segments(lines))
    after = list(splitter.segments(lines[:5000] + "something new " * 9 + "\n" + lines[5000:]))
    assert len([part for part in after if part not in before]) <= 3
    assert max(map(len, after)) < LONGEST_SEGMENT + 50


def test_a_pattern_that_looks_back_is_never_cut() -> None:
    for pattern in (r"(?<=a) b|.", r"^a|.", r"\ba|."):
        assert list(Splitter(pattern).segments("a b" * 50, 0, 0)) == ["a b" * 50]


def test_a_lookahead_that_reads_over_a_cut_forbids_it() -> None:
    splitter = Splitter(r"(?=a b)a|ax|\W|b")
    text = "a bax a b"
    chunks = [chunk for part in splitter.segments(text, 0, 0) for chunk in splitter.chunks(part)]
    assert chunks == splitter.chunks(text)


@pytest.mark.parametrize(
    ("pattern", "text", "chunks"),
    [
        ("[a-z]+", "ab1cd", ["ab", "cd"]),
        ("[a-z]+", "ab𐐀cd", ["ab", "cd"]),
        # After an empty match the search goes on one character further.
        ("|a", "aa", []),
        ("a*?", "aa", []),
        ("(?=a)|aa", "aaa", []),
        ("", "abc", []),
        (r"\s+$", "a \n", [" \n"]),
        (r"a$", "a\n", []),
        ("a++a|a", "aaa", ["a", "a", "a"]),
        ("(?>a|ab)c|.", "abc", ["a", "b", "c"]),
        ("(?i:ſtraße)", "STRAßE straẞe", ["STRAßE", "straẞe"]),
        ("𐐀+|[^𐐀]", "𐐀𐐀𐐁a", ["𐐀𐐀", "𐐁", "a"]),
    ],
)
def test_small_cases(pattern: str, text: str, chunks: list[str]) -> None:
    assert Splitter(pattern).chunks(text) == chunks


@given(
    st.sampled_from(
        ["|a", "a*?", "(?=a)|aa", "a*|b", r"\p{L}*", "a|(?<=b)", "", r"\b", "a+|b", "[ab]$|"]
    ),
    st.text("ab 𐐀", max_size=12),
)
def test_chunks_are_the_spans_that_are_not_empty(pattern: str, text: str) -> None:
    splitter = Splitter(pattern)
    spans = list(splitter.spans(text))
    assert splitter.chunks(text) == [text[start:end] for start, end in spans if start < end]
    ends = [-1, *(end for _, end in spans)]
    for end, (start, next_end) in zip(ends, spans):
        assert end <= start
        assert end < next_end


@pytest.mark.parametrize(
    ("pattern", "spans"),
    [
        ("a*", [(0, 2), (3, 3), (4, 5)]),
        ("a*?", [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]),
        ("(?=b)|b|a", [(0, 1), (1, 2), (3, 3), (4, 5)]),
    ],
)
def test_spans(pattern: str, spans: list[tuple[int, int]]) -> None:
    assert list(Splitter(pattern).spans("aabba")) == spans


def test_many_kinds_above_the_first_plane() -> None:
    # More than the map of replacements remembers at a time.
    text = "".join(map(chr, range(0x10000, 0x110000, 3)))
    splitter = Splitter(r"\p{L}|\P{L}")
    assert splitter.chunks(text) == list(text)


def test_more_kinds_above_the_first_plane_than_there_are_surrogates() -> None:
    splitter = Splitter("|".join(map(chr, range(0x10000, 0x10000 + 2048))))
    assert splitter.chunks("abc") == []
    with pytest.raises(ValueError, match="more than 2,048 kinds"):
        splitter.chunks("\U00010000")


@given(st.text(st.sampled_from("a\ud800\udbff\udc00\udfff\ufeff😀"), max_size=12))
def test_repair_does_as_the_codecs(text: str) -> None:
    assert repair(text) == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def test_repair() -> None:
    assert repair("a\ud83d\ude00b") == "a😀b"
    assert repair("\ude00\ud83d\ud83d\ude00\ud83d") == "\ufffd\ufffd😀\ufffd"
    assert repair("\ufeffa\ud800") == "\ufeffa\ufffd"


@pytest.mark.parametrize("pattern", [r"\s+", r"\s*", "[0-9]|😀+", "(a)(b)?", "x*?"])
@given(
    text=st.text(
        st.one_of(st.sampled_from("ab 0\n😀é中"), st.characters(exclude_categories=["Cs"]))
    ),
    new=st.sampled_from(["", " ", "\\", r"\1", r"\g<0>", "中"]),
)
def test_replacing_is_by_spans_and_literal(pattern: str, text: str, new: str) -> None:
    splitter = Splitter(pattern)
    found, at = "", 0
    for start, end in splitter.spans(text):
        found += text[at:start] + new
        at = end
    assert splitter.replace(text, new) == found + text[at:]
    splitter._few_left = 0  # without stand-ins
    assert splitter.replace(text, new) == found + text[at:]
