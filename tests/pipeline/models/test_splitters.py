"""Splitters: words and lines are cut where no token reaches across, at their cut points."""

from __future__ import annotations

import re

from hypothesis import assume, given
from hypothesis import strategies as st

from compat_bpe.pipeline.models.splitters import (
    TokenSplitter,
    WordSplitter,
    splitter_by_merges,
    splitter_by_pieces,
)
from tests.pipeline.models.drawn import CHARACTERS

TOKENS = {bytes([byte]): byte for byte in range(256)}
texts = st.text(f"{CHARACTERS}x ü", max_size=40)
stops_joined = st.sampled_from([None, "", "”a", "。]^-\\▁"])


@given(st.booleans(), st.booleans(), stops_joined, st.booleans(), texts)
def test_cut_points_of_words(
    marks: bool, lines: bool, stops: str | None, spaces: bool, text: str
) -> None:
    after = None if stops is None else frozenset(stops)
    splitter = splitter_by_merges(marks=marks, lines=lines, after_stops=after, before_spaces=spaces)
    assume(splitter is not None)
    assert splitter is not None
    chunks = splitter.chunks(text)
    assert "".join(chunks) == text
    assert all(chunks)
    assert splitter.leaves_nothing_out
    assert splitter.is_plain
    for pattern in (splitter.cut_points, splitter.ascii_cut_points, splitter.fine_cut_points):
        assert pattern is not None
        for found in pattern.finditer(text):
            assert splitter.chunks(text[: found.end()]) + splitter.chunks(text[found.end() :]) == (
                chunks
            )


def test_every_word_ends_at_a_cut_point() -> None:
    splitter = splitter_by_merges(marks=True, lines=True, after_stops=frozenset("”"))
    assert splitter is not None
    assert splitter.cut_points is not None
    text = "a▁b\n\nc。d。”e。\n▁"
    ends = [found.end() for found in splitter.cut_points.finditer(text)]
    assert [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)])] == (
        splitter.chunks(text)
    )


def test_a_surrogate_is_beside_no_cut_point() -> None:
    splitter = splitter_by_merges(marks=True, lines=True, after_stops=frozenset())
    assert splitter is not None
    assert splitter.cut_points is not None
    for text in ("\ud800▁", "\ud83d\n", "\n\udc00", "。\udc00"):
        assert splitter.cut_points.search(text) is None


def test_spaces_and_lines_are_cut_unless_a_token_reaches_across() -> None:
    text = "one two  three\n\nfour\n five\n中 six"
    assert TokenSplitter(TOKENS).chunks(text) == [
        *("one", " two", " ", " three\n", "\n", "four\n", " five\n", "中", " six")
    ]
    tokens = {**TOKENS, b"  ": 256, b"\n\n": 257, b"\n ": 258, "\n中".encode(): 259}
    assert TokenSplitter(tokens).chunks(text) == [
        *("one", " two", "  three\n\n", "four\n five\n中", " six")
    ]
    assert TokenSplitter({"é b".encode(): 0}).chunks("a b中 b") == ["a", " b中 b"]


def test_every_byte_may_be_beside_a_space() -> None:
    tokens = {bytes([byte, 0x20]): byte for byte in range(256)}
    tokens.update({bytes([0x0A, byte]): 256 + byte for byte in range(256)})
    splitter = TokenSplitter(tokens)
    assert splitter.chunks("a b\nc] ^-\n\\ 中 d") == ["a b\nc] ^-\n\\ 中 d"]
    assert splitter.chunks("") == []
    assert isinstance(splitter.cut_points, re.Pattern)


@given(text=st.text("ab▁▁\n\0é", max_size=30), before=st.sets(st.sampled_from("▁ab")))
def test_words_begin_where_no_piece_reaches(text: str, before: set[str]) -> None:
    splitter = WordSplitter(before)
    expected = [at for at in range(1, len(text)) if text[at] == "▁" and text[at - 1] not in before]
    words = splitter.chunks(text)
    assert "".join(words) == text
    ends = [sum(map(len, words[:count])) for count in range(1, len(words))]
    assert ends == expected


def test_segments_of_words() -> None:
    text = "▁word\n" * 2000
    splitter = splitter_by_pieces({"▁"}, {"w"})
    segments = list(splitter.segments(text))
    assert "".join(segments) == text
    assert len(segments) > 5
    found = [chunk for segment in segments for chunk in splitter.chunks(segment)]
    assert found == splitter.chunks(text)
    assert list(splitter.segments("a" * 9999)) == ["a" * 9999]
