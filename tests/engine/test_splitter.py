"""Splitting: tiers, cuts and awkward patterns agree with one another."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from compat_bpe.encodings.openai import PUBLISHED
from compat_bpe.engine.splitter import BLOCK_SIZE, Splitter, repair

PATTERNS = sorted({published.pattern for published in PUBLISHED.values()})
SPLITTERS = {pattern: Splitter(pattern) for pattern in PATTERNS}

# A few of each class in the patterns, in ASCII, in the plane below U+10000 and above it.
ALPHABET = " \t\n\r\u3000\x85\x1caAsS'éÉǅʰ字\u0301𐐀𐐨𝟘𠀀𞤀\U000e01001½२!/(，😀\u0378\U0010ffff"
texts = st.text(ALPHABET, max_size=40)
splitters = st.sampled_from(PATTERNS).map(SPLITTERS.__getitem__)


@given(splitters, texts)
def test_published_patterns_drop_nothing(splitter: Splitter, text: str) -> None:
    assert "".join(splitter.chunks(text)) == text


@given(splitters, texts, st.integers(1, 20))
@example(SPLITTERS[PATTERNS[0]], "a  b", 1)
def test_blocks_split_as_the_whole(splitter: Splitter, text: str, size: int) -> None:
    blocks = list(splitter.blocks(text, size))
    assert "".join(blocks) == text
    assert [chunk for block in blocks for chunk in splitter.chunks(block)] == splitter.chunks(text)


@given(splitters, st.text("aA sS'1!\n\r\t/\x1c", max_size=40), st.sampled_from("éx字𐐀"))
def test_ascii_is_split_alike_by_both_ways(splitter: Splitter, text: str, other: str) -> None:
    # A newline and a space in between: what follows is another match, whatever it is.
    rest = splitter.chunks(f"x\n {other}")[2:]
    ascii_part = splitter.chunks(f"{text}x\n")
    assert splitter.chunks(f"{text}x\n {other}") == [*ascii_part, *rest]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_long_text_is_cut(pattern: str) -> None:
    blocks = list(SPLITTERS[pattern].blocks("Two words. " * 30_000))
    assert max(map(len, blocks)) < BLOCK_SIZE + 20


def test_a_pattern_that_looks_back_is_never_cut() -> None:
    for pattern in (r"(?<=a) b|.", r"^a|.", r"\ba|."):
        assert list(Splitter(pattern).blocks("a b" * 50, 1)) == ["a b" * 50]


def test_a_lookahead_that_reads_over_a_cut_forbids_it() -> None:
    splitter = Splitter(r"(?=a b)a|ax|\W|b")
    text = "a bax a b"
    chunks = [chunk for block in splitter.blocks(text, 1) for chunk in splitter.chunks(block)]
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


def test_many_kinds_above_the_first_plane() -> None:
    # More than the map of replacements remembers at a time.
    text = "".join(map(chr, range(0x10000, 0x110000, 3)))
    splitter = Splitter(r"\p{L}|\P{L}")
    assert splitter.chunks(text) == list(text)


def test_repair() -> None:
    assert repair("a\ud83d\ude00b") == "a😀b"
    assert repair("\ude00\ud83d\ud83d\ude00\ud83d") == "\ufffd\ufffd😀\ufffd"
    assert repair("\ufeffa\ud800") == "\ufeffa\ufffd"
